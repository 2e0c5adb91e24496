"""Declare, draw, compile, fit, forecast and report with measurement layouts.

Names are imported when they are first used: what declares and draws a layout needs neither PyMC nor
pandas. ``__init__.pyi`` says where each name comes from.
"""

import importlib.metadata
import importlib.util
from typing import Any

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    if name == "__version__":
        return importlib.metadata.version("measurement-layouts")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}")


_GONE = {
    "update": "more outcomes are fitted with those before: ml.fit(layout, old + more)",
    "power_mean": "ml.linking.generalised_mean takes a node as its power",
}
"""What replaces names that are gone."""


def _hint(name: str) -> str:
    """Say which package has a public name that was looked for here, or what replaces it."""
    if name in _GONE:
        return f"; {_GONE[name]}"
    if name.startswith("_") or importlib.util.find_spec(f".{name}", __name__):
        return ""
    packages = (each for each in __all__ if each.islower() and hasattr(_load(each), "__all__"))
    return "".join(f"; it is ml.{each}.{name}" for each in packages if name in _load(each).__all__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
