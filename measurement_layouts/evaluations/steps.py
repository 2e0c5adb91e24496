"""Rows of an evaluation that are steps of outcomes.

The name of a row contains its item, outcome and step, such as ``arena 3 · credit ≥ 0.25``, so that
it identifies the row in fits, files and tables.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..layouts import Layout
from ..layouts.outcomes.steps import MARK, Steps
from .cells import Cells

STEP = f"{MARK}step"
"""Column of the items with each row's step, counted from 1, if rows are steps."""

_FROM = " ≥ "


@dataclass(frozen=True, eq=False)
class Rows:
    """Items, outcomes and steps of the rows of an evaluation or a fit.

    Attributes
    ----------
    item, outcome, step : ndarray of str, shape (rows,)
        Names of the item, the outcome and the step of each row.

    Examples
    --------
    >>> rows = Rows.read(["a · credit ≥ 0.25", "a · credit ≥ 0.75", "b · credit ≥ 0.25",
    ...                   "b · credit ≥ 0.75"])
    >>> rows.item.tolist(), rows.first.tolist(), rows.tops.tolist()
    (['a', 'a', 'b', 'b'], [0, 0, 2, 2], [2, 2, 2, 2])
    """

    item: np.ndarray
    outcome: np.ndarray
    step: np.ndarray

    @classmethod
    def read(cls, names: Iterable[str]) -> "Rows":
        """Split names of rows into item, outcome and step."""
        split = [name.rpartition(f" {MARK}") for name in names]
        steps = [step.partition(_FROM) for _, _, step in split]
        triples = zip(split, steps, strict=True)
        table = [(item, outcome, step) for (item, _, _), (outcome, _, step) in triples]
        return cls(*np.array(table, dtype=object).reshape(-1, 3).T)

    @cached_property
    def items(self) -> pd.Index:
        """Names of the items, each once, in order."""
        names: pd.Index = pd.Index(list(dict.fromkeys(self.item)), dtype="str", name="item")
        return names

    @cached_property
    def places(self) -> np.ndarray:
        """Position of each row's item among the items."""
        return self.items.get_indexer(pd.Index(self.item, dtype="str"))

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        """First row of the steps of each row's outcome, and number of these steps."""
        keys = pd.MultiIndex.from_arrays([self.item, self.outcome])
        codes, _ = pd.factorize(keys)
        _, first, counts = np.unique(codes, return_index=True, return_counts=True)
        return first[codes], counts[codes]

    @property
    def first(self) -> np.ndarray:
        """Row of the first step of the same item and outcome, by row."""
        return self._groups[0]

    @property
    def tops(self) -> np.ndarray:
        """Number of steps of the outcome, by row."""
        return self._groups[1]

    def attempts(self, cells: Cells) -> np.ndarray:
        """Return attempts at the outcome of each cell, counted at its first step only."""
        begins = self.first == np.arange(len(self.first))
        return np.asarray(cells.trials * begins[cells.item])

    def means(self, cells: Cells) -> np.ndarray:
        """Average each subject's outcomes, as fractions of the highest, over attempts."""
        gained = cells.by_subject(cells.successes / self.tops[cells.item])
        return np.asarray(gained / cells.by_subject(self.attempts(cells)))

    def rows_of(self, steps: Steps) -> np.ndarray:
        """Find the position of each row among a layout's rows of an item.

        Raises
        ------
        DataError
            When the rows are not those of the layout.
        """
        numbers = {(name, step): number for number, (name, _, step) in enumerate(steps.rows)}
        have = list(zip(self.outcome, self.step, strict=True))
        rows = np.array([numbers.get(key, -1) for key in have], dtype=int)
        if rows.tolist() != list(range(len(numbers))) * len(self.items):
            raise DataError(
                f"the rows of the evaluation are {some(map(_FROM.join, dict.fromkeys(have)))}, and "
                f"the steps of the layout {some(map(_FROM.join, numbers))}, for each item; make "
                "the evaluation with Evaluation.of_outcomes(layout, ...) of this layout, and keep "
                "all rows of an item"
            )
        return rows


def expanded(steps: Steps, items: pd.DataFrame) -> pd.DataFrame:
    """Give every item a row for each of its outcomes' steps.

    Parameters
    ----------
    steps : Steps
        Steps of a layout.
    items : DataFrame
        Properties, indexed by item.

    Returns
    -------
    DataFrame
        Properties with the additional column `STEP`, indexed by row.
    """
    names = row_names(items.index, steps)
    table = items.iloc[np.repeat(np.arange(len(items)), len(steps.rows))]
    table = table.set_axis(pd.Index(names, name="item", dtype="str"), axis=0)
    return table.assign(**{STEP: np.tile([number for _, number, _ in steps.rows], len(items))})


def of_rows(
    steps: Steps, features: Mapping[str, np.ndarray], items: int, *, cumulative: bool = False
) -> dict[str, np.ndarray]:
    """Compute meta-features of rows, in the order of `expanded`, including hidden ones."""
    spread = {name: np.repeat(values, len(steps.rows), axis=0) for name, values in features.items()}
    rows = np.tile(np.arange(len(steps.rows)), items)
    return spread | steps.hidden(rows, cumulative=cumulative)


def row_names(items: Sequence[str] | pd.Index, steps: Steps) -> list[str]:
    """Name every row of every item."""
    pairs = itertools.product(items, steps.rows)
    return [f"{item} {MARK}{outcome}{_FROM}{step}" for item, (outcome, _, step) in pairs]


def rows_per_item(layout: Layout) -> int:
    """Return the number of rows of an item: one, or one for every step of its outcomes."""
    return 1 if layout.steps is None else len(layout.steps.rows)


def refuse_other_rows(layout: Layout, rows: Rows | None) -> None:
    """Refuse an evaluation whose rows are steps if the layout's are items, or the reverse.

    Raises
    ------
    DataError
        When only one of the two has steps, or their steps differ.
    """
    steps = layout.steps
    if steps is not None and rows is not None:
        rows.rows_of(steps)
        return
    if (steps is None) == (rows is None):
        return
    have = "0/1 outcomes of items" if rows is None else "steps of outcomes"
    remedy = (
        "give the items' 0/1 outcomes, as in Evaluation.from_wide"
        if steps is None
        else "make it with Evaluation.of_outcomes(layout, {name: table, ...}, items)"
    )
    outcomes = some(f"{outcome.name} ({type(outcome).__name__})" for outcome in layout.outcomes)
    raise DataError(
        f"the evaluation has {have}, and layout {layout.name!r} has the outcome(s) {outcomes}; "
        f"{remedy}"
    )


def refuse_steps(rows: Rows | None, what: str) -> None:
    """Refuse an evaluation whose rows are steps, for functions of 0/1 outcomes of items.

    Raises
    ------
    DataError
        When rows are steps.
    """
    if rows is not None:
        raise DataError(
            f"{what} takes 0/1 outcomes of items, and the evaluation's rows are steps of outcomes; "
            "give one 0/1 outcome alone (Evaluation.from_wide), or compare layouts by score, "
            "cross_validate and compare_layouts"
        )
