"""Behavioural dispositions: choices of people and models in situations, and under incitation."""

from .beta_binomial import RatePosteriors, rate_posteriors
from .collected_votes import CollectedVotes, collected_votes
from .comparison import compare_choices
from .consensus import consensus, divided
from .directional import GroupAlignment, alignment_by_group, directional_alignment
from .divided_rates import DividedRates, rates_by_group
from .group_curves import GroupCurves, confidence_by_group, misalignment_by_group
from .incitation.generation import GeneratedItems, generate_items
from .incitation.incited import Incited
from .incitation.inciting import foreseen_incitation, incite
from .incitation.items import choice_texts
from .judgments import SituationalJudgments
from .measures import misalignment
from .model_groups import ModelGroups
from .populations import (
    PopulationAlignment,
    alignment_by_population,
    populations,
    rates_by_population,
)
from .pulls import choices, expected_rates, fit_pulls
from .self_report import GroupReports, self_report_correlations, self_reports, self_reports_by_group
from .situations.generation import generate_situations, situation_examples
from .situations.grading import grade_responses
from .situations.judging import judge_agreement, judge_responses, label_sheet
from .situations.responses import self_ratings, situation_responses
from .situations.sensitivity import shuffled_statements, validation_sensitivity
from .situations.statements import reframe_statements
from .situations.validation import (
    rejection_rate,
    validate_situations,
    validation_answers,
    validation_sheet,
)
from .stances import stance_misalignment
from .support import support_by
from .vote_sheet import attention_checks, vote_sheet

__all__ = [
    "CollectedVotes",
    "DividedRates",
    "GeneratedItems",
    "GroupAlignment",
    "GroupCurves",
    "GroupReports",
    "Incited",
    "ModelGroups",
    "PopulationAlignment",
    "RatePosteriors",
    "SituationalJudgments",
    "alignment_by_group",
    "alignment_by_population",
    "attention_checks",
    "choice_texts",
    "choices",
    "collected_votes",
    "compare_choices",
    "confidence_by_group",
    "consensus",
    "directional_alignment",
    "divided",
    "expected_rates",
    "fit_pulls",
    "foreseen_incitation",
    "generate_items",
    "generate_situations",
    "grade_responses",
    "incite",
    "judge_agreement",
    "judge_responses",
    "label_sheet",
    "misalignment",
    "misalignment_by_group",
    "populations",
    "rate_posteriors",
    "rates_by_group",
    "rates_by_population",
    "reframe_statements",
    "rejection_rate",
    "self_ratings",
    "self_report_correlations",
    "self_reports",
    "self_reports_by_group",
    "shuffled_statements",
    "situation_examples",
    "situation_responses",
    "stance_misalignment",
    "support_by",
    "validate_situations",
    "validation_answers",
    "validation_sensitivity",
    "validation_sheet",
    "vote_sheet",
]
