"""Units of capabilities and demands, as pint units.

A word that pint does not know (``level``, ``digit``, ``position``) becomes a unit of its own, so that
seconds times positions is a unit that only another seconds-times-positions may be compared with.
"""

import functools
import re
from typing import Any

from .errors import LayoutError

type Unit = Any
"""A `pint.Unit`, or None where any unit will do (a plain number, a bias without a declared unit)."""


@functools.cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


def parse(text: str | None) -> Unit:
    """Read a unit such as ``"m"``, ``"s*position"`` or ``"digit"``; None is dimensionless.

    Raises
    ------
    LayoutError
        When the text is no product of powers of words.
    """
    registry = _registry()
    if text is None:
        return registry.dimensionless
    for word in re.findall(r"[^\W\d]\w*", text):
        if word not in registry:
            registry.define(f"{word} = [{word}]")
    try:
        return registry.Unit(text)
    except Exception as error:  # pint raises many kinds for a malformed string
        raise LayoutError(
            f"the unit {text!r} cannot be read ({error}); write a word, or words joined by "
            "'*', '/' and '**', such as 's*position'"
        ) from error


def dimensionless() -> Unit:
    """Return the unit of a pure number."""
    return parse(None)


def name(unit: Unit) -> str:
    """Write a unit in short: ``"s·position"``, or an empty string for a pure number."""
    return "" if unit is None or unit == dimensionless() else f"{unit:~P}"


def text(unit: Unit) -> str:
    """Write a unit for an error message."""
    return "no unit" if not name(unit) else f"unit {name(unit)}"
