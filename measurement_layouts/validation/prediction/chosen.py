"""The one of several layouts that predicts training outcomes best, as an assessor."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common import options
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_few_layouts
from ...layouts import Layout
from .cross_validate import cross_validate
from .layouts import FittedLayout
from .splits import Groups, Items, Split


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
        sampling = self.draws, self.tune, self.chains
        return {name: FittedLayout(layout, *sampling) for name, layout in self.layouts.items()}

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
        attempted = training.select(training.items.index[training.coded.attempted])
        split: Split = Groups(self.groups, self.folds) if self.groups else Items(folds=self.folds)
        held = cross_validate(
            self.candidates, attempted, split=split, repeats=1, seed=seed, progressbar=False
        )
        scores = -held.summary("log_score")["mean"].rename(None)
        failed = held.predictions.loc[held.predictions["probability"].isna(), "method"]
        scores[failed.unique()] = -np.inf
        return scores.rename_axis(None).sort_values(ascending=False, kind="stable")

    def best(self, training: Evaluation, *, seed: int) -> FittedLayout:
        """Return the layout that `compare` ranks first.

        Raises
        ------
        DataError, FitError
            As in `compare`.
        """
        return self.candidates[str(self.compare(training, seed=seed).index[0])]

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

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success by the best layout, as an `Assessor` does; errors are those of `best`."""
        return self.fitted(training, cells, seed=seed)[0]
