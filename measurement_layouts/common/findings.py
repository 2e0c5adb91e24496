"""One finding of a check, a criticism or a description, and the table of several."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Finding:
    """What a check, a criticism or a description states about one thing.

    Attributes
    ----------
    where : str
        Name of the node, column, subject, item or pair that it is about.
    what : str
        Kind of the finding, such as ``"collinear"``, ``"person fit"`` or ``"weakness"``.
    text : str
        Sentence without its full stop.
    remedy : str
        What to do, as a clause; empty where nothing follows.
    size, low, high : float
        Estimate and ends of its interval, in the unit that `text` states; NaN without.
    p : float
        P value, adjusted for the findings of its kind, or a description's posterior probability of
        the statement; NaN without.
    computed : bool
        Whether it could be computed; where it could not, `text` states the reason.

    Examples
    --------
    >>> print(Finding("size", "constant", "size is 2 on all items", "add items of other sizes"))
    size is 2 on all items; add items of other sizes
    """

    where: str
    what: str
    text: str
    remedy: str = ""
    size: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan
    computed: bool = True

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


def table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Tabulate findings: one row each, with the attributes of `Finding` as columns.

    Examples
    --------
    >>> table([Finding("Ann", "person fit", "no outcome", computed=False)])[["where", "computed"]]
      where  computed
    0   Ann     False
    """
    columns = [field.name for field in fields(Finding)]
    return pd.DataFrame([asdict(finding) for finding in findings], columns=columns)
