"""Outcomes of a test that adapts, as they are given and as they are kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import whole
from ...evaluations.outcome_tables import from_outcomes
from ...layouts import Layout
from ...linking.real import real


def plain(outcome: Any) -> Any:
    """Write an outcome as JSON holds it."""
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
    _, passed, tried = from_outcomes(
        layout, layout.steps, tables, bank.loc[[item]], ("subject", "item", "outcome")
    )
    return passed.to_numpy()[0], tried.to_numpy()[0]
