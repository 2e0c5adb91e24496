"""Results of a cross-validation: scores, predictions, and differences between methods."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError, FitError
from ...common.messages import many, some
from ...common.showing import Overview, Shown
from ...evaluations.steps import Rows
from ...evaluations.tables import known_names, need_columns
from ...inference.forecasts.forecasting import Forecast
from ...inference.sampling.convergence import UNTRUSTED
from .assessor import point_forecast
from .grouped import scores_by
from .resampled import BINS, SCORES, Predicted
from .score import rates_in_bins

_SHOWN = ("brier", "log_score", "auroc")


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Shown):
    """Scores of several methods on held-out outcomes, and their differences to the first method.

    Made by `cross_validate`.

    Attributes
    ----------
    scores : DataFrame
        One row per method, repeat and subject: ``method``, ``repeat``, ``subject`` and the columns
        of `score`, over all folds of the repeat. Scores are NaN where a prediction is missing, and
        ``auroc`` also where outcomes are all the same or the method predicts one number for all
        items; ``remark`` states the reason.
    success : Series
        Success rate of each subject over all items.
    predictions : DataFrame
        One row per repeat, subject, item and method: ``repeat``, ``fold``, ``subject``, ``item``,
        ``method``, predicted ``probability`` of success, the ends ``low`` and ``high`` of its
        interval and the item's ``distance`` from the training items (NaN for methods without them),
        ``successes`` and ``trials``; where rows are steps of outcomes, also ``steps``, the number
        of steps of the outcome.
    convergence : DataFrame
        One row per layout, repeat, fold and subject: ``method``, ``repeat``, ``fold``, ``subject``
        and the columns of `Fit.diagnostics`, among them ``status`` and ``reason``.
    split : str
        Description of the held-out outcomes.
    resamples : int
        Number of sets of items drawn with replacement, for `table` and `differences`.
    prob : float
        Mass of the intervals of differences.
    seed : int
        Seed of the resamples.

    Examples
    --------
    >>> scores = pd.DataFrame({"method": ["layout", "mean"] * 2, "repeat": [0, 0, 1, 1],
    ...                        "subject": "Ann", "brier": [0.1, 0.3, 0.2, 0.4]})
    >>> CrossValidation(scores, pd.Series({"Ann": 0.5})).summary().round(3)
            mean    se  subjects
    method
    layout  0.15  0.05         1
    mean    0.35  0.05         1
    """

    scores: pd.DataFrame
    success: pd.Series
    predictions: pd.DataFrame = field(default_factory=pd.DataFrame)
    convergence: pd.DataFrame = field(default_factory=pd.DataFrame)
    split: str = ""
    resamples: int = 500
    prob: float = 0.9
    seed: int = 1

    @property
    def methods(self) -> list[str]:
        """Names of the methods; the first is the reference."""
        return [str(name) for name in self.scores["method"].unique()]

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return [str(name) for name in self.success.index]

    def per_subject(self, column: str = "brier") -> pd.DataFrame:
        """Average a score over repeats.

        Parameters
        ----------
        column : str
            Name of the score.

        Returns
        -------
        DataFrame
            One row per subject with a score of every method, one column per method. A method
            without the score for any subject is left out.

        Raises
        ------
        DataError
            When there is no such score.
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
            Name of the score.
        success : (float, float)
            Closed interval of success rates; only subjects in it are included.

        Returns
        -------
        DataFrame
            Indexed by method: ``mean``, ``se`` (standard error from the means of repeats, which
            are splits of the same items; NaN for a single one) and ``subjects``, the number of
            subjects for which every method has a score. A method without the score for any subject,
            such as the aggregate, which has no AUROC, has NaN and is ignored in this count.

        Raises
        ------
        DataError
            When there is no such score.
        """
        chosen = self.success.index[self.success.between(*success)]
        common = self._common(column)
        common = common[common.index.get_level_values("subject").isin(chosen)]
        means = common.groupby(level="subject").mean().mean()
        with np.errstate(invalid="ignore"):  # an infinite log score has no standard deviation
            table = pd.DataFrame({"mean": means, "se": common.groupby(level="repeat").mean().sem()})
        table = table.reindex(self.methods)
        table["subjects"] = common.index.get_level_values("subject").nunique()
        table.loc[table["mean"].isna(), "subjects"] = 0
        return table.rename_axis("method")

    @property
    def table(self) -> pd.DataFrame:
        """Scores of each subject and method, with their differences to those of the first method.

        Columns are ``subject`` and ``method``; ``auroc``, averaged over repeats; its difference to
        that of the first method, ``auroc_difference``, with the bootstrap standard error
        ``auroc_se`` and the ends ``auroc_low`` and ``auroc_high`` of an equal-tailed interval; the
        same for ``ece`` (expected calibration error in 10 bins) and ``brier``, of which lower
        values are better; ``success``, the subject's success rate; and ``remark``, the reason for a
        missing score and the items outside the training items, in the first repeat.

        Items are drawn with replacement. All methods and subjects have the same items in a
        resample, so that differences are paired by outcome. The calibration error of resampled
        items is larger than that of the items, because chance increases the gap in each bin.
        Intervals are therefore shifted so that the median of the resamples is the difference, which
        always lies inside.
        """
        table = _compared(*self._compared_scores, self.prob)
        keys = ["subject", "method"]
        remarks = self.scores.groupby(keys, sort=False)["remark"].first()
        table["success"] = self.success.loc[table.index.get_level_values("subject")].to_numpy()
        return table.assign(remark=remarks.reindex(table.index)).reset_index()

    def differences(
        self,
        *,
        subjects: Iterable[object] | None = None,
        weights: Literal["success"] | None = None,
    ) -> pd.DataFrame:
        r"""Score methods over all subjects, with their differences to the first method's.

        AUROC and Brier score are means over subjects; the Brier scores of all subjects are those of
        `summary`. The calibration error is that of all cells c together, in ten bins B of the
        prediction p, with y successes in n trials and the weight w of the cell's subject,

        .. math:: \mathrm{ECE} = \frac{\sum_B \left| \sum_{c \in B} w_c (n_c p_c - y_c) \right|}
            {\sum_c w_c n_c}

        which for equal weights is that of `by`. The mean of `table`'s, each of the few cells of one
        subject, would be mostly chance.

        Parameters
        ----------
        subjects : iterable, optional
            Subjects to score (default: all). Subjects without a prediction of some method are left
            out, and from the AUROC also those whose outcomes are all alike; the remarks in `table`
            give the reasons. A score that a method has for no subject is NaN.
        weights : {"success"}, optional
            Weights of subjects: their success rates, as in the general scales paper's tables
            (default: equal weights).

        Returns
        -------
        DataFrame
            Indexed by method: the scores' columns of `table`; ``subjects``, the number of subjects
            with a Brier score of every method, and ``auroc_subjects``, those also with an AUROC.
            Intervals describe these subjects on other items of the same kind, paired by outcome,
            with the same training outcomes. They do not include the variation between training sets
            or choices of groups.

        Raises
        ------
        DataError
            When a subject is unknown, or none has predictions of every method.
        FitError
            When the weights are unknown.
        """
        if weights not in (None, "success"):
            raise FitError(f"weights={weights!r}; give 'success', or omit it")
        scores, resampled = self._compared_scores
        known = scores.indexes["subject"]
        chosen = list(known) if subjects is None else known_names(subjects, known, "subject")
        there = scores.to_array().notnull()
        complete = (there | ~there.any("subject")).all("method") & there.any("method")
        kept = complete.sel(variable="brier", subject=chosen, drop=True)
        scored = (complete.sel(subject=chosen) & kept).to_dataset("variable")
        if not kept.any():
            raise DataError(
                f"none of {some(chosen)} has predictions of every method; see the remarks in "
                "table, and choose other subjects"
            )
        weight = xr.ones_like(kept, dtype=float)
        if weights == "success":
            weight = weight.copy(data=self.success.loc[chosen].to_numpy())
        of_cells = (weight * kept).reindex(subject=self.subjects, fill_value=0).to_numpy()
        predicted, times = self._drawn_items
        means = []
        for data, drawn in ((scores, np.ones_like(times[:1])), (resampled, times)):
            mean = data.sel(subject=chosen).where(scored).weighted(weight).mean("subject")
            errors = predicted.calibration_errors(drawn, of_cells)
            means.append(mean.assign(ece=mean["ece"].copy(data=errors.reshape(mean["ece"].shape))))
        counts = {"subjects": int(kept.sum()), "auroc_subjects": int(scored["auroc"].sum())}
        return _compared(means[0], means[1], self.prob).assign(**counts)

    @property
    def resampled(self) -> xr.Dataset:
        """Scores on items drawn with replacement.

        ``auroc``, ``ece`` and ``brier``, averaged over repeats, with dimensions (resample, subject,
        method); computed at the first access.
        """
        return self._compared_scores[1]

    def by(
        self, where: str | pd.Series | pd.DataFrame | None = None, *, bins: int = 5
    ) -> pd.DataFrame:
        r"""Score predictions in groups: by condition or by any other property.

        All subjects and repeats of a group are scored together; `summary` averages over subjects
        instead. With n trials, y successes and the prediction p of each of the group's cells c,

        .. math:: \mathrm{gap} = \frac{1}{N} \sum_c r_c, \quad r_c = n_c p_c - y_c, \quad
            \mathrm{se}^2 = \frac{I}{I - 1} \frac{1}{N^2}
            \sum_{i=1}^{I} \Big(\sum_{c \in i} (r_c - n_c \, \mathrm{gap})\Big)^2

        with N trials of I items. The standard error is clustered, because the errors of an item's
        cells may be correlated.

        Parameters
        ----------
        where : str, Series or DataFrame, optional
            Values that define the groups: a column of `predictions`, such as ``"subject"``; a
            property by item; or a table by subject (rows) and item (columns). By default, all
            predictions are one group.
        bins : int
            Number of groups with similar numbers of predictions into which numbers are divided if
            they have more different values than this.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``method``: ``trials``; ``success``, their rate; ``forecast``,
            the mean prediction; ``gap``, forecast minus success, with its standard error ``gap_se``
            clustered by item; ``brier``; ``ece`` in ten bins; and ``auroc``, the mean over subjects
            with successes and failures in the group. Scores are NaN if a prediction is missing.

        Raises
        ------
        DataError
            When an item has no group, or there is no such column.
        FitError
            When `bins` is below 1.

        Examples
        --------
        >>> from measurement_layouts.evaluations.evaluation import Evaluation
        >>> from measurement_layouts.validation.prediction.cross_validate import cross_validate
        >>> from measurement_layouts.validation.prediction.splits import Given
        >>> rng = np.random.default_rng(1)
        >>> items = pd.DataFrame({"size": rng.uniform(1, 7, 400)})
        >>> outcomes = pd.DataFrame([rng.random(400) < 1 - items["size"] / 8], ["Ann"])
        >>> evaluation = Evaluation.from_wide(outcomes, items)
        >>> far = Given(train="size <= 4", test="size > 4")
        >>> found = cross_validate(["aggregate"], evaluation, split=far, progressbar=False)
        >>> far_off = np.floor(evaluation.items["size"])
        >>> found.by(far_off)[["success", "forecast", "gap", "gap_se"]].round(2)
                         success  forecast   gap  gap_se
        group method
        4.0   aggregate     0.50      0.66  0.16    0.06
        5.0   aggregate     0.30      0.66  0.36    0.06
        6.0   aggregate     0.18      0.66  0.48    0.05
        """
        return scores_by(self.predictions, self.methods, where, bins)

    def calibration(self, method: str | None = None, *, pooled: bool = False) -> pd.DataFrame:
        """Compare the predictions of a method with success rates, in bins of the prediction.

        Parameters
        ----------
        method : str, optional
            Name of the method (default: the first one).
        pooled : bool
            Whether the predictions of all subjects are counted together.

        Returns
        -------
        DataFrame
            Indexed by ``subject`` and ``bin``, for each subject as from `calibration_curve`, with
            ten bins, all repeats, and intervals of mass `prob`. Subjects without a prediction of
            some item are left out. If `pooled`, indexed by ``bin``.

        Raises
        ------
        FitError
            When there is no such method.
        """
        method = self.methods[0] if method is None else method
        if method not in self.methods:
            raise FitError(f"no predictions of {method}; the methods are {some(self.methods)}")
        own = self.predictions[self.predictions["method"] == method]
        told = own["probability"].notna().groupby(own["subject"]).transform("all")
        found = {}
        for name, rows in [("", own)] if pooled else own.groupby("subject", sort=False):
            part = rows[told.loc[rows.index]]
            mean, successes, trials = (
                part[column].to_numpy() for column in ("probability", "successes", "trials")
            )
            found[name] = rates_in_bins(mean, successes, trials, BINS, self.prob)
        return found[""] if pooled else pd.concat(found, names=["subject", "bin"])

    def forecasts(self, repeat: int = 0) -> dict[str, Forecast]:
        """Return the predictions of a repeat as forecasts, for `score` and for figures.

        Parameters
        ----------
        repeat : int
            Number of the repeat, from 0.

        Returns
        -------
        dict of str to Forecast
            Forecasts by method: means on the held-out items, with the ends of their intervals if
            the method has them. Subjects without a prediction of some item are left out, as are
            methods without any other subject.

        Raises
        ------
        DataError
            When there is no such repeat, no subject has predictions of all items (because cells
            were held out), or rows are steps of outcomes.
        """
        own = self.predictions[self.predictions["repeat"] == repeat]
        if own.empty or "steps" in own:
            what = "steps of outcomes are predicted" if len(own) else f"there is no repeat {repeat}"
            raise DataError(f"forecasts: {what}; see the table predictions")
        order = list(own["item"].unique())
        found = {}
        for name, rows in own.groupby("method", sort=False):
            wide = rows.pivot(index="subject", columns="item", values="probability")
            wide = wide.reindex(index=rows["subject"].unique(), columns=order).dropna()
            if len(wide):
                ends = (
                    rows.pivot(index="subject", columns="item", values=end).loc[wide.index, order]
                    for end in ("low", "high")
                )
                shown = [part.to_numpy(dtype=float) for part in (wide, *ends)]
                found[str(name)] = point_forecast(shown[0], list(wide.index), order, shown[1:])
        if not found and own["probability"].notna().any():
            raise DataError(
                "forecasts: single cells were held out, and no subject has a prediction of every "
                "item; see the table predictions"
            )
        return found

    @cached_property
    def _drawn_items(self) -> tuple[Predicted, np.ndarray]:
        """Predictions, and the number of times of each item in each resample."""
        if self.predictions.empty:
            raise DataError("there are no predictions to resample; run cross_validate")
        methods = self.methods
        cells = self.predictions.iloc[:: len(methods)]
        stepped = "steps" in cells
        names = cells["item"] if not stepped else Rows.read(cells["item"]).item
        items, known = pd.factorize(np.asarray(names, dtype=object))
        weight = np.ones(len(cells))
        if stepped:
            weight = np.lcm.reduce(cells["steps"].unique()) / cells["steps"].to_numpy()
        won = cells["successes"].to_numpy(dtype=float) * weight
        predicted = Predicted(
            self.predictions["probability"].to_numpy().reshape(-1, len(methods)),
            won,
            cells["trials"].to_numpy(dtype=float) * weight - won,
            cells["repeat"].to_numpy(),
            self.success.index.get_indexer(pd.Index(cells["subject"])),
            items,
        )
        rng = np.random.default_rng([self.seed, 1])  # a random stream other than that of the folds
        count = len(known)
        return predicted, rng.multinomial(count, np.full(count, 1 / count), size=self.resamples)

    @cached_property
    def _compared_scores(self) -> tuple[xr.Dataset, xr.Dataset]:
        """Scores of each subject on the items, and on items drawn with replacement."""
        methods, (predicted, times) = self.methods, self._drawn_items
        unscored = self.scores.groupby("method", sort=False)["auroc"].count().to_numpy() == 0
        found = []
        for drawn in (np.ones_like(times[:1]), times):
            values = predicted.scored(drawn)
            values[SCORES.index("auroc")][..., unscored] = np.nan
            there = self.subjects[: values.shape[2]]
            dims = {"resample": range(len(drawn)), "subject": there, "method": methods}
            named = zip(SCORES, values, strict=True)
            found.append(xr.Dataset({name: (list(dims), own) for name, own in named}, dims))
        return found[0].isel(resample=0, drop=True), found[1]

    def _common(self, column: str) -> pd.DataFrame:
        """Return a score with a column per method, for rows in which no method lacks it."""
        need_columns(self.scores.columns, [column], "the scores have")
        rows = ["repeat", "subject"]
        wide = self.scores.pivot_table(column, rows, "method", sort=False, dropna=False)
        return wide[self.methods].dropna(axis=1, how="all").dropna()

    def __repr__(self) -> str:
        repeats = many(int(self.scores["repeat"].nunique()), "repeat")
        who = many(len(self.subjects), "subject")
        return f"<CrossValidation: {some(self.methods, 9)}, {who}, {repeats} of {self.split}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), self._shown().to_string(), *self._notes()])

    def _overview(self) -> Overview:
        facts = {f"note {place}": note for place, note in enumerate(self._notes(), 1)}
        calls = {
            "found.summary()": "means and standard errors of a score",
            "found.differences()": "differences to the first method, with intervals",
            "found.per_subject()": "each subject's scores",
        }
        return Overview(facts, calls, {"scores": self._shown()})

    def _shown(self) -> pd.DataFrame:
        """Format means and standard errors of the usual scores."""
        columns = {}
        for name in _SHOWN:
            table = self.summary(name)
            columns[name] = [
                "—" if np.isnan(mean) else f"{mean:.3f}" + f" ± {se:.3f}" * (not np.isnan(se))
                for mean, se in zip(table["mean"], table["se"], strict=True)
            ]
        return pd.DataFrame(columns, pd.Index(self.methods, name="method"))

    def _notes(self) -> list[str]:
        """Return notes on missing scores and on fits that did not converge."""
        found = ["± is the standard error over repeats; Brier and log score: lower is better."]
        for name, rows in self.scores.groupby("method", sort=False):
            if rows["auroc"].isna().all():
                found.append(f"{name}: {rows['remark'].mode().iloc[0]}.")
        if len(self.convergence):
            for name, rows in self.convergence.groupby("method", sort=False):
                bad = int(rows["status"].isin(UNTRUSTED).sum())
                fits = many(len(rows), "fit")
                found.append(f"{name}: {bad} of {fits} not converged or failed; see convergence.")
        return found


def _compared(scores: xr.Dataset, resampled: xr.Dataset, prob: float) -> pd.DataFrame:
    """Return scores with their differences to those of the first method."""
    tail = (1 - prob) / 2
    columns: dict[str, pd.Series] = {}
    for name in SCORES:
        own, drawn = scores[name], resampled[name].transpose("resample", *scores[name].dims)
        difference = (own - own.isel(method=0, drop=True)).to_series()
        spread = (drawn - drawn.isel(method=0, drop=True)).to_numpy().reshape(len(drawn), -1)
        spreads = pd.DataFrame(spread, columns=difference.index)
        moved = difference - spreads.median()
        columns |= {
            name: own.to_series(),
            f"{name}_difference": difference,
            f"{name}_se": spreads.std(),
            f"{name}_low": spreads.quantile(tail) + moved,
            f"{name}_high": spreads.quantile(1 - tail) + moved,
        }
    return pd.DataFrame(columns)
