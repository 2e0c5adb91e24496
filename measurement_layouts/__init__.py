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
    from .inference.prediction.algebraic import Algebraic
    from .inference.prediction.assessor import Assessor
    from .inference.prediction.baselines import Aggregate, Classifier, Regression
    from .inference.prediction.cross_validate import cross_validate
    from .inference.prediction.forests import Forest
    from .inference.prediction.layouts import ChosenLayout, FittedLayout
    from .inference.prediction.result import CrossValidation
    from .inference.prediction.score import score
    from .inference.prediction.splits import Cells, Given, Groups, Items, masked
    from .inference.results import Fit, load
    from .inference.sbc.result import SimulationBasedCalibration
    from .inference.sbc.run import sbc
    from .inference.simulation import simulate
    from .reports.exports import export_tables
    from .reports.report import report

_LATER = {
    "Aggregate": "inference.prediction.baselines",
    "Algebraic": "inference.prediction.algebraic",
    "Assessor": "inference.prediction.assessor",
    "Cells": "inference.prediction.splits",
    "Check": "inference.checking.check",
    "ChosenLayout": "inference.prediction.layouts",
    "Classifier": "inference.prediction.baselines",
    "CrossValidation": "inference.prediction.result",
    "DataError": "inference.errors",
    "Estimates": "inference.estimation.estimates",
    "Evaluation": "inference.data",
    "Fit": "inference.results",
    "FitError": "inference.errors",
    "FittedLayout": "inference.prediction.layouts",
    "Forecast": "inference.forecasts.forecasting",
    "Forest": "inference.prediction.forests",
    "Given": "inference.prediction.splits",
    "Groups": "inference.prediction.splits",
    "HorizonTrend": "inference.horizons",
    "Imported": "inference.logs.imported",
    "Items": "inference.prediction.splits",
    "ProfileComparison": "inference.contrast.comparison",
    "Regression": "inference.prediction.baselines",
    "Rules": "inference.description.rules",
    "SimulationBasedCalibration": "inference.sbc.result",
    "characteristic_curves": "inference.curves.characteristic",
    "check": "inference.checking.check",
    "compare_layouts": "inference.loo.compare",
    "compare_profiles": "inference.contrast.compare",
    "criticise": "inference.criticism.criticise",
    "cross_validate": "inference.prediction.cross_validate",
    "demand_correlations": "inference.demands.correlations",
    "demand_profile": "inference.demands.profile",
    "describe": "inference.description.describe",
    "estimate": "inference.estimation.estimate",
    "export_tables": "reports.exports",
    "fit": "inference.fitting",
    "horizon_trend": "inference.horizons",
    "judge_benchmark": "inference.demands.judgement",
    "load": "inference.results",
    "loo": "inference.loo.loo",
    "masked": "inference.prediction.splits",
    "point_collapse": "inference.estimation.collapse",
    "read_inspect": "inference.logs.inspect_logs",
    "read_lm_eval": "inference.logs.lm_eval",
    "read_table": "inference.logs.table",
    "report": "reports.report",
    "sbc": "inference.sbc.run",
    "score": "inference.prediction.score",
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
    "Aggregate",
    "Algebraic",
    "Assessor",
    "Bias",
    "Capability",
    "Cells",
    "Check",
    "ChosenLayout",
    "Classifier",
    "CrossValidation",
    "DataError",
    "Derived",
    "Estimates",
    "Evaluation",
    "Fit",
    "FitError",
    "FittedLayout",
    "Forecast",
    "Forest",
    "Given",
    "Graded",
    "Groups",
    "HorizonTrend",
    "Imported",
    "Items",
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
    "characteristic_curves",
    "check",
    "compare_layouts",
    "compare_profiles",
    "criticise",
    "cross_validate",
    "demand_correlations",
    "demand_profile",
    "describe",
    "dispositions",
    "estimate",
    "export_tables",
    "fit",
    "horizon_trend",
    "judge_benchmark",
    "linking_function",
    "load",
    "loo",
    "masked",
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
