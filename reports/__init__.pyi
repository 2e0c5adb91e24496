"""Where the public names of `reports` come from."""

from .description.rules import Rules as Rules
from .exports import export_tables as export_tables
