"""Measurement layouts as assessors: a single one, or the best of several by training outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ...common import options
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_few_layouts
from ...evaluations.steps import Rows, refuse_steps
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.model.features import read_features
from ...layouts import Layout
from .scoring_rules import scores_in_groups
from .splits import Groups, Items, Split, drawn


@dataclass(frozen=True)
class FittedLayout:
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
            When items do not fit the layout or are unknown.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        LayoutError
            As in `fit`.
        """
        result = self.fit(training, seed=seed)
        names = cells["item"] if training.rows is None else Rows.read(cells["item"]).item
        means = result.forecast(training.item_table.loc[list(dict.fromkeys(names))]).data["mean"]
        subject, item = (
            means.indexes[name].get_indexer(pd.Index(cells[name])) for name in means.dims
        )
        return np.where(subject >= 0, means.to_numpy()[subject, item], np.nan), result.diagnostics()

    def fit(self, training: Evaluation, *, seed: int) -> Fit:
        """Fit the layout; errors are those of `fitted`."""
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
class ChosenLayout:
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

    @property
    def candidates(self) -> dict[str, FittedLayout]:
        """Each layout as a method of its own."""
        return {
            name: FittedLayout(layout, self.draws, self.tune, self.chains)
            for name, layout in self.layouts.items()
        }

    @property
    def columns(self) -> list[str]:
        """Columns of the layouts' meta-features, each once."""
        columns = [name for layout in self.candidates.values() for name in layout.columns]
        return list(dict.fromkeys(columns))

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit one of the layouts.

        Raises
        ------
        DataError
            When a meta-feature is missing or out of its levels.
        """
        for candidate in self.candidates.values():
            candidate.check(items)

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
            Mean log score of an outcome in nats, higher is better; the best layout first. A layout
            that cannot be sampled for a subject has minus infinity.

        Raises
        ------
        DataError
            When items do not fit a layout, or the training items are of one group only.
        FitError
            When an option of the fit is out of range, or no subject could be sampled.
        """
        refuse_steps(training.rows, "ChosenLayout.compare")
        tried = training.select(training.items.index[training.coded.attempted])
        split: Split = Groups(self.groups, self.folds) if self.groups else Items(folds=self.folds)
        scores = dict.fromkeys(self.layouts, 0.0)
        for fold in drawn(split, tried, repeats=1, seed=seed)[0]:
            rest, cells = fold.training(tried), fold.held_out(tried)
            won, trials = cells["successes"].to_numpy(), cells["trials"].to_numpy()
            for name, candidate in self.candidates.items():
                chances = candidate.predict(rest, cells, seed=seed)
                loss = scores_in_groups(chances, won, trials - won)["log_score"][0]
                scores[name] -= np.nan_to_num(loss, nan=np.inf) * trials.sum()
        mean = pd.Series(scores).div(tried.coded.trials.sum())
        return mean.sort_values(ascending=False, kind="stable")

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success by the best layout, as an `Assessor` does; errors are those of `best`."""
        return self.fitted(training, cells, seed=seed)[0]

    def fitted(
        self, training: Evaluation, cells: pd.DataFrame, *, seed: int
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Predict success by the best layout, and return the diagnostics of its fit.

        Raises
        ------
        DataError, FitError
            As in `compare`.
        """
        return self.best(training, seed=seed).fitted(training, cells, seed=seed)

    def best(self, training: Evaluation, *, seed: int) -> FittedLayout:
        """Return the layout that `compare` ranks first.

        Raises
        ------
        DataError, FitError
            As in `compare`.
        """
        return self.candidates[str(self.compare(training, seed=seed).index[0])]
