"""Where the public names of `evaluations` come from."""

from .logs.imported import Imported as Imported
from .logs.inspect_logs import read_inspect as read_inspect
from .logs.lm_eval import read_lm_eval as read_lm_eval
from .logs.table import read_table as read_table
from .measured import measured_columns as measured_columns
from .samples import mental_addition as mental_addition
