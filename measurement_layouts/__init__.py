"""Declare, draw, compile, fit and forecast with measurement layouts."""

from .layouts import (
    Bias,
    Capability,
    Derived,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Propensity,
    Slope,
    Success,
)
from .linking import LayoutError, linking_function

__all__ = [
    "Bias",
    "Capability",
    "Derived",
    "Layout",
    "LayoutError",
    "MetaFeature",
    "Noise",
    "Prior",
    "Propensity",
    "Slope",
    "Success",
    "linking_function",
]
