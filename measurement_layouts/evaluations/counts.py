"""Counts of successes and trials, by subject and row, and rates of success."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import pandas as pd

from ..common.options import inside
from ..common.proportions import wilson
from .cells import Cells
from .steps import STEP, Rows, refuse_steps
from .tables import need_columns


class Counts:
    """Successes and trials of subjects by row, which is an item or a step of an outcome."""

    items: pd.DataFrame
    subject_table: pd.DataFrame
    coded: Cells

    @property
    def cells(self) -> pd.DataFrame:
        """Attempted cells: ``subject``, ``item``, ``successes``, ``trials``, in their order."""
        return self.coded.frame(self.subject_table.index, self.items.index)

    @property
    def successes(self) -> pd.DataFrame:
        """Successes by subject and item, with 8 bytes for each pair; `cells` has those tried."""
        return self._table(self.coded.successes)

    @property
    def trials(self) -> pd.DataFrame:
        """Trials by subject and item, with 8 bytes for each pair; `cells` has those tried."""
        return self._table(self.coded.trials)

    def _table(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(
            self.coded.table(values), self.subject_table.index, self.items.index, copy=False
        )

    @cached_property
    def rows(self) -> Rows | None:
        """Items, outcomes and steps of rows made by `of_outcomes`; None if rows are items."""
        return Rows.read(self.items.index) if STEP in self.items.columns else None

    @property
    def attempts(self) -> pd.DataFrame:
        """Trials; if rows are steps, the number of all attempts at the item of each step."""
        if self.rows is None:
            return self.trials
        counts = self.trials.to_numpy()[:, self.rows.first]
        return pd.DataFrame(counts, self.trials.index, self.trials.columns)

    @property
    def item_table(self) -> pd.DataFrame:
        """Items with their properties, each once, also if rows are steps."""
        if self.rows is None:
            return self.items
        _, first = np.unique(self.rows.places, return_index=True)
        return self.items.drop(columns=STEP).iloc[first].set_axis(self.rows.items, axis=0)

    def rows_of(self, items: Iterable[str]) -> list[str]:
        """List the names of the rows of some items: all their steps, or the items themselves."""
        if self.rows is None:
            return list(items)
        rows = pd.Series(self.items.index).groupby(self.rows.item, sort=False).groups
        return [name for item in items for name in self.items.index[rows[item]]]

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return list(self.subject_table.index)

    def success_rates(self) -> pd.Series:
        """Mean success of each subject over its trials.

        Returns
        -------
        Series
            Rates in [0, 1], indexed by subject. When rows are steps, a rate is the mean outcome of
            all attempts divided by the highest outcome.

        Examples
        --------
        >>> import measurement_layouts as ml
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> outcomes = pd.DataFrame({"a": [1], "b": [0]}, index=["Ann"])
        >>> float(ml.Evaluation.from_wide(outcomes, items).success_rates()["Ann"])
        0.5
        """
        rates = self.coded.rates if self.rows is None else self.rows.means(self.coded)
        return pd.Series(rates, self.subject_table.index, name="success")

    def group_rates(self, column: str | None = None, *, prob: float = 0.9) -> pd.DataFrame:
        """Compute each subject's success rate on groups of items, with Wilson's interval.

        Parameters
        ----------
        column : str, optional
            Property of the items that gives their group (default: all items are one group).
        prob : float
            Probability mass of the interval.

        Returns
        -------
        DataFrame
            One row per subject and group with trials, with columns of `Forecast.summary`:
            ``subject``, ``group``, ``items`` (the number of items that were tried), and ``mean``,
            ``low`` and ``high`` of the success rate. Trials are taken as independent.

        Raises
        ------
        DataError
            When there is no such column, or rows are steps of outcomes.
        FitError
            When `prob` is not between 0 and 1.

        Examples
        --------
        >>> import measurement_layouts as ml
        >>> items = pd.DataFrame({"kind": ["sum", "sum", "word"]}, ["a", "b", "c"])
        >>> outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], items.index)
        >>> ml.Evaluation.from_wide(outcomes, items).group_rates("kind").round(2)
          subject group  items  mean   low  high
        0     Ann   sum      2   0.5  0.12  0.88
        1     Ann  word      1   1.0  0.27  1.00
        """
        refuse_steps(self.rows, "Evaluation.group_rates")
        prob = inside("prob", prob, 0.9)
        groups = pd.Series("all items", self.items.index)
        if column is not None:
            need_columns(self.items.columns, [column], "the items have")
            groups = self.items[column]
        code, names = pd.factorize(groups)
        cells = self.coded.take(code[self.coded.item] >= 0)
        key = cells.subject.astype("int64") * max(1, len(names)) + code[cells.item]
        counts = pd.DataFrame({"items": 1, "won": cells.successes, "tried": cells.trials})
        sums = counts.groupby(key).sum()
        subject, group = np.divmod(sums.index.to_numpy(), max(1, len(names)))
        mean = (sums["won"] / sums["tried"]).to_numpy()
        low, high = wilson(mean, sums["tried"].to_numpy(), prob)
        return pd.DataFrame(
            {
                "subject": self.subject_table.index[subject],
                "group": names[group],
                "items": sums["items"].to_numpy(),
                "mean": mean,
                "low": low,
                "high": high,
            }
        )
