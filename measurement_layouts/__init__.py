"""Declare, draw, compile, fit, forecast and report with measurement layouts.

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
    from .inference.checking.check import Check, check
    from .inference.compiler import to_pymc
    from .inference.contrast.compare import compare_profiles
    from .inference.contrast.comparison import ProfileComparison
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
    from .inference.horizons import HorizonTrend, horizon_trend, time_horizons
    from .inference.logs.imported import Imported
    from .inference.logs.inspect_logs import read_inspect
    from .inference.logs.lm_eval import read_lm_eval
    from .inference.logs.table import read_table
    from .inference.loo.compare import compare_layouts
    from .inference.loo.loo import loo
    from .inference.results import Fit, load
    from .inference.sbc.result import SimulationBasedCalibration
    from .inference.sbc.run import sbc
    from .inference.simulation import simulate
    from .inference.validation import hold_out
    from .reports.exports import export_tables
    from .reports.report import report

_LATER = {
    "Algebraic": "inference.assessors.algebraic",
    "Assessor": "inference.assessors.assessor",
    "Check": "inference.checking.check",
    "ChosenLayout": "inference.assessors.chosen_layout",
    "DataError": "inference.errors",
    "Estimates": "inference.estimation.estimates",
    "Evaluation": "inference.data",
    "Fit": "inference.results",
    "FitError": "inference.errors",
    "FittedLayout": "inference.assessors.fitted_layout",
    "Forecast": "inference.forecasts.forecasting",
    "Forest": "inference.assessors.forest",
    "HorizonTrend": "inference.horizons",
    "Imported": "inference.logs.imported",
    "ProfileComparison": "inference.contrast.comparison",
    "Regression": "inference.assessors.regression",
    "Rules": "inference.description.rules",
    "SimulationBasedCalibration": "inference.sbc.result",
    "assess": "inference.assessors.assess",
    "characteristic_curves": "inference.curves.characteristic",
    "check": "inference.checking.check",
    "compare_layouts": "inference.loo.compare",
    "compare_profiles": "inference.contrast.compare",
    "criticise": "inference.criticism.criticise",
    "demand_correlations": "inference.demands.correlations",
    "demand_profile": "inference.demands.profile",
    "describe": "inference.description.describe",
    "estimate": "inference.estimation.estimate",
    "export_tables": "reports.exports",
    "fit": "inference.fitting",
    "hold_out": "inference.validation",
    "horizon_trend": "inference.horizons",
    "judge_benchmark": "inference.demands.judgement",
    "load": "inference.results",
    "loo": "inference.loo.loo",
    "point_collapse": "inference.estimation.collapse",
    "read_inspect": "inference.logs.inspect_logs",
    "read_lm_eval": "inference.logs.lm_eval",
    "read_table": "inference.logs.table",
    "report": "reports.report",
    "sbc": "inference.sbc.run",
    "score": "inference.assessment",
    "simulate": "inference.simulation",
    "time_horizons": "inference.horizons",
    "to_pymc": "inference.compiler",
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
    "Check",
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
    "HorizonTrend",
    "Imported",
    "Layout",
    "LayoutError",
    "MetaFeature",
    "Noise",
    "Prior",
    "ProfileComparison",
    "Propensity",
    "Regression",
    "Rules",
    "Score",
    "SimulationBasedCalibration",
    "Slope",
    "Success",
    "Unseen",
    "annotation",
    "assess",
    "characteristic_curves",
    "check",
    "compare_layouts",
    "compare_profiles",
    "criticise",
    "demand_correlations",
    "demand_profile",
    "describe",
    "dispositions",
    "estimate",
    "export_tables",
    "fit",
    "hold_out",
    "horizon_trend",
    "judge_benchmark",
    "linking_function",
    "load",
    "loo",
    "plots",
    "point_collapse",
    "read_inspect",
    "read_lm_eval",
    "read_table",
    "report",
    "sbc",
    "score",
    "simulate",
    "time_horizons",
    "to_pymc",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name], __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
