"""Repeated hold-out: layouts and baselines on items they have not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..layouts import Layout
from .assessment import score
from .baselines import BASELINES, Baseline, baseline_forecast, masked
from .data import Evaluation
from .errors import DataError
from .fitting import fit
from .progress import track


@dataclass(frozen=True, eq=False)
class HoldOut:
    """Scores of several methods on held-out items.

    Attributes
    ----------
    scores : DataFrame
        Columns ``method``, ``repeat``, ``subject`` and those of `score`.
    success : Series
        Success rate of each subject over all items.
    """

    scores: pd.DataFrame
    success: pd.Series

    def per_subject(self, column: str = "brier") -> pd.DataFrame:
        """Mean score over repeats: one row per subject, one column per method."""
        means = self.scores.groupby(["subject", "method"], sort=False)[column].mean()
        return means.unstack("method")

    def summary(
        self, column: str = "brier", success: tuple[float, float] = (0.0, 1.0)
    ) -> pd.DataFrame:
        """Mean score of each method over subjects, with its standard error over repeats.

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
            items) and ``subjects``.
        """
        low, high = success
        chosen = self.success.index[self.success.between(low, high)]
        part = self.scores[self.scores["subject"].isin(chosen)]
        repeats = part.groupby(["method", "repeat"], sort=False)[column].mean().groupby("method")
        table = pd.DataFrame({"mean": repeats.mean(), "se": repeats.sem()})
        table["subjects"] = len(chosen)
        return table.loc[list(dict.fromkeys(self.scores["method"]))]


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
    seed: int = 1,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> HoldOut:
    """Hold out a part of the items again and again, and score every method on it.

    All methods and subjects share the splits. Each layout's noise constant and each baseline see
    the training outcomes only.

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
        What to compare with.
    columns : sequence of str, optional
        Properties of items that baselines predict from; the layouts' meta-features by default.
    draws, tune, chains, n_jobs : int
        As in `fit`.
    seed : int
        Of splits, fits and forests.
    progressbar : bool
        Show fits done and time left.

    Returns
    -------
    HoldOut
        Scores per method, repeat and subject.

    Raises
    ------
    DataError
        When no item would be held out or none kept, or a subject keeps no training outcome.

    References
    ----------
    Burden et al. (2023), section 4.2: 15 repeats of a held-out fifth.
    """
    count = round(fraction * len(evaluation.items))
    if not (0 < count < len(evaluation.items) and repeats > 0):
        raise DataError(
            f"fraction={fraction} of {len(evaluation.items)} items holds out {count}, in {repeats} "
            "repeats; hold out and keep at least one item, at least once"
        )
    predictors = _meta_features(layouts) if columns is None else list(columns)
    rng = np.random.default_rng(seed)
    tables = []
    work = [(repeat, name) for repeat in range(repeats) for name in layouts]
    done = iter(track(work, total=len(work), show=progressbar, what="fits"))
    for repeat in range(repeats):
        held_out = evaluation.items.index[np.sort(rng.permutation(len(evaluation.items))[:count])]
        training = masked(evaluation, held_out)
        forecasts = {}
        for name, layout in layouts.items():
            next(done)
            result = fit(
                layout,
                training,
                draws=draws,
                tune=tune,
                chains=chains,
                seed=seed + repeat,
                n_jobs=n_jobs,
                progressbar=False,
            )
            forecasts[name] = result.forecast(evaluation.items.loc[held_out])
        for baseline in baselines:
            forecasts[baseline.name] = baseline_forecast(
                baseline, training, list(held_out), predictors, seed=seed + repeat
            )
        for name, forecast in forecasts.items():
            scores = score(forecast, evaluation).reset_index()
            tables.append(scores.assign(method=name, repeat=repeat))
    for _ in done:
        pass
    return HoldOut(pd.concat(tables, ignore_index=True), evaluation.success_rates())


def _meta_features(layouts: Mapping[str, Layout]) -> list[str]:
    """Columns of all the layouts, each once."""
    columns = [
        column
        for layout in layouts.values()
        for feature in layout.meta_features
        for column in feature.columns
    ]
    return list(dict.fromkeys(columns))
