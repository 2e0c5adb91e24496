"""Targets, costs and outcomes of a test that adapts, as they are given and as they are kept."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import whole
from ...evaluations.outcome_tables import from_outcomes
from ...layouts import Layout
from ...layouts.elements import find_elements
from ...linking.real import real


def read_target(layout: Layout, target: object) -> dict[str, float] | None:
    """Read targets as weights by profile element."""
    if target is None:
        return None
    if isinstance(target, str):
        target = [target]
    if not isinstance(target, Iterable):
        raise FitError(
            f"target={target!r}; give names of latents, or weights by name, as in {{'sight': 2}}"
        )
    weights = target if isinstance(target, Mapping) else dict.fromkeys(target, 1.0)
    find_elements(layout, [str(name) for name in weights])  # refuses names, and none at all
    found: dict[str, float] = {}
    for name, weight in weights.items():
        number = real(weight)
        if number is None or not 0 < number < np.inf:
            raise FitError(f"target[{name!r}]={weight!r}; give a weight above 0")
        found |= {element.name: number for element in find_elements(layout, str(name))}
    return found


def read_costs(items: pd.Index, costs: Mapping[str, float] | None) -> list[float] | None:
    """Read the cost of each item, in the bank's order."""
    if costs is None:
        return None
    missing = [name for name in items if name not in costs]
    if missing:
        raise DataError(f"costs: none for {some(missing)}; give one for each item of the bank")
    found = [real(costs[name]) for name in items]
    wrong = [n for n, cost in zip(items, found, strict=True) if not (cost and 0 < cost < np.inf)]
    if wrong:
        raise DataError(f"costs: no number above 0 for {some(wrong)}; give one")
    return [float(cost) for cost in found if cost is not None]


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
