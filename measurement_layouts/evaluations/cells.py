"""Outcomes by attempted cell: pairs of a subject and a row of items that have trials."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Cells:
    """Attempted cells, sorted by subject, then by row of the items.

    Attributes
    ----------
    subject, item : ndarray of int32, shape (cells,)
        Positions of the subject and of the row of items.
    successes, trials : ndarray of int64, shape (cells,)
        Outcomes; each cell has at least one trial.
    shape : (int, int)
        Numbers of subjects and of rows of items, also of those without trials.

    Examples
    --------
    >>> cells = Cells.of([1, 0, 1], [0, 2, 1], [1, 1, 0], [1, 1, 0], shape=(2, 3))
    >>> cells.subject.tolist(), cells.item.tolist()
    ([0, 1], [2, 0])
    >>> cells.table(cells.trials)
    array([[0, 0, 1],
           [1, 0, 0]])
    """

    subject: np.ndarray
    item: np.ndarray
    successes: np.ndarray
    trials: np.ndarray
    shape: tuple[int, int] = field(kw_only=True)

    @classmethod
    def of(
        cls,
        subject: Sequence[int] | np.ndarray,
        item: Sequence[int] | np.ndarray,
        successes: Sequence[int] | np.ndarray,
        trials: Sequence[int] | np.ndarray,
        *,
        shape: tuple[int, int],
    ) -> "Cells":
        """Sort cells, add up those of one subject and row, and leave out those without trials."""
        key = np.asarray(subject, dtype="int64") * shape[1] + item
        counts = [np.asarray(values, dtype="int64") for values in (successes, trials)]
        if not (np.diff(key) > 0).all():
            key, number = np.unique(key, return_inverse=True)
            counts = [_sums(number, values, len(key)) for values in counts]
        (tried,) = np.nonzero(counts[1])
        rows, columns = np.divmod(key[tried], max(1, shape[1]))
        won, done = (values[tried] for values in counts)
        return cls(rows.astype("int32"), columns.astype("int32"), won, done, shape=shape)

    @classmethod
    def of_tables(cls, successes: np.ndarray, trials: np.ndarray) -> "Cells":
        """Read tables of subjects by rows of items."""
        rows, columns = np.nonzero(trials)
        counts = successes[rows, columns], trials[rows, columns]
        return cls.of(rows, columns, *counts, shape=(len(trials), trials.shape[1]))

    def joined(self, other: "Cells") -> "Cells":
        """Add the counts of other cells of the same subjects and rows."""
        arrays = [
            np.append(getattr(self, name), getattr(other, name))
            for name in ("subject", "item", "successes", "trials")
        ]
        return Cells.of(*arrays, shape=self.shape)

    def __len__(self) -> int:
        return len(self.subject)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.searchsorted(self.subject, np.arange(self.shape[0] + 1))

    def of_subject(self, subject: int) -> slice:
        """Return the cells of a subject, given by its position."""
        return slice(*self._starts[subject : subject + 2])

    def counts(self, subject: Any) -> tuple[np.ndarray, np.ndarray]:
        """Successes and trials of one subject, by its position, on all rows of the items."""
        chosen = self.of_subject(int(subject))
        counts = np.zeros((2, self.shape[1]), dtype="int64")
        counts[:, self.item[chosen]] = self.successes[chosen], self.trials[chosen]
        return counts[0], counts[1]

    def at(self, subject: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Successes and trials at pairs of positions; 0 where there was no attempt."""
        key = self.subject.astype("int64") * self.shape[1] + self.item
        cell = pd.Index(key).get_indexer(np.asarray(subject, dtype="int64") * self.shape[1] + item)
        successes, trials = (np.append(values, 0)[cell] for values in (self.successes, self.trials))
        return successes, trials

    def table(self, values: np.ndarray) -> np.ndarray:
        """Return values of the cells as a table of subjects by rows, with 0 elsewhere."""
        table = np.zeros(self.shape, dtype=values.dtype)
        table[self.subject, self.item] = values
        return table

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Successes and trials as tables of subjects by rows of items."""
        return self.table(self.successes), self.table(self.trials)

    def by_subject(self, values: np.ndarray) -> np.ndarray:
        """Add up values of the cells for each subject."""
        return _sums(self.subject, values, self.shape[0])

    @property
    def rates(self) -> np.ndarray:
        """Successes of each subject divided by its trials; shape (subjects,)."""
        return np.asarray(self.by_subject(self.successes) / self.by_subject(self.trials))

    @property
    def attempted(self) -> np.ndarray:
        """Whether any subject attempted a row of the items; shape (rows,)."""
        return np.bincount(self.item, minlength=self.shape[1]) > 0

    def take(self, chosen: np.ndarray) -> "Cells":
        """Keep some cells, given by a mask."""
        arrays = (self.subject, self.item, self.successes, self.trials)
        return Cells(*(values[chosen] for values in arrays), shape=self.shape)

    def select(
        self, subjects: np.ndarray | None = None, items: np.ndarray | None = None
    ) -> "Cells":
        """Keep some subjects and rows of items, by position and in the order given."""
        codes, shape = [self.subject, self.item], list(self.shape)
        for axis, positions in enumerate((subjects, items)):
            if positions is not None:
                number = np.full(shape[axis], -1, dtype="int32")
                number[positions] = np.arange(len(positions))
                codes[axis], shape[axis] = number[codes[axis]], len(positions)
        (chosen,) = np.nonzero((codes[0] >= 0) & (codes[1] >= 0))
        arrays = (*codes, self.successes, self.trials)
        return Cells.of(*(values[chosen] for values in arrays), shape=(shape[0], shape[1]))

    def frame(self, subjects: pd.Index, items: pd.Index) -> pd.DataFrame:
        """Return a table with a row for each cell, given the names of subjects and rows."""
        return pd.DataFrame(
            {
                "subject": subjects.take(self.subject),
                "item": items.take(self.item),
                "successes": self.successes,
                "trials": self.trials,
            }
        )


def _sums(code: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    sums = np.zeros(count, dtype=values.dtype)
    np.add.at(sums, code, values)
    return sums
