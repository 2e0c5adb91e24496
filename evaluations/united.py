"""Two evaluations as one: all their subjects and items, and the outcomes of both."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from .steps import STEP, Rows
from .tables import is_missing


class Tables(NamedTuple):
    """What an evaluation is made of: items, and counts of subjects by items in their order."""

    items: pd.DataFrame
    successes: pd.DataFrame
    trials: pd.DataFrame


def united(one: Tables, other: Tables) -> Tables:
    """Join subjects, items and outcomes; see `Evaluation.__add__`."""
    _same_steps(one, other)
    items = _items(one.items, other.items)
    subjects = one.trials.index.append(other.trials.index.difference(one.trials.index, sort=False))
    counts = [
        [
            table.reindex(index=subjects, columns=items.index, fill_value=0).to_numpy()
            for table in (each.successes, each.trials)
        ]
        for each in (one, other)
    ]
    names = Rows.read(items.index).item if STEP in items.columns else items.index.to_numpy()
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
    joined = (
        pd.DataFrame(np.where(here, ours, theirs), subjects, items.index)
        for ours, theirs in ((won, also_won), (tried, also_tried))
    )
    return Tables(items, *joined)


def _any(cells: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Say for each row of an item whether a cell of that item is true."""
    found = pd.DataFrame(cells.T).groupby(names, sort=False).transform("any")
    return found.to_numpy(dtype=bool).T


def _same_steps(one: Tables, other: Tables) -> None:
    """Refuse rows of steps beside items, or beside rows of other steps."""
    kinds = []
    for each in (one, other):
        rows = Rows.read(each.items.index) if STEP in each.items.columns else None
        steps = [] if rows is None else zip(rows.outcome, rows.step, strict=True)
        kinds.append([f"{outcome} ≥ {step}" for outcome, step in dict.fromkeys(steps)])
    if kinds[0] != kinds[1]:
        told = (some(kind) if kind else "0/1 outcomes of items" for kind in kinds)
        raise DataError(
            f"the evaluations hold different outcomes: {' and '.join(told)}; make both with "
            "Evaluation.of_outcomes(layout, ...) of one layout"
        )


def _items(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Join properties, and refuse an item that has others in both."""
    shared = one.index.intersection(other.index, sort=False)
    for column in one.columns.intersection(other.columns, sort=False):
        ours, theirs = (table.loc[shared, column].astype(object) for table in (one, other))
        for item, here, there in zip(shared, ours, theirs, strict=True):
            if not (is_missing(here) or is_missing(there) or here == there):
                raise DataError(
                    f"item {item} has {column} = {here!r} in one evaluation and {there!r} in the "
                    "other: it is another item; correct one of the two, or name them apart"
                )
    new = other.index.difference(one.index, sort=False)
    items = pd.concat([one, other.loc[new]])
    for column in other.columns:
        brought = other[column].reindex(items.index)
        if column not in one.columns:
            items[column] = brought
        elif (items[column].isna() & brought.notna()).any():
            items[column] = items[column].where(items[column].notna(), brought)
    return items
