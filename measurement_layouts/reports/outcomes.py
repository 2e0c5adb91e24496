"""Outcomes by subject and item, as fractions of the highest value, also of grades and scores."""

import numpy as np
import pandas as pd

from ..evaluations.cells import Cells
from ..evaluations.steps import Rows
from ..layouts import Graded, Layout
from ..layouts.outcomes.steps import Observed

_KEYS = ["subject", "item", "outcome"]


def outcome_table(layout: Layout, cells: Cells, subjects: pd.Index, rows: pd.Index) -> pd.DataFrame:
    """Tabulate attempted cells, given the names of subjects and rows.

    Returns
    -------
    DataFrame
        ``subject``, ``item``, ``outcome``, ``attempts``, and ``gained``, the sum of the outcomes as
        fractions of the highest.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
    >>> cells = Cells.of_tables(np.array([[3, 1]]), np.array([[4, 3]]))
    >>> rows = pd.Index(["a · grade ≥ partly", "a · grade ≥ right"])
    >>> outcome_table(layout, cells, pd.Index(["Ann"]), rows)
      subject item outcome  attempts  gained
    0     Ann    a   grade         4     2.0
    """
    if layout.steps is None:
        frame = cells.frame(subjects, rows).assign(outcome=layout.outcome.name)
        frame = frame.rename(columns={"trials": "attempts", "successes": "gained"})
        return frame[[*_KEYS, "attempts", "gained"]]
    steps = _steps(cells, subjects, rows)
    steps["gained"] = steps["successes"] / Rows.read(rows).tops[cells.item]
    groups = steps.groupby(_KEYS, sort=False)
    return groups.agg(attempts=("trials", "first"), gained=("gained", "sum")).reset_index()


def value_counts(layout: Layout, cells: Cells, subjects: pd.Index, rows: pd.Index) -> pd.DataFrame:
    """Count the attempts with each value of each outcome.

    Returns
    -------
    DataFrame
        ``subject``, ``item``, ``outcome``, ``value`` and ``count``, without those that are 0.
    """
    steps = _steps(cells, subjects, rows)
    ladder = [] if layout.steps is None else layout.steps.rows
    numbers = np.array([number for _, number, _ in ladder])
    steps["number"] = np.resize(numbers, len(rows))[cells.item]
    lowest = steps.drop_duplicates(_KEYS).assign(number=0, successes=lambda one: one["trials"])
    reached = pd.concat([lowest, steps]).sort_values([*_KEYS, "number"], kind="stable")
    higher = reached.groupby(_KEYS, sort=False)["successes"].shift(-1, fill_value=0)
    reached["count"] = reached["successes"] - higher
    names = {outcome.name: values(outcome) for outcome in layout.outcomes}
    pairs = zip(reached["outcome"], reached["number"], strict=True)
    reached["value"] = [names[outcome][number] for outcome, number in pairs]
    return reached.loc[reached["count"] > 0, [*_KEYS, "value", "count"]]


def _steps(cells: Cells, subjects: pd.Index, rows: pd.Index) -> pd.DataFrame:
    """Write the item and outcome of each cell whose row is a step."""
    read = Rows.read(rows)
    names = {name: getattr(read, name)[cells.item] for name in ("item", "outcome")}
    return cells.frame(subjects, rows).assign(**names)


def values(outcome: Observed) -> list[str]:
    """Name the possible values of an outcome, from the lowest to the highest."""
    if isinstance(outcome, Graded):
        return list(outcome.grades)
    top = len(outcome.steps)
    return [f"{value / top:.4g}" for value in range(top + 1)]
