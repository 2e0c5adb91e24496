"""What an import dropped, mapped, renamed or averaged: a count and one example each."""

from collections import Counter

import pandas as pd


class Notes:
    """A list that grows while logs are read.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.add("dropped: no score", "sums/3")
    >>> notes.add("dropped: no score", "sums/8")
    >>> notes.frame()
                    what  count example
    0  dropped: no score      2  sums/3
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, what: str, example: object, count: int = 1) -> None:
        """Count something; the first example of its kind is kept."""
        self._counts[what] += count
        self._examples.setdefault(what, str(example))

    def frame(self) -> pd.DataFrame:
        """Write the list as a table, in the order in which things were met."""
        return pd.DataFrame(
            {
                "what": pd.Series(list(self._counts), dtype="str"),
                "count": pd.Series(list(self._counts.values()), dtype="int64"),
                "example": pd.Series(list(self._examples.values()), dtype="str"),
            }
        )
