"""Decisions with forecasts: the items that a subject is given, and the subject for each item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from .common.errors import DataError, FitError
from .common.messages import many, some
from .common.options import inside, whole
from .common.proportions import clopper_pearson, rates
from .evaluations.evaluation import Evaluation
from .inference.forecasts.forecasting import Forecast
from .inference.given import refuse_no_forecast
from .validation.prediction.score import matched

__all__ = ["Acceptance", "RiskCoverage", "accept", "risk_coverage", "route"]

NOT_CLAIMABLE = "not claimable"
UNROUTED = ""  # subject of an item for which no subject is accepted
EVERYBODY = ""  # name of the rows for all subjects together


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """Items that are accepted for each subject; made by `accept`.

    Attributes
    ----------
    table : DataFrame
        A row per subject and item: ``subject``, ``item``, the forecast's ``mean`` and ``low``, and
        whether the item is ``accepted``.
    success, forecast
        Required chance of success, and the forecast.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.95, 0.4]]), ["Ann"], ["easy", "hard"])
    >>> accept(forecast, success=0.9)
    <Acceptance: 1 of 2 items accepted for Ann at a success of 0.9>
    """

    table: pd.DataFrame
    success: float
    forecast: Forecast

    @property
    def subjects(self) -> pd.DataFrame:
        """By subject: ``items``, ``accepted``, ``coverage``, ``expected`` success (NaN of none)."""
        expected = self.table["mean"].where(self.table["accepted"])
        table = self.table.assign(expected=expected).groupby("subject", sort=False)
        counts = table["accepted"].agg(["size", "sum", "mean"])
        counts.columns = ["items", "accepted", "coverage"]
        return counts.assign(expected=table["expected"].mean())

    def check(
        self,
        evaluation: Evaluation,
        *,
        fewest: int = 50,
        prob: float = 0.9,
        training_items: bool = False,
    ) -> pd.DataFrame:
        """Compare accepted items with outcomes that were not used for the forecast.

        Parameters
        ----------
        evaluation, training_items
            Outcomes, joined by name, and options as in `score_forecast`.
        fewest : int
            Least number of accepted items with an outcome for a claim.
        prob : float
            Mass of the exact interval (Clopper and Pearson) of the share, for independent attempts.

        Returns
        -------
        DataFrame
            By subject: ``items`` with an outcome, ``accepted`` of them, ``coverage``, ``attempts``
            at the accepted items, ``share`` of them that succeed, with ``low`` and ``high``, and
            ``verdict``: "holds" where the share is at least the required success, "within error"
            where `high` is, "fails" where it is not, and "not claimable" with too few items.

        Raises
        ------
        DataError, FitError
            As `score_forecast`; and when `fewest` or `prob` is out of range.
        """
        fewest, prob = whole("fewest", fewest, 1), inside("prob", prob, such_as=0.9)
        _, successes, trials = matched(self.forecast, evaluation, training_items=training_items)
        accepted = self.table.pivot(index="subject", columns="item", values="accepted")
        tried = trials > 0
        scored = tried & accepted.loc[trials.index, trials.columns].to_numpy(dtype=bool)
        items, count = tried.sum(axis=1), scored.sum(axis=1)
        passed, attempts = (
            values.where(scored, 0).sum(axis=1).to_numpy() for values in (successes, trials)
        )
        low, high = clopper_pearson(passed, attempts, prob)
        share = rates(passed, attempts)
        verdict = np.select(
            [count < fewest, share >= self.success, high >= self.success],
            [NOT_CLAIMABLE, "holds", "within error"],
            "fails",
        )
        table = pd.DataFrame({"items": items, "accepted": count, "coverage": count / items})
        table = table.assign(attempts=attempts, share=share, low=low, high=high, verdict=verdict)
        return table[table["items"] > 0].rename_axis("subject")

    def __repr__(self) -> str:
        counts = self.subjects
        names = some(counts.index) if len(counts) == 1 else many(len(counts), "subject")
        share = f"{int(counts['accepted'].sum())} of {many(len(self.table), 'item')}"
        return f"<Acceptance: {share} accepted for {names} at a success of {self.success:g}>"


def accept(
    forecast: Forecast, success: float = 0.9, *, cautious: bool = True, together: bool = False
) -> Acceptance:
    r"""Accept the items on which a subject will probably succeed often enough.

    .. math:: i \text{ is accepted} \iff q_c(p_i) \ge s
        \iff \Pr(p_i \ge s \mid D) \ge c, \qquad c = \frac{1 + \mathrm{prob}}{2}

    with the chance of success :math:`p_i`, the required success s, and the quantile :math:`q_c`
    above which a share c of its distribution lies: the end ``low`` of the forecast's interval. With
    intervals of 90 %, items are thus accepted with a confidence of .95; for another confidence
    above .5, forecast with ``prob=2 * confidence - 1``. A wider interval accepts fewer items.

    Parameters
    ----------
    forecast : Forecast
        Forecast of a fit or of a baseline.
    success : float
        Required chance of success on each item, in (0, 1).
    cautious : bool
        Whether the lower end of the forecast must reach `success`; otherwise, and without
        intervals, the mean must, which is the share of many such items that succeeds.
    together : bool
        Whether items are accepted by their average: the best items, as many as have a mean of lower
        ends (or of means) of at least `success`. The confidence of averaged lower ends is c also
        when all items have the same error.

    Returns
    -------
    Acceptance
        Accepted items of each subject; its method `check` compares them with outcomes.

    Raises
    ------
    DataError, FitError
        When `forecast` is no forecast, or of steps; when `success` is not between 0 and 1.

    References
    ----------
    Geifman and El-Yaniv (2017), Selective classification for deep neural networks; Chow (1970), On
    optimum recognition error and reject tradeoff, IEEE Transactions on Information Theory 16.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.99, 0.92, 0.85, 0.4]])
    >>> forecast = point_forecast(chances, ["Ann"], ["a", "b", "c", "d"])
    >>> accept(forecast, success=0.9, together=True).table["accepted"].tolist()
    [True, True, True, False]
    """
    success = inside("success", success, such_as=0.9)
    table = _table(forecast, "accept")
    score = table["low"].fillna(table["mean"]) if cautious else table["mean"]
    if together:  # the mean of the best items never rises as others are added
        order = score.sort_values(ascending=False, kind="stable")
        means = order.groupby(table["subject"]).expanding().mean().droplevel(0)
        score = means.where(score.notna())
    return Acceptance(table.assign(accepted=score >= success), success, forecast)


def _table(forecast: Forecast, verb: str) -> pd.DataFrame:
    """Write means and lower ends with a row per subject and item; refuse steps of outcomes."""
    refuse_no_forecast(forecast)
    if forecast.rows is not None:
        raise DataError(
            f"{verb}: the forecast has a row for each step of {some(set(forecast.rows.outcome))}, "
            "and items are accepted for a single Success; fit a layout of one outcome"
        )
    columns = ["mean", "low"]
    return forecast.data[columns].to_dataframe(["subject", "item"])[columns].reset_index()


def route(
    forecast: Forecast,
    costs: Mapping[str, float] | pd.Series | pd.DataFrame,
    *,
    success: float = 0.9,
    cautious: bool = True,
) -> pd.DataFrame:
    r"""Give each item to the cheapest subject that is accepted for it.

    .. math:: s(i) = \operatorname*{arg\,min}_{s:\, q_c(p_{si}) \ge \mathrm{success}} C_{si}

    with the rule of `accept`. Of subjects with the same cost, the one with the highest mean is
    chosen. This is the cheapest way to do all items that can be done at the required success.

    Parameters
    ----------
    forecast, success, cautious
        As in `accept`.
    costs : mapping, Series or DataFrame
        Costs of an item, in one unit: a finite number of at least 0 for each subject, or a table
        with a row for each subject and a column for each item.

    Returns
    -------
    DataFrame
        By item: ``subject`` (empty when none is accepted), its ``cost``, and ``mean`` and ``low``
        of the forecast; these are NaN when there is no subject.

    Raises
    ------
    DataError, FitError
        As for `accept`, and when a cost is missing, negative or not finite.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.95, 0.5, 0.1], [0.99, 0.97, 0.6]])
    >>> forecast = point_forecast(chances, ["small", "large"], ["easy", "hard", "hardest"])
    >>> route(forecast, {"small": 1, "large": 10})[["subject", "cost", "mean"]]
            subject  cost  mean
    item
    easy      small   1.0  0.95
    hard      large  10.0  0.97
    hardest           NaN   NaN
    """
    accepted = accept(forecast, success=success, cautious=cautious)
    subjects, items = (forecast.data[name].to_numpy() for name in ("subject", "item"))
    prices = _prices(costs, subjects, items)
    allowed, mean, low = (
        accepted.table[name].to_numpy().reshape(prices.shape)
        for name in ("accepted", "mean", "low")
    )
    cheapest = np.lexsort((-mean, np.where(allowed, prices, np.inf)), axis=0)[0]
    cell = cheapest, np.arange(len(items))
    columns = {"cost": prices[cell], "mean": mean[cell], "low": low[cell]}
    table = pd.DataFrame({"subject": subjects[cheapest], **columns}, pd.Index(items, name="item"))
    table.loc[~allowed.any(axis=0)] = cast(Any, [UNROUTED, np.nan, np.nan, np.nan])
    return table


def _prices(
    costs: Mapping[str, float] | pd.Series | pd.DataFrame, subjects: np.ndarray, items: np.ndarray
) -> np.ndarray:
    """Read costs as (subjects, items)."""
    table = costs if isinstance(costs, pd.DataFrame) else pd.DataFrame({"": pd.Series(costs)})
    columns = items if isinstance(costs, pd.DataFrame) else [""]
    table = table.set_axis(table.index.map(str), axis=0)
    for what, names, given in (("subject", subjects, table.index), ("item", columns, table)):
        missing = [name for name in names if name not in given]
        if missing:
            raise DataError(f"costs: there are none of {what} {some(missing)}; give one for each")
    values = table.loc[subjects, columns].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        raise DataError(
            f"costs of {some(subjects[wrong.any(axis=1)])} are no finite numbers from 0; give one "
            "for each, in one unit"
        )
    return np.broadcast_to(values, (len(subjects), len(items)))


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverage:
    """Success among accepted items over the share accepted; made by `risk_coverage`.

    Attributes
    ----------
    curve : DataFrame
        By subject (empty for all together) and different score, the highest first: ``coverage``
        in (0, 1], and ``success`` of all attempts with at least that score.
    areas : DataFrame
        By subject: ``attempts``, ``success`` of them, ``area`` above the curve, ``best``, the area
        for a forecast that equals the outcomes, and ``excess``, the difference. Lower is better; a
        forecast without information has an area of 1 - success.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.9, 0.6, 0.3]]), ["Ann"], ["a", "b", "c"])
    >>> outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], ["a", "b", "c"])
    >>> known = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> risk_coverage(forecast, known)
    <RiskCoverage: 1 subject, 3 attempts, area 0.278 (0.167 above the best)>
    """

    curve: pd.DataFrame
    areas: pd.DataFrame

    def largest(self, success: float = 0.9) -> pd.Series:
        """Compute the largest share that can be accepted at a required success, in (0, 1).

        It is 0 where no share reaches that success. It is optimistic, because it is of the same
        outcomes: choose it with one half of them, and compare it with the other.
        """
        success = inside("success", success, such_as=0.9)
        enough = self.curve["coverage"].where(self.curve["success"] >= success, 0.0)
        return enough.groupby(self.curve["subject"], sort=False).max().rename("coverage")

    def __repr__(self) -> str:
        total: Any = self.areas.loc[EVERYBODY]
        return (
            f"<RiskCoverage: {many(len(self.areas) - 1, 'subject')}, "
            f"{many(int(total['attempts']), 'attempt')}, area {total['area']:.3f} "
            f"({total['excess']:.3f} above the best)>"
        )


def risk_coverage(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    by: str = "mean",
    training_items: bool = False,
) -> RiskCoverage:
    r"""Compute how success falls as more items are accepted in the order of their forecasts.

    With the n attempts in descending order of their score, the risk when k are accepted, and the
    area under it,

    .. math:: r_k = \frac{1}{k} \sum_{j \le k} (1 - y_j), \qquad A = \frac{1}{n} \sum_k r_k

    Attempts with the same score are in random order, so that each counts with their mean.

    Parameters
    ----------
    forecast, evaluation, training_items
        As in `score_forecast`.
    by : {"mean", "low"}
        Score: the mean, or the interval's lower end (the mean for forecasts without intervals).

    Returns
    -------
    RiskCoverage

    Raises
    ------
    DataError, FitError
        As `score_forecast`; when rows are steps of outcomes, or `by` has another value.

    References
    ----------
    El-Yaniv and Wiener (2010), On the foundations of noise-free selective classification, Journal
    of Machine Learning Research 11, for the curve; Geifman, Uziel and El-Yaniv (2019),
    Bias-reduced uncertainty estimation for deep neural classifiers, for its area and the excess.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.9, 0.6, 0.3]]), ["Ann"], ["a", "b", "c"])
    >>> outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], ["a", "b", "c"])
    >>> known = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> order = risk_coverage(forecast, known)
    >>> order.largest(0.9).round(2).to_dict()
    {'Ann': 0.33, '': 0.33}
    """
    table = _table(forecast, "risk-coverage")
    if by not in ("mean", "low"):
        raise FitError(f"by={by!r}; give one of mean, low")
    _, successes, trials = matched(forecast, evaluation, training_items=training_items)
    table["score"] = table[by].fillna(table["mean"])
    counts = pd.DataFrame({"successes": successes.stack(), "trials": trials.stack()})
    cells = table.join(counts, on=["subject", "item"], how="inner")
    cells = cells[(cells["trials"] > 0) & cells["score"].notna()]
    curves, areas = [], {}
    for name, attempts in [*cells.groupby("subject", sort=False), (EVERYBODY, cells)]:
        curve, areas[name] = _one(attempts)
        curves.append(curve.assign(subject=name))
    table = pd.concat(curves, ignore_index=True)[["subject", "score", "coverage", "success"]]
    return RiskCoverage(table, pd.DataFrame.from_dict(areas, orient="index").rename_axis("subject"))


def _one(cells: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, float]]:
    """Make one curve, and its area."""
    grouped = cells.groupby("score")[["successes", "trials"]].sum().sort_index(ascending=False)
    passed, tried = (grouped[name].to_numpy(dtype=float) for name in ("successes", "trials"))
    count, total = float(tried.sum()), float(passed.sum())
    coverage, success = tried.cumsum() / count, passed.cumsum() / tried.cumsum()
    curve = pd.DataFrame({"score": grouped.index, "coverage": coverage, "success": success})
    each = np.repeat(passed / tried, tried.astype(int))
    accepted = np.arange(1, len(each) + 1)
    area = float(1 - (each.cumsum() / accepted).mean())
    best = float(1 - np.minimum(1, total / accepted).mean())
    summary = {"attempts": int(count), "success": total / count, "area": area, "best": best}
    return curve, {**summary, "excess": area - best}
