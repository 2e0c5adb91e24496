"""What assessors predicted, and what each gains over the first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from .. import scoring
from ..data import Evaluation
from ..errors import DataError
from ..tables import known_names
from ..wording import some

_SCORES = ("auroc", "brier")


@dataclass(frozen=True, eq=False)
class Assessment:
    """Out-of-fold predictions of several methods, and what each gains over the first.

    Made by `assess`.

    Attributes
    ----------
    predictions : DataFrame
        One row per subject, item and method: ``subject``, ``item``, ``method``, ``fold``,
        ``probability`` of success by the fit that did not see the item, ``successes`` and
        ``trials``.
    scores : Dataset
        ``auroc``, ``brier`` and ``remark``, (subject, method); the first method is the reference.
    resampled : Dataset
        ``auroc`` and ``brier`` on items drawn with replacement, (resample, subject, method). In a
        resample all methods and subjects have the same items.
    prob : float
        Mass of the intervals.
    """

    predictions: pd.DataFrame
    scores: xr.Dataset
    resampled: xr.Dataset
    prob: float

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        chances: xr.DataArray,
        folds: Sequence[pd.Index],
        *,
        resamples: int,
        prob: float,
        seed: int,
    ) -> "Assessment":
        """Score predictions, on the items and on items drawn with replacement.

        Parameters
        ----------
        evaluation : Evaluation
            Outcomes.
        chances : DataArray
            Predictions, (method, subject, item), in the order of the evaluation; NaN where there
            is none.
        folds : sequence of Index
            Items of each fold.
        resamples, prob, seed
            As in `assess`.
        """
        items = len(evaluation.items)
        rng = np.random.default_rng([seed, 1])  # not the stream of the folds
        times = rng.multinomial(items, np.full(items, 1 / items), size=resamples)
        scores = _scored(evaluation, chances, np.ones((1, items), dtype=int)).isel(resample=0)
        return cls(
            _predictions(evaluation, chances, folds),
            scores.assign(remark=_remarks(evaluation, chances)),
            _scored(evaluation, chances, times),
            prob,
        )

    @property
    def table(self) -> pd.DataFrame:
        """Scores of every subject and method.

        Columns ``subject``, ``method``; ``auroc`` (NaN when all outcomes are alike); its difference
        to the first method's, ``auroc_difference``, with the bootstrap standard error ``auroc_se``
        and the ends ``auroc_low`` and ``auroc_high`` of an equal-tailed interval; the same of
        ``brier``, where lower is better; and ``remark``, why a score is missing.
        """
        remarks = self.scores["remark"].to_series()
        return self._compared(self.scores, self.resampled).assign(remark=remarks).reset_index()

    def summary(self, subjects: Iterable[object] | None = None) -> pd.DataFrame:
        """Average the scores over subjects.

        Parameters
        ----------
        subjects : iterable, optional
            Over whom; everybody by default. Those for whom a method lacks a score do not count.

        Returns
        -------
        DataFrame
            Indexed by method: the scores' columns of `table`, and ``subjects``, how many. Intervals
            are about these subjects on other items like these.

        Raises
        ------
        DataError
            When a subject is unknown, or none has all scores.
        """
        known = self.scores.indexes["subject"]
        chosen = list(known) if subjects is None else known_names(subjects, known, "subject")
        own, drawn = (data[list(_SCORES)] for data in (self.scores, self.resampled))
        complete = own.to_array().notnull().all(["variable", "method"])
        kept = [name for name in chosen if complete.sel(subject=name)]
        if not kept:
            raise DataError(
                f"none of {some(chosen)} has a score of every method; see the remarks in table, "
                "and choose subjects with successes and failures"
            )
        means = (data.sel(subject=kept).mean("subject") for data in (own, drawn))
        return self._compared(*means).assign(subjects=len(kept))

    def _compared(self, scores: xr.Dataset, resampled: xr.Dataset) -> pd.DataFrame:
        """Write scores beside their differences to the first method's."""
        tail = (1 - self.prob) / 2
        columns: dict[str, pd.Series] = {}
        for name in _SCORES:
            own, drawn = scores[name], resampled[name].transpose("resample", *scores[name].dims)
            difference = (own - own.isel(method=0, drop=True)).to_series()
            spread = (drawn - drawn.isel(method=0, drop=True)).to_numpy().reshape(len(drawn), -1)
            spreads = pd.DataFrame(spread, columns=difference.index)
            columns |= {
                name: own.to_series(),
                f"{name}_difference": difference,
                f"{name}_se": spreads.std(),
                f"{name}_low": spreads.quantile(tail),
                f"{name}_high": spreads.quantile(1 - tail),
            }
        return pd.DataFrame(columns)


def _predictions(
    evaluation: Evaluation, chances: xr.DataArray, folds: Sequence[pd.Index]
) -> pd.DataFrame:
    """Write every prediction beside its outcome."""
    fold = {item: number for number, part in enumerate(folds) for item in part}
    cells = ("subject", "item")
    data = xr.Dataset(
        {
            "fold": ("item", [fold[item] for item in evaluation.items.index]),
            "probability": chances,
            "successes": (cells, evaluation.successes.to_numpy()),
            "trials": (cells, evaluation.trials.to_numpy()),
        }
    )
    return data.to_dataframe(dim_order=["subject", "item", "method"]).reset_index()


def _scored(evaluation: Evaluation, chances: xr.DataArray, times: np.ndarray) -> xr.Dataset:
    """Score predictions with every item counted so many times, (resample, item)."""
    shape = len(times), len(chances["subject"]), len(chances["method"])
    found = np.full((len(_SCORES), *shape), np.nan)
    for place in range(len(chances["subject"])):
        successes, trials = (
            times * table.iloc[place].to_numpy()
            for table in (evaluation.successes, evaluation.trials)
        )
        for method, probability in enumerate(chances.to_numpy()[:, place]):
            if np.isnan(probability).any():
                continue
            for number in np.flatnonzero(trials.any(axis=1)):
                outcome = successes[number], trials[number]
                found[0, number, place, method] = scoring.auroc(probability, *outcome)
                found[1, number, place, method] = scoring.brier(probability, *outcome)
    dims = ("resample", "subject", "method")
    names = {name: chances[name].to_numpy() for name in dims[1:]}
    return xr.Dataset({name: (dims, own) for name, own in zip(_SCORES, found, strict=True)}, names)


def _remarks(evaluation: Evaluation, chances: xr.DataArray) -> xr.DataArray:
    """Why scores are missing."""
    failed = chances.isnull().any("item").transpose("subject", "method")
    alike = [
        scoring.single_class_reason(evaluation.successes.loc[name], evaluation.trials.loc[name])
        for name in evaluation.subjects
    ]
    reasons = xr.DataArray([reason or "" for reason in alike], dims="subject")
    return reasons.where(~failed, "sampling failed in a fold: some items have no prediction")
