"""Attempts without a grade: kept as counts of each subject and item, and bounds from them.

An attempt that ended in an error, a limit or a time-out, or whose answer nobody could read, is no
failure, and it is not missing at random.
"""

from abc import abstractmethod
from typing import Literal, Self

import numpy as np
import pandas as pd

from ..common.errors import DataError
from .cells import Cells
from .counts import Counts
from .tables import need_columns, need_frame, refuse_unknown, texts

type Treatment = Literal["drop", "fail", "bounds"]
"""What becomes of attempts without a grade."""

COLUMN = "ungraded"
"""Column of a long table with the reason why an attempt has no grade; empty where it has one."""


def refuse_other_treatment(ungraded: object) -> None:
    """Refuse what is no treatment of ungraded attempts.

    Raises
    ------
    DataError
        When it is something else.
    """
    if not isinstance(ungraded, str) or ungraded not in ("drop", "fail", "bounds"):
        raise DataError(f"ungraded={ungraded!r}; give 'drop', 'fail' or 'bounds'")


def reasons_of(table: pd.DataFrame, outcome: str) -> np.ndarray:
    """Read the reasons why rows of a long table have no grade; None where they have one.

    Raises
    ------
    DataError
        When a row with a reason has an outcome.
    """
    column = table[COLUMN].astype(object)
    reasons = column.where(column.notna() & ~column.isin([False, "", 0]), None)
    both = reasons.notna() & table[outcome].notna()
    if both.any():
        raise DataError(
            f"{both.sum()} row(s) have an outcome and a reason in {COLUMN!r}, such as row "
            f"{both.to_numpy().argmax()}, counted from 0; leave one of the two empty"
        )
    return reasons.to_numpy(dtype=object)


class Ungraded(Counts):
    """Counts of graded attempts, and of those without a grade."""

    ungraded_cells: Cells

    @property
    def ungraded(self) -> pd.DataFrame:
        """Cells with attempts without a grade: ``subject``, ``item`` and ``ungraded``, a count."""
        table = self.ungraded_cells.frame(self.subject_table.index, self.items.index)
        if self.rows is not None:
            row = self.ungraded_cells.item
            table = table.assign(item=self.rows.item[row], outcome=self.rows.outcome[row])
        table = table.rename(columns={"trials": COLUMN})
        return table[[name for name in ("subject", "item", "outcome", COLUMN) if name in table]]

    def success_bounds(self) -> pd.DataFrame:
        r"""Bound each subject's success rate by what its ungraded attempts could have been.

        .. math:: \left[\frac{s}{n + u}, \frac{s + u}{n + u}\right]

        with s successes in n graded attempts, and u attempts without a grade.

        Returns
        -------
        DataFrame
            One row per subject: ``success``, the rate of graded attempts, as in `success_rates`;
            ``low`` and ``high``, the rates if all ungraded attempts had failed, or succeeded;
            numbers of ``graded`` and ``ungraded`` attempts. The bounds have no uncertainty of
            sampling. When rows are steps, success is the fraction of the highest outcome.

        Examples
        --------
        >>> import measurement_layouts as ml
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> outcomes = pd.DataFrame({"a": [1], "b": [None]}, index=["Ann"])
        >>> evaluation = ml.Evaluation.from_wide(outcomes, items)
        >>> stopped = pd.DataFrame({"subject": ["Ann"], "item": ["b"]})
        >>> evaluation.with_ungraded(stopped).success_bounds()
                 success  low  high  graded  ungraded
        subject
        Ann          1.0  0.5   1.0       1         1
        """
        graded = self.coded.trials if self.rows is None else self.rows.attempts(self.coded)
        columns = {
            "success": self.success_rates(),
            "low": self._rates(counted(self, False)),
            "high": self._rates(counted(self, True)),
            "graded": self.coded.by_subject(graded),
            "ungraded": self.ungraded_cells.by_subject(self.ungraded_cells.trials),
        }
        return pd.DataFrame(columns, self.subject_table.index)

    def with_ungraded(self, attempts: pd.DataFrame) -> Self:
        """Add attempts that have no grade, such as those that ended in an error or a time-out.

        They are no trials: a fit, a score and `success_rates` leave them out, `success_bounds`
        says how much they could change, and `ungraded_as` makes trials of them.

        Parameters
        ----------
        attempts : DataFrame
            Columns ``subject`` and ``item``, and optionally ``ungraded``, the number of attempts
            (default: one in each row). Where rows are steps, a column ``outcome`` may name the
            outcome (default: all). Rows of subjects without outcomes are not kept.

        Returns
        -------
        Evaluation
            New evaluation, with these attempts beside those it has.

        Raises
        ------
        DataError
            When a column is missing, an item is unknown, or a number is no count.

        Examples
        --------
        >>> from measurement_layouts import Evaluation
        >>> items = pd.DataFrame(index=["a", "b"])
        >>> evaluation = Evaluation.from_wide(pd.DataFrame({"a": [1], "b": [0]}, ["Ann"]), items)
        >>> evaluation.with_ungraded(pd.DataFrame({"subject": ["Ann"], "item": ["b"]}))
        <Evaluation: 1 subject, 2 items, 2 trials, 1 ungraded, properties none>
        """
        both = self.ungraded_cells.joined(cells_of(self, attempts))
        return self._with(self.coded, both)

    def ungraded_as(self, success: bool) -> Self:
        """Count attempts without a grade as successes, or as failures.

        Examples
        --------
        >>> from measurement_layouts import Evaluation
        >>> items = pd.DataFrame(index=["a"])
        >>> evaluation = Evaluation.from_wide(pd.DataFrame({"a": [1]}, ["Ann"]), items)
        >>> stopped = evaluation.with_ungraded(pd.DataFrame({"subject": ["Ann"], "item": ["a"]}))
        >>> float(stopped.ungraded_as(False).success_rates()["Ann"])
        0.5
        """
        return self._with(counted(self, success), None)

    @abstractmethod
    def _with(self, cells: Cells, ungraded: Cells | None) -> Self:
        """Replace the counts."""

    def _rates(self, cells: Cells) -> np.ndarray:
        return cells.rates if self.rows is None else self.rows.means(cells)


