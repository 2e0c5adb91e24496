"""Results of a cross-validation: predictions, their scores, and differences between methods."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import many, some
from ...common.proportions import rates
from ...common.showing import Overview, Shown
from ...evaluations.steps import Rows
from ...evaluations.tables import need_columns
from ...inference.sampling.convergence import UNTRUSTED
from .score import rates_in_bins, score_table
from .scoring_rules import BINS, scores_in_groups

SCORES = ("auroc", "ece", "brier")
"""Scores of `CrossValidation.differences`."""

ONE_NUMBER = "AUROC is undefined: the method predicts one number for all items of the subject"

STATUS = ["method", "repeat", "fold", "subject", "status", "reason"]
"""First columns of `CrossValidation.convergence`."""

_BY = ("trials", "success", "forecast", "gap", "gap_se", "brier", "ece", "auroc")
_KEYS = ["repeat", "subject"]
_SHOWN = ("brier", "log_score", "auroc")
_TOGETHER = 64  # resamples that are scored together, so that their weights fit into memory


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Shown):
    """Predictions of several methods for held-out outcomes, with their scores.

    Made by `cross_validate`. Brier score, its parts, log score and calibration error (in ten bins)
    of a method are those of all held-out outcomes together, each attempt with the same weight; its
    AUROC is the mean of those of single subjects. They are the same in `summary`, `differences` and
    `by`. Outcomes that some method does not predict, because a layout could not be sampled, are
    left out for all methods.

    Attributes
    ----------
    predictions : DataFrame
        One row per repeat, held-out outcome and method: ``repeat``, ``fold``, ``subject``,
        ``item``, ``successes``, ``trials``, ``method`` and the predicted ``probability`` of
        success; where rows are steps of outcomes, also ``steps``, their number.
    success : Series
        Success rate of each subject over all items.
    convergence : DataFrame
        One row per layout, repeat, fold and subject: ``method``, ``repeat``, ``fold``, ``subject``
        and the columns of `Fit.diagnostics`, among them ``status`` and ``reason``.
    constant : sequence of str
        Methods that predict one number for all items of a subject, which have no AUROC.
    split : str
        Description of the held-out outcomes.
    resamples : int
        Number of sets of items drawn with replacement, for `differences`.
    prob : float
        Mass of the intervals of differences.
    seed : int
        Seed of the resamples.

    Examples
    --------
    >>> rows = {"repeat": [0, 0, 1, 1], "fold": 0, "subject": "Ann", "item": list("aabb"),
    ...         "successes": 1, "trials": 1, "method": ["layout", "mean"] * 2,
    ...         "probability": [0.9, 0.5, 0.7, 0.5]}
    >>> CrossValidation(pd.DataFrame(rows), pd.Series({"Ann": 0.5})).summary().round(3)
            mean    se  subjects
    method
    layout  0.05  0.04         1
    mean    0.25  0.00         1
    """

    predictions: pd.DataFrame
    success: pd.Series
    convergence: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=STATUS))
    constant: Sequence[str] = ()
    split: str = ""
    resamples: int = 500
    prob: float = 0.9
    seed: int = 1

    @property
    def methods(self) -> list[str]:
        """Names of the methods; the first is the reference."""
        return [str(name) for name in self.predictions["method"].unique()]

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return [str(name) for name in self.success.index]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Scores of each method, repeat and subject, over all folds of the repeat.

        Columns are ``method``, ``repeat``, ``subject`` and those of `score_forecast` but
        ``outside_training``. ``auroc`` is NaN where outcomes are all the same or the method
        predicts one number for all items; ``remark`` states the reason.
        """
        cells, chances = self._scored
        keys = cells.drop_duplicates("group")[_KEYS].reset_index(drop=True)
        counts = [cells[name].to_numpy() for name in ("won", "lost", "group")]
        tables = [keys.join(score_table(means, *counts)) for means in chances.T]
        table = pd.concat(tables, keys=self.methods, names=["method"]).reset_index("method")
        constant = table["method"].isin(self._without_items)
        table.loc[constant, "auroc"] = np.nan
        table.loc[constant & (table["remark"] == ""), "remark"] = ONE_NUMBER
        return table.sort_values("repeat", kind="stable", ignore_index=True)

    def per_subject(self, column: str = "brier") -> pd.DataFrame:
        """Average a score of each subject over repeats.

        Parameters
        ----------
        column : str
            Name of the score.

        Returns
        -------
        DataFrame
            One row per subject, one column per method.

        Raises
        ------
        DataError
            When there is no such score.
        """
        need_columns(self.scores.columns, [column], "the scores have")
        means = self.scores.groupby(["subject", "method"], sort=False)[column].mean()
        return means.unstack("method")[self.methods]

    def summary(
        self, column: str = "brier", success: tuple[float, float] = (0.0, 1.0)
    ) -> pd.DataFrame:
        """Score each method, with the standard error over repeats.

        Parameters
        ----------
        column : str
            Name of the score.
        success : (float, float)
            Closed interval of success rates; only subjects in it are included.

        Returns
        -------
        DataFrame
            Indexed by method: ``mean``, the score over all repeats; ``se`` (standard error of the
            scores of single repeats, which are splits of the same items; NaN for a single one) and
            ``subjects``, the number of subjects with a score.

        Raises
        ------
        DataError
            When there is no such score, or no outcome to score.
        """
        scores = self.per_subject(column)
        cells, _ = self._scored
        chosen = self.success.index[self.success.between(*success)]
        inside = cells["subject"].isin(chosen).to_numpy()
        columns = {"mean": np.nan, "se": np.nan, "subjects": scores.reindex(chosen).count()}
        if inside.any():
            repeat = cells["repeat"].to_numpy()
            single = [self._totals(inside & (repeat == one))[column] for one in np.unique(repeat)]
            with np.errstate(invalid="ignore"):  # an infinite log score has no standard deviation
                errors = pd.DataFrame(single).sem().to_numpy()
            columns |= {"mean": self._totals(inside)[column], "se": errors}
        return pd.DataFrame(columns, pd.Index(self.methods, name="method"))

    def differences(self, *, weights: Literal["success"] | None = None) -> pd.DataFrame:
        """Score methods, with their differences to the first method's, by a bootstrap over items.

        Items are drawn with replacement. All methods and subjects have the same items in a
        resample, so that differences are paired by outcome. The calibration error of resampled
        items is larger than that of the items, because chance increases the gap in each bin.
        Intervals are therefore shifted so that the median of the resamples is the difference, which
        always lies inside.

        Parameters
        ----------
        weights : {"success"}, optional
            Weights of subjects: their success rates, as in the general scales paper's tables
            (default: equal weights of all attempts).

        Returns
        -------
        DataFrame
            Indexed by method: ``auroc``; its difference to that of the first method,
            ``auroc_difference``, with the bootstrap standard error ``auroc_se`` and the ends
            ``auroc_low`` and ``auroc_high`` of an equal-tailed interval; the same for ``ece`` and
            ``brier``, of which lower values are better; ``subjects``, the number of subjects with
            outcomes, and ``auroc_subjects``, those with an AUROC. Intervals describe these subjects
            on other items of the same kind, with the same training outcomes. They do not include
            the variation between training sets or choices of groups.

        Raises
        ------
        DataError
            When no outcome has a prediction of every method.
        FitError
            When the weights are unknown.
        """
        if weights not in (None, "success"):
            raise FitError(f"weights={weights!r}; give 'success', or omit it")
        cells, _ = self._scored
        of_cells = np.ones(len(cells))
        if weights == "success":
            of_cells = self.success.loc[cells["subject"]].to_numpy(dtype=float)
        if not of_cells.any():
            raise DataError("no subject has a success to be weighted by; omit weights=")
        items, names = pd.factorize(cells["item"])
        rng = np.random.default_rng([self.seed, 1])  # a random stream other than that of the folds
        drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), self.resamples)
        totals = self._totals(of_cells)
        blocks = [
            self._totals(of_cells, drawn[first : first + _TOGETHER].T[items])
            for first in range(0, self.resamples, _TOGETHER)
        ]
        table = pd.DataFrame(index=pd.Index(self.methods, name="method"))
        for name in SCORES:
            resampled = np.concatenate([block[name] for block in blocks], axis=1)
            spread = pd.DataFrame((resampled - resampled[0]).T, columns=self.methods)
            difference = totals[name] - totals[name][0]
            moved = difference - spread.median()
            table[name], table[f"{name}_difference"] = totals[name], difference
            table[f"{name}_se"] = spread.std()
            table[f"{name}_low"] = spread.quantile((1 - self.prob) / 2) + moved
            table[f"{name}_high"] = spread.quantile((1 + self.prob) / 2) + moved
        areas = self.per_subject("auroc").reindex(cells.loc[of_cells > 0, "subject"].unique())
        with_area = int(areas.notna().any(axis=1).sum())
        return table.assign(subjects=len(areas), auroc_subjects=with_area)

    def by(self, where: str | pd.Series | None = None) -> pd.DataFrame:
        r"""Score predictions in groups: by condition or by any other property.

        All subjects and repeats of a group are scored together. With n trials, y successes and the
        prediction p of each of the group's cells c,

        .. math:: \mathrm{gap} = \frac{1}{N} \sum_c r_c, \quad r_c = n_c p_c - y_c, \quad
            \mathrm{se}^2 = \frac{I}{I - 1} \frac{1}{N^2}
            \sum_{i=1}^{I} \Big(\sum_{c \in i} (r_c - n_c \, \mathrm{gap})\Big)^2

        with N trials of I items. The standard error is clustered, because the errors of an item's
        cells may be correlated.

        Parameters
        ----------
        where : str or Series, optional
            Values that define the groups: a column of `predictions`, such as ``"subject"``, or a
            property by item, such as ``pd.qcut(items["size"], 5)``. By default, all predictions are
            one group.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``method``: ``trials``; ``success``, their rate; ``forecast``,
            the mean prediction; ``gap``, forecast minus success, with its standard error ``gap_se``
            clustered by item; and the scores of `summary` of the group's outcomes.

        Raises
        ------
        DataError
            When an item has no group, or there is no such column.

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
        >>> held = cross_validate(["aggregate"], evaluation, split=far, progressbar=False)
        >>> far_off = np.floor(evaluation.items["size"])
        >>> held.by(far_off)[["success", "forecast", "gap", "gap_se"]].round(2)
                         success  forecast   gap  gap_se
        group method
        4.0   aggregate     0.50      0.66  0.16    0.06
        5.0   aggregate     0.30      0.66  0.36    0.06
        6.0   aggregate     0.18      0.66  0.48    0.05
        """
        cells, chances = self._scored
        if where is None:
            values = pd.Series("", cells.index)
        elif isinstance(where, str):
            remedy = "give one of these, or a Series by item"
            need_columns(cells.columns, [where], f"by({where!r}): predictions have", remedy)
            values = cells[where]
        else:
            values = where.rename(index=str).reindex(cells["item"])
        lacking = cells["item"][values.isna().to_numpy()]
        if len(lacking):
            raise DataError(
                f"by: {some(lacking.unique())} has no group; give a value for each held-out item"
            )
        groups, names = pd.factorize(values, sort=not pd.api.types.is_string_dtype(values.dtype))
        trials = (cells["won"] + cells["lost"]).to_numpy()[:, None]
        residual = chances - cells[["won"]].to_numpy() / trials
        tables = []
        for group in range(len(names)):
            rows = np.flatnonzero(groups == group)
            totals, weight = self._totals(groups == group), trials[rows]
            gap = (residual[rows] * weight).sum(axis=0) / weight.sum()
            sums = pd.DataFrame((residual[rows] - gap) * weight)
            sums = sums.groupby(cells["item"].to_numpy()[rows]).sum()
            totals["forecast"], totals["gap"] = totals["success"] + gap, gap
            totals["gap_se"] = np.sqrt(len(sums) * sums.var().to_numpy()) / weight.sum()
            tables.append(pd.DataFrame(totals, pd.Index(self.methods, name="method"))[list(_BY)])
        return pd.concat(tables, keys=names, names=["group"])

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
            ten bins, all repeats, and intervals of mass `prob`. If `pooled`, indexed by ``bin``.

        Raises
        ------
        FitError
            When there is no such method.
        """
        method = self.methods[0] if method is None else method
        if method not in self.methods:
            raise FitError(f"no predictions of {method}; the methods are {some(self.methods)}")
        cells, chances = self._scored
        cells = cells.assign(probability=chances[:, self.methods.index(method)])
        curves = {}
        for name, rows in [("", cells)] if pooled else cells.groupby("subject", sort=False):
            means, won, trials = rows[["probability", "successes", "trials"]].to_numpy().T
            counts = won.astype(int), trials.astype(int)
            curves[name] = rates_in_bins(means, *counts, BINS, self.prob)
        return curves[""] if pooled else pd.concat(curves, names=["subject", "bin"])

    @cached_property
    def _scored(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Outcomes that every method predicts, and the predictions, (outcomes, methods).

        Outcomes have also ``won`` and ``lost``, their weights as successes and failures, the number
        of their ``group``, a subject in a repeat, and the ``kind`` of the outcome and step.
        """
        count = len(self.methods)
        chances = self.predictions["probability"].to_numpy().reshape(-1, max(1, count))
        complete = ~np.isnan(chances).any(axis=1)
        if not complete.any():
            raise DataError(
                "no outcome has a prediction of every method; see convergence, and leave out the "
                "methods that failed"
            )
        cells = self.predictions.drop(columns=["method", "probability"]).iloc[::count]
        cells = cells[complete].reset_index(drop=True).assign(kind="")
        steps: Any = 1
        if "steps" in cells:
            rows, steps = Rows.read(cells["item"]), cells["steps"]
            cells["item"], cells["kind"] = rows.item, rows.outcome + " ≥ " + rows.step
        won, lost = cells["successes"] / steps, (cells["trials"] - cells["successes"]) / steps
        group = cells.groupby(_KEYS, sort=False).ngroup()
        return cells.assign(won=won, lost=lost, group=group), chances[complete]

    @cached_property
    def _without_items(self) -> list[str]:
        """Methods that predict the same for all items of a subject and fold."""
        cells, chances = self._scored
        keys = [cells[name].to_numpy() for name in (*_KEYS, "fold", "kind")]
        of_folds = pd.DataFrame(chances, columns=self.methods).groupby(keys)
        constant = (of_folds.max() == of_folds.min()).all() & bool((of_folds.size() > 1).any())
        return [name for name in self.methods if constant[name] or name in self.constant]

    def _totals(self, weight: np.ndarray, times: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Score all methods, given weights of the outcomes and how often each is drawn.

        Parameters
        ----------
        weight : ndarray, shape (outcomes,)
            Weights, which within a subject are 0 or another number.
        times : ndarray, shape (outcomes, resamples), optional
            Number of times that each outcome counts.

        Returns
        -------
        dict of str to ndarray, shape (methods,) or (methods, resamples)
            Scores of all outcomes together; ``auroc`` is the mean over repeats and subjects.
        """
        cells, chances = self._scored
        rows = np.flatnonzero(weight)
        group = pd.factorize(cells["group"].to_numpy()[rows])[0]
        of_group = pd.Series(weight[rows]).groupby(group).first().to_numpy(dtype=float)
        won, lost = cells[["won", "lost"]].to_numpy().T[:, rows] * weight[rows]
        if times is not None:
            won, lost, of_group = (values[:, None] for values in (won, lost, of_group))
            won, lost = won * times[rows], lost * times[rows]
        scored = []
        for method, predictions in zip(self.methods, chances[rows].T, strict=True):
            totals = scores_in_groups(predictions, won, lost)
            areas = scores_in_groups(predictions, won, lost, group)["auroc"]
            shares = of_group * (np.isfinite(areas) & (method not in self._without_items))
            area = rates((np.nan_to_num(areas) * shares).sum(axis=0), shares.sum(axis=0))
            scored.append({name: total[0] for name, total in totals.items()} | {"auroc": area})
        return {name: np.stack([one[name] for one in scored]) for name in scored[0]}

    def __repr__(self) -> str:
        repeats = many(int(self.predictions["repeat"].nunique()), "repeat")
        who = many(len(self.subjects), "subject")
        return f"<CrossValidation: {some(self.methods, 9)}, {who}, {repeats} of {self.split}>"

    def _overview(self) -> Overview:
        tables = {name: self.summary(name)[["mean", "se"]] for name in _SHOWN}
        scores = pd.concat(tables, axis=1).round(3)
        facts = {
            name: ", ".join(f"{score} {scores[score, 'mean'][name]}" for score in _SHOWN)
            for name in self.methods
        }
        missing = self.predictions["probability"].isna()
        if missing.any():
            lacking = some(pd.unique(self.predictions.loc[missing, "subject"]))
            facts["left out"] = f"outcomes that some method does not predict ({lacking})"
        if self._without_items:
            facts["no AUROC"] = f"{some(self._without_items)}: {ONE_NUMBER}"
        for name, rows in self.convergence.groupby("method", sort=False):
            bad = int(rows["status"].isin(UNTRUSTED).sum())
            fits = many(len(rows), "fit")
            facts[f"fits of {name}"] = f"{bad} of {fits} not converged or failed; see convergence"
        calls = {
            "held.summary()": "a score with its standard error over repeats",
            "held.differences()": "differences to the first method, with intervals",
            "held.per_subject()": "each subject's scores",
        }
        return Overview(facts, calls, {"scores": scores})
