"""Repeated hold-out: layouts and baselines on items they have not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from ..layouts import Layout
from . import options
from .assessment import score
from .baselines import BASELINES, Baseline, baseline_forecast, masked
from .data import Evaluation
from .errors import DataError
from .fitting import fit
from .forecasts.forecasting import Forecast
from .leaks import report_twins
from .progress import track
from .wording import some


@dataclass(frozen=True, eq=False)
class HoldOut:
    """Scores of several methods on held-out items.

    Attributes
    ----------
    scores : DataFrame
        Columns ``method``, ``repeat``, ``subject`` and those of `score`.
    success : Series
        Success rate of each subject over all items.

    Examples
    --------
    >>> scores = pd.DataFrame({"method": ["layout", "mean"] * 2, "repeat": [0, 0, 1, 1],
    ...                        "subject": "Ann", "brier": [0.1, 0.3, 0.2, 0.4]})
    >>> HoldOut(scores, pd.Series({"Ann": 0.5})).summary().round(3)
            mean    se  subjects
    method
    layout  0.15  0.05         1
    mean    0.35  0.05         1
    """

    scores: pd.DataFrame
    success: pd.Series

    def per_subject(self, column: str = "brier") -> pd.DataFrame:
        """Average a score over repeats.

        Parameters
        ----------
        column : str
            Which score.

        Returns
        -------
        DataFrame
            One row per subject, one column per method.
        """
        means = self._common(column).groupby(level="subject", sort=False).mean()
        return means.rename_axis(columns="method")

    def summary(
        self, column: str = "brier", success: tuple[float, float] = (0.0, 1.0)
    ) -> pd.DataFrame:
        """Average a score of each method over subjects, with its standard error over repeats.

        Parameters
        ----------
        column : str
            Which score.
        success : (float, float)
            Only subjects whose success rate lies in this closed interval.

        Returns
        -------
        DataFrame
            Indexed by method: ``mean``, ``se`` (spread of the repeats' means, as splits of the same
            items; NaN for a single one) and ``subjects``, how many of them every method was scored
            on.
        """
        chosen = self.success.index[self.success.between(*success)]
        common = self._common(column)
        common = common[common.index.get_level_values("subject").isin(chosen)]
        repeats = common.groupby(level="repeat").mean()
        table = pd.DataFrame({"mean": repeats.mean(), "se": repeats.sem()})
        table["subjects"] = common.index.get_level_values("subject").nunique()
        return table.rename_axis("method")

    def _common(self, column: str) -> pd.DataFrame:
        """Lay a score out with a column per method, where every method has one."""
        if column not in self.scores.columns:
            raise DataError(
                f"there is no score {column!r}; the columns are {some(self.scores.columns, 20)}"
            )
        methods = list(dict.fromkeys(self.scores["method"]))
        rows = ["repeat", "subject"]
        wide = self.scores.pivot_table(column, rows, "method", sort=False, dropna=False)
        return wide[methods].dropna()


def hold_out(
    layouts: Mapping[str, Layout],
    evaluation: Evaluation,
    *,
    repeats: int = 15,
    fraction: float = 0.2,
    baselines: Sequence[Baseline] = BASELINES,
    columns: Sequence[str] | None = None,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    method: Literal["nuts", "grid"] = "nuts",
    seed: int = 1,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> HoldOut:
    """Hold out a part of the items again and again, and score every method on it.

    All methods and subjects share the splits, and items are held out with all their outcomes. Each
    layout's noise constant and each baseline see the training outcomes only.

    Parameters
    ----------
    layouts : mapping of str to Layout
        By name.
    evaluation : Evaluation
        Items and outcomes.
    repeats : int
        Random splits.
    fraction : float
        Part of the items held out, in (0, 1).
    baselines : sequence of Baseline
        What to compare with; none where outcomes are several, graded or scores.
    columns : sequence of str, optional
        Properties that the baselines predict from; the layouts' meta-features by default.
    draws, tune, chains, method, n_jobs
        As in `fit`; nobody is sampled again, since a score needs the posterior's mean only.
    seed : int
        Of splits, fits and forests.
    progressbar : bool
        Show splits done and time left.

    Returns
    -------
    HoldOut
        Scores per method, repeat and subject.

    Raises
    ------
    DataError
        When no item would be held out or none kept, a subject would keep no training outcome in
        one of the splits, two methods share a name, there is none, or baselines are asked to
        foresee steps of outcomes.
    FitError
        When an option is out of range.

    Warns
    -----
    UserWarning
        When more items than by chance have the properties and outcomes of others, as `score` counts
        them by the forecasts of the best method: what is held out is then not unseen.

    References
    ----------
    Burden et al. (2023), section 4.2: 15 repeats of a held-out fifth.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> hold_out({}, cohort.evaluation, repeats=2, baselines=BASELINES[:1]).summary().round(2)
               mean  se  subjects
    method
    aggregate   ...
    """
    methods = [*layouts, *(baseline.name for baseline in baselines)]
    if not methods or len(set(methods)) < len(methods):
        raise DataError(
            f"the methods to compare are {some(methods) or 'none'}; give at least one layout or "
            "baseline, each with a name of its own"
        )
    if baselines and evaluation.rows is not None:
        raise DataError(
            "baselines foresee 0/1 outcomes, and the evaluation holds steps of outcomes; compare "
            "layouts alone, with baselines=()"
        )
    seed = options.whole("seed", seed)
    splits = _splits(evaluation, options.whole("repeats", repeats, 1), fraction, seed)
    features = [feature for layout in layouts.values() for feature in layout.meta_features]
    levels = [name for node in features if node.levels is not None for name in node.columns]
    if columns is None:
        columns = list(dict.fromkeys(name for feature in features for name in feature.columns))
    tables = []
    chances = {name: np.zeros(evaluation.trials.shape) for name in methods}
    times = np.zeros(len(evaluation.items))
    for repeat, held_out in track(enumerate(splits), len(splits), progressbar, what="splits"):
        training = masked(evaluation, held_out)
        forecasts: dict[str, Forecast] = {}
        for name, layout in layouts.items():
            result = fit(
                layout,
                training,
                draws=draws,
                tune=tune,
                chains=chains,
                method=method,
                seed=seed + repeat,
                reruns=0,
                n_jobs=n_jobs,
                progressbar=False,
            )
            forecast = result.forecast(evaluation.item_table.loc[held_out])
            forecasts[name] = replace(forecast, seen=None)  # held out, whatever they resemble
        for baseline in baselines:
            forecasts[baseline.name] = baseline_forecast(
                baseline, training, list(held_out), columns, seed=seed + repeat
            )
        rows = evaluation.items.index.get_indexer(pd.Index(evaluation.rows_of(held_out)))
        times[rows] += 1
        for name, forecast in forecasts.items():
            scores = score(forecast, evaluation).reset_index()
            tables.append(scores.assign(method=name, repeat=repeat))
            means = forecast.data["mean"].to_series().unstack("item")
            means = means.reindex(evaluation.subjects, columns=evaluation.items.index[rows])
            chances[name][:, rows] += means.to_numpy()
    found = pd.concat(tables, ignore_index=True)
    best = str(found.groupby("method")["brier"].mean().idxmin())
    with np.errstate(invalid="ignore"):
        report_twins(evaluation, columns or None, chances[best] / times, levels=levels)
    return HoldOut(found, evaluation.success_rates())


def _splits(evaluation: Evaluation, repeats: int, fraction: float, seed: int) -> list[pd.Index]:
    """Draw the items held out in each repeat, and check all before the first fit."""
    items = evaluation.item_table.index
    count = round(options.inside("fraction", fraction, such_as=0.2) * len(items))
    if not 0 < count < len(items):
        raise DataError(
            f"fraction={fraction} of {len(items)} items holds out {count}; hold out and keep at "
            "least one item"
        )
    rng = np.random.default_rng(seed)
    splits = [items[np.sort(rng.permutation(len(items))[:count])] for _ in range(repeats)]
    return with_training(evaluation, splits, "repeat")


def with_training(evaluation: Evaluation, splits: list[pd.Index], what: str) -> list[pd.Index]:
    """Return splits of the items that leave every subject something to learn from.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    splits : list of Index
        Items held out.
    what : str
        What a split is called.

    Raises
    ------
    DataError
        When a subject would keep no training outcome.
    """
    for number, held_out in enumerate(splits):
        left = evaluation.trials.drop(columns=evaluation.rows_of(held_out)).sum(axis=1)
        if not left.all():
            raise DataError(
                f"{some(left.index[left == 0])} would keep no training outcome in {what} {number}; "
                "leave out subjects with few outcomes, hold out less, or change the seed"
            )
    return splits
