"""Figures of fits, forecasts and scores: each takes a result and returns matplotlib axes.

Figures do not compute results; these come from the other packages. Each function makes a new
figure unless axes are given as ``ax=``. It does not change matplotlib's settings.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_GONE = {
    "item_response_curves": "band_curves(bands), or item_curves(fit, items) of a fit",
    "reliability": "calibration_plot(forecast, evaluation)",
    "curve_plot": "curve_panels(curves, subject, dimension)",
    "profile_bars": "profile_forest(fit, subjects=..., truth=...)",
    "caterpillar_plot": "effects_plot(fit.items())",
    "weights_plot": "effects_plot(fit.population())",
}
"""What replaces figures that are gone."""


def __getattr__(name: str) -> Any:
    if name in _GONE:
        raise AttributeError(f"ml.plots has no {name}; call ml.plots.{_GONE[name]}")
    return _load(name)
