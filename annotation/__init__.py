"""Band annotation with language models: rubrics, prompts, runs, agreement."""

from .agreement import agreement
from .annotate import annotate
from .annotations import Annotations
from .answer import read_interval
from .errors import AnnotationError
from .incitement import inciting_prompt
from .pooling import open_ended, pooled
from .prompt import prompt
from .rubric import LEVELS, RUBRICS, Level, Rubric, load_rubric

__all__ = [
    "LEVELS",
    "RUBRICS",
    "AnnotationError",
    "Annotations",
    "Level",
    "Rubric",
    "agreement",
    "annotate",
    "inciting_prompt",
    "load_rubric",
    "open_ended",
    "pooled",
    "prompt",
    "read_interval",
]
