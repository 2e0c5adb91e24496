"""Outcomes of an adaptive test, as they are given and as they are stored."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import whole
from ...evaluations.outcome_tables import from_outcomes
from ...inference.model.alignment import defined
from ...inference.model.features import read_features
from ...layouts import Layout
from ...linking.real import real


def plain(outcome: Any) -> Any:
    """Convert an outcome to a value that JSON can have."""
    if isinstance(outcome, Mapping):
        return {str(name): plain(value) for name, value in outcome.items()}
    if isinstance(outcome, np.generic):
        outcome = outcome.item()
    return int(outcome) if isinstance(outcome, bool) else outcome


def counts(
    layout: Layout, bank: pd.DataFrame, item: str, outcome: Any, trials: object
) -> tuple[np.ndarray, np.ndarray]:
    """Read an outcome as successes and trials of the item's rows."""
    attempts = whole("trials", trials, 1)
    names = [observed.name for observed in layout.outcomes]
    if layout.steps is None:
        single = isinstance(outcome, Mapping) and list(outcome) == names
        successes = real(outcome[names[0]] if single else outcome)
        if successes is None or not 0 <= successes <= attempts or successes % 1:
            raise DataError(
                f"{item}: outcome {outcome!r} of {attempts} trial(s); give successes, from 0 "
                f"to {attempts}"
            )
        return np.array([int(successes)]), np.array([attempts])
    if attempts != 1:
        raise DataError(
            f"{item}: trials={attempts}; layout {layout.name!r} has grades, scores or several "
            "outcomes, which are recorded one attempt at a time"
        )
    each = outcome if isinstance(outcome, Mapping) else {names[0]: outcome}
    tables = {
        str(name): pd.DataFrame({item: [value]}, index=["subject"], dtype=object)
        for name, value in each.items()
    }
    _, _, cells = from_outcomes(
        layout, layout.steps, tables, bank.loc[[item]], ("subject", "item", "outcome")
    )
    passed, tried = cells.tables
    return passed[0], tried[0]


def beside(layout: Layout, bank: pd.DataFrame, asked: list[int]) -> list[int]:
    """Find items with other values of the properties in which all answered items are alike.

    Parameters
    ----------
    layout : Layout
        Layout with the properties.
    bank : DataFrame
        All items.
    asked : list of int
        Positions of the answered items.

    Returns
    -------
    list of int
        Positions of other items, as few as needed; none if no item of the bank differs.
    """
    features, found = read_features(layout, bank), list[int]()
    for feature in layout.meta_features:
        there = defined(feature, features, len(bank))
        values = features[feature.name].reshape(len(bank), -1)
        known = [place for place in (*asked, *found) if there[place]]
        first = known[0] if known else int(there.argmax())
        other = there & (values != values[first]).any(axis=1)
        if other.any() and not other[known].any():
            found += [] if known else [first]
            found.append(int(other.argmax()))
    return found
