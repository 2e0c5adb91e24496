"""Annotation of items with language models (bands, demands, quality), and agreement of raters."""

from ..common.errors import AnnotationError
from .agreement import agreement
from .annotate import annotate
from .annotations import Annotations
from .annotators import adjudicate, delphi, open_ended, pooled
from .answer import read_interval, read_level
from .augmented import augmented_demands
from .demand_table import DemandTable, annotate_demands, foreseen_usage
from .grading import Grading, grade, settle_grades
from .inciting import inciting_prompt
from .poles import rubric_of_poles
from .prompt import prompt
from .quality import keep, quality
from .rater_model import RaterModel
from .ratings import Ratings
from .rubric import (
    DEMAND_LEVELS,
    DEMAND_RUBRICS,
    LEVELS,
    RUBRICS,
    DemandLevel,
    DemandRubric,
    Level,
    Rubric,
    load_demand_rubric,
    load_rubric,
)
from .stated import stated_reliability

__all__ = [
    "DEMAND_LEVELS",
    "DEMAND_RUBRICS",
    "LEVELS",
    "RUBRICS",
    "AnnotationError",
    "Annotations",
    "DemandLevel",
    "DemandRubric",
    "DemandTable",
    "Grading",
    "Level",
    "RaterModel",
    "Ratings",
    "Rubric",
    "adjudicate",
    "agreement",
    "annotate",
    "annotate_demands",
    "augmented_demands",
    "delphi",
    "foreseen_usage",
    "grade",
    "inciting_prompt",
    "keep",
    "load_demand_rubric",
    "load_rubric",
    "open_ended",
    "pooled",
    "prompt",
    "quality",
    "read_interval",
    "read_level",
    "rubric_of_poles",
    "settle_grades",
    "stated_reliability",
]
