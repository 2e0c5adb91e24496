"""Annotation with language models: bands, demands, quality, situations; agreement, Delphi."""

from .agreement import agreement
from .annotate import annotate
from .annotations import Annotations
from .answer import read_interval, read_level
from .delphi import delphi, settle
from .demand_rubric import (
    DEMAND_LEVELS,
    DEMAND_RUBRICS,
    DemandLevel,
    DemandRubric,
    load_demand_rubric,
)
from .errors import AnnotationError
from .incitement import inciting_prompt
from .pooling import open_ended, pooled
from .prompt import prompt
from .quality import keep, quality
from .rubric import LEVELS, RUBRICS, Level, Rubric, load_rubric
from .situations.generation import generate_situations
from .situations.judge_agreement import judge_agreement, label_sheet
from .situations.judging import judge_responses
from .situations.responses import situation_responses
from .situations.self_ratings import self_ratings
from .situations.sensitivity import shuffled_statements, validation_sensitivity
from .situations.statements import reframe_statements
from .situations.validation import validation_answers, validation_sheet
from .situations.verdicts import rejection_rate, validate_situations

__all__ = [
    "DEMAND_LEVELS",
    "DEMAND_RUBRICS",
    "LEVELS",
    "RUBRICS",
    "AnnotationError",
    "Annotations",
    "DemandLevel",
    "DemandRubric",
    "Level",
    "Rubric",
    "agreement",
    "annotate",
    "delphi",
    "generate_situations",
    "inciting_prompt",
    "judge_agreement",
    "judge_responses",
    "keep",
    "label_sheet",
    "load_demand_rubric",
    "load_rubric",
    "open_ended",
    "pooled",
    "prompt",
    "quality",
    "read_interval",
    "read_level",
    "reframe_statements",
    "rejection_rate",
    "self_ratings",
    "settle",
    "shuffled_statements",
    "situation_responses",
    "validate_situations",
    "validation_answers",
    "validation_sensitivity",
    "validation_sheet",
]
