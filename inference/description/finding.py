"""One statement about a subject."""

import math
from typing import NamedTuple


class Finding(NamedTuple):
    """One row of a description; see `Description.findings`."""

    kind: str
    element: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    probability: float = math.nan
    text: str = ""
