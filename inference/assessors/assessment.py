"""What assessors predicted, and what each gains over the first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from .. import scoring
from ..baselines import point_forecast
from ..data import Evaluation
from ..errors import DataError, FitError
from ..forecasts.forecasting import Forecast
from ..tables import known_names
from ..wording import some
from .scores import SCORES, scored


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
        ``auroc``, ``ece`` (expected calibration error in 10 bins), ``brier`` and ``remark``,
        (subject, method), and ``success``, the subjects' success rates; the first method is the
        reference.
    resampled : Dataset
        ``auroc``, ``ece`` and ``brier`` on items drawn with replacement, (resample, subject,
        method). In a resample all methods and subjects have the same items.
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
        scores = scored(evaluation, chances, np.ones((1, items), dtype=int)).isel(resample=0)
        success = ("subject", evaluation.success_rates().to_numpy())
        return cls(
            _predictions(evaluation, chances, folds),
            scores.assign(remark=_remarks(evaluation, chances), success=success),
            scored(evaluation, chances, times),
            prob,
        )

    @property
    def methods(self) -> list[str]:
        """What was compared; the first is the reference."""
        return [str(name) for name in self.scores["method"].to_numpy()]

    @property
    def subjects(self) -> list[str]:
        """Whose success was predicted."""
        return [str(name) for name in self.scores["subject"].to_numpy()]

    @property
    def table(self) -> pd.DataFrame:
        """Scores of every subject and method.

        Columns ``subject``, ``method``; ``auroc`` (NaN when all outcomes are alike); its difference
        to the first method's, ``auroc_difference``, with the bootstrap standard error ``auroc_se``
        and the ends ``auroc_low`` and ``auroc_high`` of an equal-tailed interval; the same of
        ``ece`` and ``brier``, where lower is better; ``success``, the subject's success rate; and
        ``remark``, why a score is missing.

        The calibration error of resampled items is higher than that of the items, for chance adds
        to the gap in every bin; in differences most of that cancels.
        """
        remarks = self.scores["remark"].to_series()
        success = self.scores["success"].to_series().loc[remarks.index.get_level_values(0)]
        table = self._compared(self.scores, self.resampled)
        return table.assign(success=success.to_numpy(), remark=remarks).reset_index()

    def summary(
        self,
        subjects: Iterable[object] | None = None,
        weights: Literal["success"] | None = None,
    ) -> pd.DataFrame:
        """Average the scores over subjects.

        Parameters
        ----------
        subjects : iterable, optional
            Over whom; everybody by default. Those for whom a method lacks a score do not count.
        weights : {"success"}, optional
            What subjects weigh: their success rates, as in the general scales paper's tables, or
            all the same.

        Returns
        -------
        DataFrame
            Indexed by method: the scores' columns of `table`, and ``subjects``, how many. Intervals
            are about these subjects on other items like these.

        Raises
        ------
        DataError
            When a subject is unknown, or none has all scores.
        FitError
            When the weights are unknown.
        """
        if weights not in (None, "success"):
            raise FitError(f"weights={weights!r}; give 'success', or leave it out")
        known = self.scores.indexes["subject"]
        chosen = list(known) if subjects is None else known_names(subjects, known, "subject")
        own, drawn = (data[list(SCORES)] for data in (self.scores, self.resampled))
        complete = own.to_array().notnull().all(["variable", "method"])
        kept = [name for name in chosen if complete.sel(subject=name)]
        if not kept:
            raise DataError(
                f"none of {some(chosen)} has a score of every method; see the remarks in table, "
                "and choose subjects with successes and failures"
            )
        share = self.scores["success"].sel(subject=kept)
        share = share if weights == "success" else xr.ones_like(share)
        means = (data.sel(subject=kept).weighted(share).mean("subject") for data in (own, drawn))
        return self._compared(*means).assign(subjects=len(kept))

    def forecasts(self) -> dict[str, Forecast]:
        """Hand out the predictions as forecasts, for `score` and for figures.

        Returns
        -------
        dict of str to Forecast
            By method: means on all items; intervals are NaN. Subjects without a prediction of some
            item are left out, and so are methods that predict nobody.
        """
        items = list(self.predictions["item"].unique())
        shape = len(self.subjects), len(items), len(self.methods)
        cube = self.predictions["probability"].to_numpy().reshape(shape)
        found = {}
        for place, name in enumerate(self.methods):
            kept = ~np.isnan(cube[:, :, place]).any(axis=1)
            if kept.any():
                who = [subject for subject, known in zip(self.subjects, kept, strict=True) if known]
                found[name] = point_forecast(cube[kept, :, place], who, items)
        return found

    def _compared(self, scores: xr.Dataset, resampled: xr.Dataset) -> pd.DataFrame:
        """Write scores beside their differences to the first method's."""
        tail = (1 - self.prob) / 2
        columns: dict[str, pd.Series] = {}
        for name in SCORES:
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


def _remarks(evaluation: Evaluation, chances: xr.DataArray) -> xr.DataArray:
    """Why scores are missing."""
    failed = chances.isnull().any("item").transpose("subject", "method")
    alike = [
        scoring.single_class_reason(evaluation.successes.loc[name], evaluation.trials.loc[name])
        for name in evaluation.subjects
    ]
    reasons = xr.DataArray([reason or "" for reason in alike], dims="subject")
    return reasons.where(
        ~failed, "some items have no prediction (as where a layout could not be sampled in a fold)"
    )
