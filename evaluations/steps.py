"""Rows of an evaluation that are steps: which item, outcome and step each of them is.

A row is named after all three, such as ``arena 3 · credit ≥ 0.25``, so that a fit, a file and a
table all know it by its name.
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

STEP = f"{MARK}step"
"""Column of the items with each row's step, counted from 1, if rows are steps."""

_FROM = " ≥ "


@dataclass(frozen=True, eq=False)
class Rows:
    """What the rows of an evaluation, or of a fit, are steps of.

    Attributes
    ----------
    item, outcome, step : ndarray of str, shape (rows,)
        Names.

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
        """Take names of rows apart."""
        parts = [name.rpartition(f" {MARK}") for name in names]
        items = [item for item, _, _ in parts]
        reached = [own.partition(_FROM) for _, _, own in parts]
        columns = (items, [name for name, _, _ in reached], [step for _, _, step in reached])
        return cls(*(np.array(column, dtype=object) for column in columns))

    @cached_property
    def items(self) -> pd.Index:
        """Names of the items, each once, in order."""
        found: pd.Index = pd.Index(pd.unique(self.item), dtype="str", name="item")
        return found

    @cached_property
    def places(self) -> np.ndarray:
        """Which of the items each row belongs to."""
        return self.items.get_indexer(pd.Index(self.item, dtype="str"))

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Which row begins the steps of each row's outcome, and how many those are."""
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
        """How many steps the outcome has, by row."""
        return self._groups[1]

    def means(self, successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Average outcomes, each as a part of the highest, over attempts (last axis: rows)."""
        begins = self.first == np.arange(len(self.first))
        return np.asarray((successes / self.tops).sum(axis=-1) / trials[..., begins].sum(axis=-1))

    def rows_of(self, steps: Steps) -> np.ndarray:
        """Find which of a layout's rows of an item each row is.

        Raises
        ------
        DataError
            When they are not those of the layout.
        """
        known = {(name, step): place for place, (name, _, step) in enumerate(steps.rows)}
        found = [known.get(key, -1) for key in zip(self.outcome, self.step, strict=True)]
        rows = np.array(found, dtype=int)
        whole = np.tile(np.arange(len(known)), len(self.items))
        if len(rows) != len(whole) or (rows != whole).any():
            have = dict.fromkeys(zip(self.outcome, self.step, strict=True))
            raise DataError(
                f"the evaluation's rows are the steps {some(map(_FROM.join, have))}, and those of "
                f"the layout are {some(map(_FROM.join, known))}, all for each item; make the "
                "evaluation with Evaluation.of_outcomes(layout, ...) of this layout, and keep all "
                "rows of an item"
            )
        return rows


class Stepped:
    """Tables of counts by row, where a row is an item or a step of one of its outcomes."""

    items: pd.DataFrame
    trials: pd.DataFrame

    @cached_property
    def rows(self) -> Rows | None:
        """What the rows are steps of, by `of_outcomes`; None where a row is an item."""
        return Rows.read(self.items.index) if STEP in self.items.columns else None

    @property
    def attempts(self) -> pd.DataFrame:
        """Trials; where rows are steps, of each step all attempts at its item."""
        if self.rows is None:
            return self.trials
        counts = self.trials.to_numpy()[:, self.rows.first]
        return pd.DataFrame(counts, self.trials.index, self.trials.columns)

    @property
    def item_table(self) -> pd.DataFrame:
        """Items with their properties, each once, also where rows are steps."""
        if self.rows is None:
            return self.items
        _, first = np.unique(self.rows.places, return_index=True)
        return self.items.drop(columns=STEP).iloc[first].set_axis(self.rows.items, axis=0)

    def rows_of(self, items: Iterable[str]) -> list[str]:
        """Name the rows of some items: all their steps, or they themselves."""
        if self.rows is None:
            return list(items)
        rows = pd.Series(self.items.index).groupby(self.rows.item, sort=False).groups
        return [name for item in items for name in self.items.index[rows[item]]]


def expanded(steps: Steps, items: pd.DataFrame) -> pd.DataFrame:
    """Give every item a row for each of its outcomes' steps.

    Parameters
    ----------
    steps : Steps
        A layout's.
    items : DataFrame
        Properties, indexed by item.

    Returns
    -------
    DataFrame
        With the column `STEP`, indexed by row.
    """
    names = row_names(items.index, steps)
    table = items.iloc[np.repeat(np.arange(len(items)), len(steps.rows))]
    table = table.set_axis(pd.Index(names, name="item", dtype="str"), axis=0)
    return table.assign(**{STEP: np.tile([number for _, number, _ in steps.rows], len(items))})


def of_rows(
    steps: Steps, features: Mapping[str, np.ndarray], items: int, *, cumulative: bool = False
) -> dict[str, np.ndarray]:
    """Give the rows of items, as `expanded` orders them, their meta-features and hidden ones."""
    spread = {name: np.repeat(values, len(steps.rows), axis=0) for name, values in features.items()}
    rows = np.tile(np.arange(len(steps.rows)), items)
    return spread | steps.hidden(rows, cumulative=cumulative)


def row_names(items: Sequence[str] | pd.Index, steps: Steps) -> list[str]:
    """Name every row of every item."""
    each = itertools.product(items, steps.rows)
    return [f"{item} {MARK}{outcome}{_FROM}{step}" for item, (outcome, _, step) in each]


def refuse_other_rows(layout: Layout, rows: Rows | None) -> None:
    """Refuse an evaluation whose rows are steps where the layout's are not, or the reverse.

    Raises
    ------
    DataError
        When only one of the two has steps, or other ones.
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
    """Refuse an evaluation whose rows are steps, where only 0/1 outcomes of items have a meaning.

    Raises
    ------
    DataError
        When they are.
    """
    if rows is not None:
        raise DataError(
            f"{what} takes 0/1 outcomes of items, and the evaluation's rows are steps of outcomes; "
            "give one 0/1 outcome alone (Evaluation.from_wide), or compare layouts by score, "
            "cross_validate and compare_layouts"
        )
