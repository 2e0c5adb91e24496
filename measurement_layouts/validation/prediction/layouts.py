"""Measurement layouts as assessors: fitted to the training outcomes of each fold."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import Rows, of_rows, row_names
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.forecasts.scope import Scope
from ...inference.forecasts.streaming import computed
from ...inference.model.features import read_features
from ...layouts import Layout
from .outcomes import positions

_MEMORY_MIB = 64.0


@dataclass(frozen=True)
class FittedLayout:
    """Predictions by a layout that is fitted to the training outcomes.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    draws, tune, chains, method, n_jobs
        As in `fit`. Subjects that do not converge are not sampled again, because a prediction needs
        only the posterior mean.

    Notes
    -----
    A subject that cannot be sampled has no prediction. A joint layout also predicts subjects
    without training outcomes, by the population. Only the cells to predict are computed.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", low=0, high=5)
    >>> size = MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> asked = pd.DataFrame({"subject": ["Ann"], "item": ["e"]})
    >>> FittedLayout(layout, method="grid").predict(training, asked, seed=1).round(1)
    array([0.5])
    """

    layout: Layout
    draws: int = 500
    tune: int = 500
    chains: int = 2
    method: Literal["nuts", "grid"] | None = None
    n_jobs: int | None = None

    @property
    def columns(self) -> list[str]:
        """Columns of the layout's meta-features."""
        return [name for feature in self.layout.meta_features for name in feature.columns]

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit the layout.

        Raises
        ------
        DataError
            When a meta-feature is missing or out of its levels.
        """
        read_features(self.layout, items)

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success, as an `Assessor` does; errors are those of `fitted`."""
        return self.fitted(training, cells, seed=seed)[0]

    def fitted(
        self, training: Evaluation, cells: pd.DataFrame, *, seed: int
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Predict success, and return the diagnostics of the fit, as from `Fit.diagnostics`.

        Raises
        ------
        DataError
            When items do not fit the layout or are unknown, or a subject has no training outcomes
            and the layout is not a joint one.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        LayoutError
            As in `fit`.
        """
        new = cells[~cells["subject"].isin(training.subjects)]
        if len(new) and not self.layout.joint:
            raise DataError(
                f"layout {self.layout.name!r} is fitted to each subject alone, and "
                f"{some(pd.unique(new['subject']))} has no training outcome; give a joint layout"
            )
        options = {name: value for name, value in vars(self).items() if name != "layout"}
        result = fit(self.layout, training, seed=seed, reruns=0, progressbar=False, **options)
        return _mean_chances(result, training, cells), result.diagnostics()


def _mean_chances(fitted: Fit, training: Evaluation, cells: pd.DataFrame) -> np.ndarray:
    """Compute posterior means of success probabilities, by cell; NaN for subjects that failed."""
    layout, steps = fitted.layout, fitted.layout.steps
    names = cells["item"].to_numpy() if steps is None else Rows.read(cells["item"]).item
    items = training.item_table.loc[pd.unique(names)]
    scope = Scope.of(fitted, items, _people(training, cells) if layout.joint else None)
    chances, item = np.full(len(cells), np.nan), items.index.get_indexer(pd.Index(names))
    subject = pd.Index(scope.names).get_indexer(pd.Index(cells["subject"]))
    for number, rows in positions(subject):
        if number < 0:
            continue
        wanted, position = np.unique(item[rows], return_inverse=True)
        features = {name: values[wanted] for name, values in scope.features.items()}
        target, count = layout.outcome, len(wanted)
        if steps is not None:
            features = of_rows(steps, features, count, cumulative=True)
            every_step = pd.Index(row_names(items.index[wanted], steps))
            position = every_step.get_indexer(pd.Index(cells["item"].iloc[rows]))
            target, count = steps, len(every_step)
        block = scope.block(features, count)
        values = computed(fitted, block, target, memory_mib=_MEMORY_MIB)
        pieces = np.array_split(np.arange(count), range(values.piece, count, values.piece))
        means = [values.rows(number, piece).mean(axis=1) for piece in pieces]
        chances[rows] = np.concatenate(means)[position]
    return chances


def _people(training: Evaluation, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the properties of the cells' subjects; those of new ones are columns of the cells."""
    known = training.subject_table
    people = cells.drop_duplicates("subject").set_index("subject").reindex(columns=known.columns)
    new = people[~people.index.isin(known.index)]
    return pd.concat([known[known.index.isin(people.index)], new]) if len(new) else known
