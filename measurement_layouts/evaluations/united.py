"""Union of two evaluations: all their subjects and items, and the outcomes of both."""

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from .counts import Counts
from .properties import joined
from .steps import Rows


def united(
    one: Counts, other: Counts
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Join items, successes, trials and subjects; see `Evaluation.__add__`."""
    _same_steps(one, other)
    items = joined(one.items, other.items, "item")
    people = joined(one.subject_table, other.subject_table, "subject")
    subjects = people.index
    counts = [
        [
            table.reindex(index=subjects, columns=items.index, fill_value=0).to_numpy()
            for table in (each.successes, each.trials)
        ]
        for each in (one, other)
    ]
    names = items.index.to_numpy() if one.rows is None else Rows.read(items.index).item
    (won, tried), (also_won, also_tried) = counts
    here, there = (_any(each > 0, names) for each in (tried, also_tried))
    differ = _any((won != also_won) | (tried != also_tried), names) & here & there
    if differ.any():
        cells = [f"{subjects[row]} on {names[column]}" for row, column in np.argwhere(differ)]
        cells = list(dict.fromkeys(cells))
        raise DataError(
            f"{len(cells)} cell(s) have other outcomes in one evaluation than in the other: "
            f"{some(cells)}; "
            "keep those of one of the two (select), or, if they are further attempts, count them "
            "together as trials: Evaluation(items, successes, trials)"
        )
    successes, trials = (
        pd.DataFrame(np.where(here, ours, theirs), subjects, items.index)
        for ours, theirs in ((won, also_won), (tried, also_tried))
    )
    return items, successes, trials, people


def _any(cells: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Compute for each row of an item whether any cell of that item is true."""
    found = pd.DataFrame(cells.T).groupby(names, sort=False).transform("any")
    return found.to_numpy(dtype=bool).T


def _same_steps(one: Counts, other: Counts) -> None:
    """Refuse to join rows of steps with items, or with rows of other steps."""
    kinds = []
    for each in (one, other):
        rows = each.rows
        steps = [] if rows is None else zip(rows.outcome, rows.step, strict=True)
        kinds.append([f"{outcome} ≥ {step}" for outcome, step in dict.fromkeys(steps)])
    if kinds[0] != kinds[1]:
        told = (some(kind) if kind else "0/1 outcomes of items" for kind in kinds)
        raise DataError(
            f"the evaluations have different outcomes: {' and '.join(told)}; make both with "
            "Evaluation.of_outcomes(layout, ...) of one layout"
        )
