"""Behavioural dispositions: choices of people and language models in situational judgment tests."""

from .beta_binomial import RatePosteriors, rate_posteriors
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
    "RatePosteriors",
    "SituationalJudgments",
    "choices",
    "compare_choices",
    "consensus",
    "directional_alignment",
    "divided",
    "expected_rates",
    "fit_pulls",
    "misalignment",
    "rate_posteriors",
    "self_report_correlations",
    "self_reports",
    "support_by",
]
