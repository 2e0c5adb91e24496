"""Declare, draw, compile, fit and forecast with measurement layouts.

What declares and draws a layout is imported at once; what fits it (and with it PyMC) when first
used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .layouts import (
    Bias,
    Capability,
    Derived,
    Graded,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Propensity,
    Score,
    Slope,
    Success,
    Unseen,
)
from .linking import LayoutError, linking_function

if TYPE_CHECKING:
    from . import annotation
    from .inference import dispositions, plots
    from .inference.assessment import score
    from .inference.assessors.algebraic import Algebraic
    from .inference.assessors.assess import assess
    from .inference.assessors.assessor import Assessor
    from .inference.assessors.chosen_layout import ChosenLayout
    from .inference.assessors.fitted_layout import FittedLayout
    from .inference.assessors.forest import Forest
    from .inference.assessors.regression import Regression
    from .inference.compiler import to_pymc
    from .inference.criticism.criticise import criticise
    from .inference.curves.characteristic import characteristic_curves
    from .inference.data import Evaluation
    from .inference.demands.correlations import demand_correlations
    from .inference.demands.judgement import judge_benchmark
    from .inference.demands.profile import demand_profile
    from .inference.description.describe import describe
    from .inference.description.rules import Rules
    from .inference.errors import DataError, FitError
    from .inference.estimation.collapse import point_collapse
    from .inference.estimation.estimate import estimate
    from .inference.estimation.estimates import Estimates
    from .inference.fitting import fit
    from .inference.forecasts.forecasting import Forecast
    from .inference.loo.compare import compare_layouts
    from .inference.loo.loo import loo
    from .inference.results import Fit
    from .inference.simulation import simulate
    from .inference.stores.storage import load
    from .inference.validation import hold_out

_LATER = {
    "Algebraic": "assessors.algebraic",
    "Assessor": "assessors.assessor",
    "ChosenLayout": "assessors.chosen_layout",
    "DataError": "errors",
    "Estimates": "estimation.estimates",
    "Evaluation": "data",
    "Fit": "results",
    "FitError": "errors",
    "FittedLayout": "assessors.fitted_layout",
    "Forecast": "forecasts.forecasting",
    "Forest": "assessors.forest",
    "Regression": "assessors.regression",
    "Rules": "description.rules",
    "assess": "assessors.assess",
    "characteristic_curves": "curves.characteristic",
    "compare_layouts": "loo.compare",
    "criticise": "criticism.criticise",
    "demand_correlations": "demands.correlations",
    "demand_profile": "demands.profile",
    "describe": "description.describe",
    "estimate": "estimation.estimate",
    "fit": "fitting",
    "hold_out": "validation",
    "judge_benchmark": "demands.judgement",
    "load": "stores.storage",
    "loo": "loo.loo",
    "point_collapse": "estimation.collapse",
    "score": "assessment",
    "simulate": "simulation",
    "to_pymc": "compiler",
}

_ROOMS = {
    "annotation": ".annotation",
    "dispositions": ".inference.dispositions",
    "plots": ".inference.plots",
}

__all__ = [
    "Algebraic",
    "Assessor",
    "Bias",
    "Capability",
    "ChosenLayout",
    "DataError",
    "Derived",
    "Estimates",
    "Evaluation",
    "Fit",
    "FitError",
    "FittedLayout",
    "Forecast",
    "Forest",
    "Graded",
    "Layout",
    "LayoutError",
    "MetaFeature",
    "Noise",
    "Prior",
    "Propensity",
    "Regression",
    "Rules",
    "Score",
    "Slope",
    "Success",
    "Unseen",
    "annotation",
    "assess",
    "characteristic_curves",
    "compare_layouts",
    "criticise",
    "demand_correlations",
    "demand_profile",
    "describe",
    "dispositions",
    "estimate",
    "fit",
    "hold_out",
    "judge_benchmark",
    "linking_function",
    "load",
    "loo",
    "plots",
    "point_collapse",
    "score",
    "simulate",
    "to_pymc",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name], __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".inference.{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
