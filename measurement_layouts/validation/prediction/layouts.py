"""Measurement layouts as assessors: a single one, or the best of several by training outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ...common import options
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_few_layouts
from ...evaluations.steps import refuse_steps
from ...evaluations.tables import known_names
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.forecasts.forecasting import Forecast
from ...inference.model.features import read_features
from ...layouts import Layout
from . import scoring_rules as scoring
from .assessor import Fitter
from .splits import Groups, Items, Split, drawn


@dataclass(frozen=True)
class FittedLayout(Fitter):
    """Predictions by a layout that is fitted to the training outcomes of each subject.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    draws, tune, chains, method, n_jobs
        As in `fit`. Subjects that do not converge are not sampled again, because a prediction needs
        only the posterior mean.

    Notes
    -----
    A subject that cannot be sampled has no prediction.

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
    >>> FittedLayout(layout, method="grid").predict(training, ["e"], seed=1).to_numpy().round(1)
    array([[0.5]])
    """

    layout: Layout
    draws: int = 500
    tune: int = 500
    chains: int = 2
    method: Literal["nuts", "grid"] | None = None
    n_jobs: int | None = None

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit the layout.

        Raises
        ------
        DataError
            When a meta-feature is missing or out of its levels.
        """
        read_features(self.layout, items)

    def fitted(
        self, training: Evaluation, items: Sequence[str], *, seed: int
    ) -> tuple[Forecast, pd.DataFrame]:
        """Forecast success, and return the diagnostics of the fit.

        Returns
        -------
        Forecast
            Forecast of the items.
        DataFrame
            Diagnostics as returned by `Fit.diagnostics`.

        Raises
        ------
        DataError
            When items do not fit the layout or are unknown.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        LayoutError
            As in `fit`.
        """
        result = self.fit(training, seed=seed)
        table = training.item_table
        forecast = result.forecast(table.loc[known_names(items, table.index, "item")])
        return forecast, result.diagnostics()

    def fit(self, training: Evaluation, *, seed: int) -> Fit:
        """Fit the layout.

        Raises
        ------
        DataError
            When items do not fit the layout.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        LayoutError
            When the layout is something else, or PyMC does not accept a prior.
        """
        return fit(
            self.layout,
            training,
            draws=self.draws,
            tune=self.tune,
            chains=self.chains,
            method=self.method,
            seed=seed,
            reruns=0,
            n_jobs=self.n_jobs,
            progressbar=False,
        )


@dataclass(frozen=True)
class ChosenLayout(Fitter):
    r"""Predictions by the one of several layouts that predicts training outcomes best.

    One layout is chosen for all subjects, by the sum of their log scores, because the outcomes of a
    single subject on few groups are not enough for a choice.

    Parameters
    ----------
    layouts : mapping of str to Layout
        Candidates by name.
    groups : str, optional
        Column of the items, such as a benchmark, whose groups are left out as a whole, so that the
        choice applies to items of new groups. By default, items are left out at random.
    folds : int
        Number of parts into which `Items` or `Groups` divides the training items. Each part is left
        out in turn and predicted from the others.
    draws, tune, chains
        As in `fit`.

    Raises
    ------
    DataError
        When `layouts` is something else, or there are fewer than two candidates.
    FitError
        When `folds` is not a whole number of at least 2.

    Examples
    --------
    >>> from measurement_layouts import Bias, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> size, hour = MetaFeature("size", low=-9, high=9), MetaFeature("hour", low=-9, high=9)
    >>> layouts = {one.name: Layout(one.name, Success("done", logistic(Bias("weight") * one)))
    ...            for one in (size, hour)}
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame(rng.normal(size=(60, 2)), columns=["size", "hour"])
    >>> outcomes = pd.DataFrame([items["size"] > 0], ["Ann"]).astype(int)
    >>> chosen = ChosenLayout(layouts, draws=50, tune=100)
    >>> chosen.compare(Evaluation.from_wide(outcomes, items), seed=1).round(1)
    size   -0.3
    hour   -0.7
    dtype: float64
    """

    layouts: Mapping[str, Layout]
    groups: str | None = None
    folds: int = 3
    draws: int = 200
    tune: int = 300
    chains: int = 2

    def __post_init__(self) -> None:
        refuse_few_layouts(self.layouts)
        options.whole("folds", self.folds, 2)

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit one of the layouts.

        Raises
        ------
        DataError
            When a meta-feature is missing or out of its levels.
        """
        for layout in self.layouts.values():
            self._fitted(layout).check(items)

    def compare(self, training: Evaluation, *, seed: int) -> pd.Series:
        """Score every candidate on training outcomes that its fit did not see.

        Parameters
        ----------
        training : Evaluation
            Items and outcomes; items without outcomes are ignored.
        seed : int
            Seed of folds and fits.

        Returns
        -------
        Series
            Mean log score per item and subject in nats, higher is better; the best layout first.

        Raises
        ------
        DataError
            When items do not fit a layout, or the training items are of one group only.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        """
        refuse_steps(training.rows, "ChosenLayout.compare")
        known = training.select(training.items.index[training.coded.attempted])
        parts: Split = Items(folds=self.folds)
        if self.groups is not None:
            parts = Groups(self.groups, self.folds)
        scores = dict.fromkeys(self.layouts, 0.0)
        for fold in drawn(parts, known, repeats=1, seed=seed)[0]:
            rest, part = fold.training(known), fold.items(known)
            for name, layout in self.layouts.items():
                found = self._fitted(layout).predict(rest, part, seed=seed)
                scores[name] += _log_scores(found, known)
        mean = pd.Series(scores).div(known.coded.trials.sum())
        return mean.sort_values(ascending=False, kind="stable")

    def fitted(
        self, training: Evaluation, items: Sequence[str], *, seed: int
    ) -> tuple[Forecast, pd.DataFrame]:
        """Forecast success by the best layout, and return the diagnostics of its fit.

        Returns
        -------
        Forecast
            Forecast of the items.
        DataFrame
            Diagnostics as returned by `Fit.diagnostics`.

        Raises
        ------
        DataError
            When items do not fit a layout, or the training items are of one group only.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        """
        return self.best(training, seed=seed).fitted(training, items, seed=seed)

    def best(self, training: Evaluation, *, seed: int) -> FittedLayout:
        """Return the layout that `compare` ranks first.

        Raises
        ------
        DataError, FitError
            When the layouts cannot be compared; see `fitted`.
        """
        return self._fitted(self.layouts[self.compare(training, seed=seed).index[0]])

    def _fitted(self, layout: Layout) -> FittedLayout:
        return FittedLayout(layout, draws=self.draws, tune=self.tune, chains=self.chains)


def _log_scores(predictions: xr.DataArray, known: Evaluation) -> float:
    """Add up the log scores of all subjects; one without a prediction excludes the layout."""
    found = predictions.transpose("subject", "item").reindex(subject=known.subjects)
    score = 0.0
    cells = known.coded.select(items=known.items.index.get_indexer(predictions.indexes["item"]))
    for place, row in enumerate(found.to_numpy()):
        successes, trials = cells.counts(place)
        if not trials.any():
            continue
        if np.isnan(row).any():
            return -np.inf
        score -= scoring.log_score(row, successes, trials) * int(trials.sum())
    return score
