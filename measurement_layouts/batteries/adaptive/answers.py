"""Answers of an adaptive test: what a call changes, and outcomes as successes and trials."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import whole
from ...evaluations.evaluation import Evaluation
from ...inference.sequential.running import Running
from ...layouts import Layout
from ...linking.real import real


@dataclass(frozen=True, eq=False)
class Progress:
    """Everything that a call changes, replaced as a whole when the file has been written.

    Attributes
    ----------
    running : Running
        The posterior.
    answers : dict of str to dict
        Answers by item, in the order in which they were recorded.
    flight : dict of str to str
        Why items in flight were chosen, by item, in the order in which they were chosen.
    skipped : tuple of str
        Items that were given up.
    chosen : int
        Number of items chosen so far.
    """

    running: Running
    answers: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    flight: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    chosen: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Write it as plain values; the posterior follows from the answers."""
        columns = ("item", "outcome", "trials", "why")
        return {
            "answers": [[answer[name] for name in columns] for answer in self.answers.values()],
            "in_flight": dict(self.flight),
            "skipped": list(self.skipped),
            "chosen": self.chosen,
        }


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
    attempts, names = whole("trials", trials, 1), [observed.name for observed in layout.outcomes]
    values = outcome if isinstance(outcome, Mapping) else {names[0]: outcome}
    if layout.steps is None:
        successes = real(values[names[0]]) if list(values) == names else None
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
    tables = {
        str(name): pd.DataFrame({item: [value]}, index=["subject"], dtype=object)
        for name, value in values.items()
    }
    return Evaluation.of_outcomes(layout, tables, bank.loc[[item]]).coded.counts(0)
