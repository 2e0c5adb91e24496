"""Where the public names of `reports` come from."""

from .description.rules import Rules as Rules
from .diagrams import InferredDiagram as InferredDiagram
from .diagrams import inferred_diagram as inferred_diagram
from .exports import export_tables as export_tables
