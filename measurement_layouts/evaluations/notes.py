"""List of what was dropped, renamed or mapped while a table or log was read."""

import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ..common.names import SAME, plain, rewritten, shown
from .tables import one_level_each

_SHOWN = 12  # examples of what was dropped


class Notes:
    """A list that grows while logs and tables are read.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.add("dropped: no score", "sums/3")
    >>> notes.add("dropped: no score", "sums/8")
    >>> notes.frame()
                    what  count         example
    0  dropped: no score      2  sums/3, sums/8
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, dict[str, None]] = {}

    def add(self, what: str, example: object, count: int = 1) -> None:
        """Count an event; the first examples of what was dropped are kept, and one of others."""
        self._counts[what] += count
        examples = self._examples.setdefault(what, {})
        if len(examples) < (_SHOWN if what.startswith("dropped") else 1):
            examples[str(example)] = None

    def name(self, name: str) -> str:
        """Return the plain form of a name; a change is counted."""
        (form,) = self.names([name])
        return str(form)

    def names(self, names: Iterable[object]) -> list[object]:
        """Return the plain forms of names; each name that changes is counted once."""
        listed = list(names)
        changed = rewritten(listed)
        for name, form in changed.items():
            self.add(f"renamed: {SAME}", shown({name: form}))
        if not changed:
            return listed
        return [plain(name) if isinstance(name, str) else name for name in listed]

    def levels(self, table: pd.DataFrame) -> pd.DataFrame:
        """Unite texts of a column as `one_level_each` does; each column that changes is counted."""
        table, changed = one_level_each(table)
        for column, forms in changed.items():
            self.add(f"renamed: in column {column}, {SAME}", shown(forms), len(forms))
        return table

    def warn(self) -> None:
        """Warn of names that changed and of subjects that were left out."""
        for what, count in self._counts.items():
            if what.startswith(("renamed", "left out")):
                warnings.warn(
                    f"{what}: {count} ({', '.join(self._examples[what])})",
                    skip_file_prefixes=(str(Path(__file__).parents[1]),),
                )

    def frame(self) -> pd.DataFrame:
        """Write the list as a table, in the order of the first events of each kind."""
        return pd.DataFrame(
            {
                "what": pd.Series(list(self._counts), dtype="str"),
                "count": pd.Series(list(self._counts.values()), dtype="int64"),
                "example": pd.Series(list(map(", ".join, self._examples.values())), dtype="str"),
            }
        )
