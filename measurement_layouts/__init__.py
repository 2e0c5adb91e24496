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
    from . import annotation, dispositions, plots
    from .batteries.curves.characteristic import characteristic_curves
    from .batteries.demands.correlations import demand_correlations
    from .batteries.demands.judgement import judge_benchmark
    from .batteries.demands.profile import demand_profile
    from .common.errors import DataError, FitError
    from .estimation.collapse import point_collapse
    from .estimation.estimate import estimate
    from .estimation.estimates import Estimates
    from .estimation.horizons import HorizonTrend, horizon_trend, time_horizons
    from .evaluations.evaluation import Evaluation
    from .evaluations.logs.imported import Imported
    from .evaluations.logs.inspect_logs import read_inspect
    from .evaluations.logs.lm_eval import read_lm_eval
    from .evaluations.logs.table import read_table
    from .inference.fit import Fit, load
    from .inference.fitting import fit
    from .inference.forecasts.forecasting import Forecast
    from .inference.model.pymc_model import to_pymc
    from .inference.simulate import simulate
    from .reports.description.describe import describe
    from .reports.description.rules import Rules
    from .reports.exports import export_tables
    from .reports.report import report
    from .validation.calibration.result import SimulationBasedCalibration
    from .validation.calibration.run import sbc
    from .validation.checking.check import Check, check
    from .validation.comparison.compare import compare_profiles
    from .validation.comparison.comparison import ProfileComparison
    from .validation.criticism.criticise import criticise
    from .validation.leave_one_out.compare import compare_layouts
    from .validation.leave_one_out.loo import loo
    from .validation.prediction.algebraic import Algebraic
    from .validation.prediction.assessor import Assessor
    from .validation.prediction.baselines import Aggregate, Classifier, Regression
    from .validation.prediction.cross_validate import cross_validate
    from .validation.prediction.forests import Forest
    from .validation.prediction.layouts import ChosenLayout, FittedLayout
    from .validation.prediction.result import CrossValidation
    from .validation.prediction.score import score
    from .validation.prediction.splits import Cells, Given, Groups, Items, masked

_LATER = {
    "Aggregate": "validation.prediction.baselines",
    "Algebraic": "validation.prediction.algebraic",
    "Assessor": "validation.prediction.assessor",
    "Cells": "validation.prediction.splits",
    "Check": "validation.checking.check",
    "ChosenLayout": "validation.prediction.layouts",
    "Classifier": "validation.prediction.baselines",
    "CrossValidation": "validation.prediction.result",
    "DataError": "common.errors",
    "Estimates": "estimation.estimates",
    "Evaluation": "evaluations.evaluation",
    "Fit": "inference.fit",
    "FitError": "common.errors",
    "FittedLayout": "validation.prediction.layouts",
    "Forecast": "inference.forecasts.forecasting",
    "Forest": "validation.prediction.forests",
    "Given": "validation.prediction.splits",
    "Groups": "validation.prediction.splits",
    "HorizonTrend": "estimation.horizons",
    "Imported": "evaluations.logs.imported",
    "Items": "validation.prediction.splits",
    "ProfileComparison": "validation.comparison.comparison",
    "Regression": "validation.prediction.baselines",
    "Rules": "reports.description.rules",
    "SimulationBasedCalibration": "validation.calibration.result",
    "characteristic_curves": "batteries.curves.characteristic",
    "check": "validation.checking.check",
    "compare_layouts": "validation.leave_one_out.compare",
    "compare_profiles": "validation.comparison.compare",
    "criticise": "validation.criticism.criticise",
    "cross_validate": "validation.prediction.cross_validate",
    "demand_correlations": "batteries.demands.correlations",
    "demand_profile": "batteries.demands.profile",
    "describe": "reports.description.describe",
    "estimate": "estimation.estimate",
    "export_tables": "reports.exports",
    "fit": "inference.fitting",
    "horizon_trend": "estimation.horizons",
    "judge_benchmark": "batteries.demands.judgement",
    "load": "inference.fit",
    "loo": "validation.leave_one_out.loo",
    "masked": "validation.prediction.splits",
    "point_collapse": "estimation.collapse",
    "read_inspect": "evaluations.logs.inspect_logs",
    "read_lm_eval": "evaluations.logs.lm_eval",
    "read_table": "evaluations.logs.table",
    "report": "reports.report",
    "sbc": "validation.calibration.run",
    "score": "validation.prediction.score",
    "simulate": "inference.simulate",
    "time_horizons": "estimation.horizons",
    "to_pymc": "inference.model.pymc_model",
}

_ROOMS = {
    "annotation": ".annotation",
    "dispositions": ".dispositions",
    "plots": ".plots",
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
