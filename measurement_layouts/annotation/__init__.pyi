"""Where the public names of `annotation` come from."""

from .agreement import agreement as agreement
from .annotate import Annotations as Annotations
from .annotate import annotate as annotate
from .annotators import delphi as delphi
from .annotators import pooled as pooled
from .answer import read_interval as read_interval
from .answer import read_level as read_level
from .demand_table import DemandTable as DemandTable
from .demand_table import annotate_demands as annotate_demands
from .grading import grade as grade
from .grading import settle_grades as settle_grades
from .inciting import inciting_prompt as inciting_prompt
from .inputs import AnnotationError as AnnotationError
from .prompt import prompt as prompt
from .quality import quality as quality
from .ratings import Ratings as Ratings
from .rubric import DEMAND_LEVELS as DEMAND_LEVELS
from .rubric import DEMAND_RUBRICS as DEMAND_RUBRICS
from .rubric import LEVELS as LEVELS
from .rubric import RUBRICS as RUBRICS
from .rubric import DemandLevel as DemandLevel
from .rubric import DemandRubric as DemandRubric
from .rubric import Level as Level
from .rubric import Rubric as Rubric
from .rubric import load_demand_rubric as load_demand_rubric
from .rubric import load_rubric as load_rubric
