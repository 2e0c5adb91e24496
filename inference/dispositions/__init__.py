"""Behavioural dispositions: choices of people and language models in situational judgment tests."""

from .beta_binomial import RatePosteriors, rate_posteriors
from .by_group import (
    DividedRates,
    GroupAlignment,
    GroupCurves,
    GroupReports,
    ModelGroups,
    alignment_by_group,
    confidence_by_group,
    misalignment_by_group,
    rates_by_group,
    self_reports_by_group,
)
from .choices import choices
from .comparison import compare_choices
from .consensus import consensus, divided
from .directional import directional_alignment
from .judgments import SituationalJudgments
from .measures import misalignment
from .pulls import expected_rates, fit_pulls
from .self_report import self_reports
from .self_report_correlations import self_report_correlations
from .support import support_by

__all__ = [
    "DividedRates",
    "GroupAlignment",
    "GroupCurves",
    "GroupReports",
    "ModelGroups",
    "RatePosteriors",
    "SituationalJudgments",
    "alignment_by_group",
    "choices",
    "compare_choices",
    "confidence_by_group",
    "consensus",
    "directional_alignment",
    "divided",
    "expected_rates",
    "fit_pulls",
    "misalignment",
    "misalignment_by_group",
    "rate_posteriors",
    "rates_by_group",
    "self_report_correlations",
    "self_reports",
    "self_reports_by_group",
    "support_by",
]