def cells_of(counts: Counts, attempts: pd.DataFrame) -> Cells:
    """Count ungraded attempts by cell; see `Evaluation.with_ungraded`."""
    need_columns(need_frame(attempts, "attempts").columns, ["subject", "item"], "attempts has")
    people = counts.subject_table.index
    table = pd.DataFrame(
        {name: texts(attempts[name], f"attempts, {name}") for name in ("subject", "item")}
    )
    number = attempts[COLUMN].to_numpy() if COLUMN in attempts.columns else np.ones(len(attempts))
    if not np.equal(np.mod(number, 1), 0).all() or (number < 0).any():
        raise DataError(f"column {COLUMN!r} of attempts has no counts; give whole numbers from 0")
    refuse_unknown(table["item"], counts.item_table.index, "item", "ungraded attempts: ")
    starts = pd.DataFrame({"item": counts.items.index, "row": np.arange(len(counts.items))})
    if counts.rows is not None:  # an attempt without a grade would have begun at the first step
        starts = starts.assign(item=counts.rows.item, outcome=counts.rows.outcome)
        starts = starts[counts.rows.first == starts["row"]]
        if "outcome" in attempts.columns:
            table["outcome"] = attempts["outcome"].to_numpy()
    table = table.assign(subject=people.get_indexer(pd.Index(table["subject"])), number=number)
    table = table[table["subject"] >= 0].merge(
        starts, on=[name for name in ("item", "outcome") if name in table and name in starts]
    )
    subject, row, number = (table[name].to_numpy() for name in ("subject", "row", "number"))
    return Cells.of(subject, row, 0 * number, number, shape=counts.coded.shape)


def counted(counts: Ungraded, success: bool) -> Cells:
    """Count ungraded attempts among the trials, as failures or as successes."""
    graded, extra = counts.coded, counts.ungraded_cells
    subject, row, trials = extra.subject, extra.item, extra.trials
    if success and counts.rows is not None:
        steps = counts.rows.tops[row]
        later = np.arange(steps.sum()) - np.repeat(steps.cumsum() - steps, steps)
        subject, row, trials = (np.repeat(values, steps) for values in (subject, row, trials))
        row = row + later
    return graded.joined(Cells.of(subject, row, trials * success, trials, shape=graded.shape))
