"""Where the public names of `reports` come from."""

from ..inference.explanations.explanation import Explanation as Explanation
from .description.rules import Rules as Rules
from .exports import export_tables as export_tables
