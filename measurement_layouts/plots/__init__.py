"""Figures of fits, forecasts and scores: each takes a result and returns matplotlib axes.

Figures do not compute results; these come from the other packages. Each function makes a new
figure unless axes are given as ``ax=``. It does not change matplotlib's settings.
"""

import sys
from typing import Any

import lazy_loader

from .kinds import of_its_kind

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Load a figure, and make it refuse values of other kinds than those in its signature."""
    figure = of_its_kind(_load(name))
    for home in (globals(), vars(sys.modules[figure.__module__])):  # pickle looks in its own file
        home[name] = figure
    return figure
