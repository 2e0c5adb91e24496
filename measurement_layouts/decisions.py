"""Decisions with forecasts: the items that a subject is given, and the subject for each item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from .common.errors import DataError, FitError
from .common.messages import many, some
from .common.options import inside, whole
from .common.proportions import clopper_pearson, rates
from .evaluations.evaluation import Evaluation
from .inference.forecasts.forecasting import Forecast
from .inference.given import refuse_no_forecast
from .validation.prediction.score import matched

__all__ = ["Acceptance", "RiskCoverage", "Routing", "accept", "risk_coverage", "route"]

NOT_CLAIMABLE = "not claimable"
UNROUTED = ""
"""Subject of an item for which no subject is accepted."""
EVERYBODY = ""
"""Name of the rows for all subjects together."""


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """Items that are accepted for each subject.

    It is made by `accept`.

    Attributes
    ----------
    table : DataFrame
        One row per subject and item: ``subject``, ``item``, the forecast's ``mean`` and ``low``,
        and whether the item is ``accepted``.
    success : float
        Required chance of success, in (0, 1).
    rule : str
        Description of the rule of acceptance.
    forecast : Forecast
        Forecast that it is based on.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.95, 0.4]]), ["Ann"], ["easy", "hard"])
    >>> accept(forecast, success=0.9)
    <Acceptance: 1 of 2 items accepted for Ann at a success of 0.9>
    """

    table: pd.DataFrame
    success: float
    rule: str
    forecast: Forecast

    @property
    def subjects(self) -> pd.DataFrame:
        """Count the accepted items of each subject.

        Returns
        -------
        DataFrame
            Indexed by subject: ``items``, ``accepted``, ``coverage`` (the share of items that are
            accepted) and ``expected``, the mean forecast success on accepted items, which is NaN
            when no item is accepted.
        """
        grouped = self.table.groupby("subject", sort=False)["accepted"]
        accepted = self.table[self.table["accepted"]]
        return pd.DataFrame(
            {
                "items": grouped.size(),
                "accepted": grouped.sum(),
                "coverage": grouped.mean(),
                "expected": accepted.groupby("subject", sort=False)["mean"].mean(),
            }
        ).reindex(list(dict.fromkeys(self.table["subject"])))

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
        evaluation : Evaluation
            Outcomes; subjects and items are joined by name.
        fewest : int, default 50
            Least number of accepted items with an outcome that a subject needs for a claim.
        prob : float, default 0.9
            Probability mass of the exact interval of the share of successes, for independent
            attempts.
        training_items : bool
            As in `score_forecast`.

        Returns
        -------
        DataFrame
            Indexed by subject: ``items`` with an outcome, ``accepted`` of them, ``coverage``,
            ``attempts`` at the accepted items, ``share`` of them that succeed, with ``low`` and
            ``high`` (`clopper_pearson`), and ``verdict``: "holds" where the share is at least the
            required success, "within error" where `high` is, "fails" where it is not, and "not
            claimable" with fewer than `fewest` accepted items.

        Raises
        ------
        DataError
            When there is nothing to score, or an item was trained on.
        FitError
            When `fewest` or `prob` is out of range.
        """
        fewest, prob = whole("fewest", fewest, 1), inside("prob", prob, such_as=0.9)
        chosen, successes, trials = matched(
            self.forecast, evaluation, training_items=training_items
        )
        wide = self.table.pivot(index="subject", columns="item", values="accepted")
        subjects, items = chosen["subject"].to_numpy(), chosen["item"].to_numpy()
        accepted = wide.loc[subjects, items].to_numpy(dtype=bool)
        tried = trials.to_numpy() > 0
        scored = accepted & tried
        attempts = np.where(scored, trials, 0).sum(axis=1)
        passed = np.where(scored, successes, 0).sum(axis=1)
        low, high = clopper_pearson(passed, attempts, prob)
        share = rates(passed, attempts)
        count = scored.sum(axis=1)
        verdict = np.select(
            [count < fewest, share >= self.success, high >= self.success],
            [NOT_CLAIMABLE, "holds", "within error"],
            "fails",
        )
        table = pd.DataFrame(
            {
                "items": tried.sum(axis=1),
                "accepted": count,
                "coverage": count / np.maximum(tried.sum(axis=1), 1),
                "attempts": attempts,
                "share": share,
                "low": low,
                "high": high,
                "verdict": verdict,
            },
            index=pd.Index(subjects, name="subject"),
        )
        return table[table["items"] > 0]

    def __repr__(self) -> str:
        counts = self.subjects
        who = some(counts.index) if len(counts) == 1 else many(len(counts), "subject")
        share = f"{int(counts['accepted'].sum())} of {many(len(self.table), 'item')}"
        return f"<Acceptance: {share} accepted for {who} at a success of {self.success:g}>"


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
    success : float, default 0.9
        Required chance of success on each item, in (0, 1).
    cautious : bool, default True
        Whether the lower end of the forecast must reach `success`; otherwise the mean must, which
        is the share of many such items that succeeds. For a forecast without intervals, such as
        that of a baseline, the mean is used.
    together : bool, default False
        Whether items are accepted by their average: the best items, as many as have a mean of lower
        ends (or of means) of at least `success`. The confidence of averaged lower ends is c also
        when all items have the same error.

    Returns
    -------
    Acceptance
        Accepted items of each subject; its method `check` compares them with outcomes.

    Raises
    ------
    FitError
        When `success` is not between 0 and 1.
    DataError
        When `forecast` is something else, or the rows of the forecast are steps of outcomes.

    References
    ----------
    Geifman, Y. and El-Yaniv, R. (2017), Selective classification for deep neural networks, for
    accepting by a threshold; Chow, C. K. (1970), On optimum recognition error and reject tradeoff,
    IEEE Transactions on Information Theory 16.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.99, 0.92, 0.85, 0.4]])
    >>> forecast = point_forecast(chances, ["Ann"], ["a", "b", "c", "d"])
    >>> accept(forecast, success=0.9).table["accepted"].tolist()
    [True, True, False, False]
    >>> accept(forecast, success=0.9, together=True).table["accepted"].tolist()
    [True, True, True, False]
    """
    success = inside("success", success, such_as=0.9)
    _refuse_steps(forecast, "accept")
    mean = _scores(forecast.data, "mean")
    score = _scores(forecast.data, "low") if cautious else mean
    chosen = np.array([_together(row, success) for row in score]) if together else score >= success
    what = "the lower end of the interval" if cautious and (score != mean).any() else "the mean"
    rule = f"{what} of the items {'together' if together else 'each'} is at least {success:g}"
    wide = forecast.data[["mean", "low"]].to_dataframe(["subject", "item"])[["mean", "low"]]
    return Acceptance(wide.assign(accepted=chosen.ravel()).reset_index(), success, rule, forecast)


def _scores(data: xr.Dataset, by: str) -> np.ndarray:
    """Return means, or lower ends (means without intervals); shape (subjects, items)."""
    score = data["mean"] if by == "mean" else data["low"].fillna(data["mean"])
    return score.transpose("subject", "item").to_numpy()


def _refuse_steps(forecast: Forecast, verb: str) -> None:
    """Refuse what is no forecast, and forecasts of steps of outcomes."""
    refuse_no_forecast(forecast)
    if forecast.rows is not None:
        raise DataError(
            f"{verb}: the forecast has a row for each step of {some(set(forecast.rows.outcome))}, "
            "and items are accepted for a single Success; fit a layout of one outcome"
        )


def _together(row: np.ndarray, success: float) -> np.ndarray:
    """Accept as many of the best items as possible, so that their average reaches `success`."""
    order = np.argsort(-row, kind="stable")
    averages = np.cumsum(row[order]) / np.arange(1, len(row) + 1)
    chosen = np.zeros(len(row), dtype=bool)
    chosen[order[: int((averages >= success).sum())]] = True  # averages never rise
    return chosen


@dataclass(frozen=True, eq=False, repr=False)
class Routing:
    """Assignment of items to subjects, with its cost.

    It is made by `route`.

    Attributes
    ----------
    table : DataFrame
        Indexed by item: ``subject`` (empty when no subject is accepted), its ``cost``, and ``mean``
        and ``low`` of the forecast; these are NaN when there is no subject.
    subjects : DataFrame
        Indexed by subject: the number of ``items`` that are routed to it, their total ``cost``, the
        ``expected`` number of successes, the number of items for which it is ``accepted``, and
        ``alone``, the cost of all items if it did all of them.
    success : float
        Required chance of success.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.95, 0.5], [0.99, 0.97]])
    >>> forecast = point_forecast(chances, ["small", "large"], ["easy", "hard"])
    >>> route(forecast, {"small": 1, "large": 10})
    <Routing: 2 of 2 items routed at a cost of 11, 1.92 successes expected>
    """

    table: pd.DataFrame
    subjects: pd.DataFrame
    success: float

    @property
    def unrouted(self) -> list[str]:
        """Items for which no subject is accepted."""
        return list(self.table.index[self.table["subject"] == UNROUTED])

    @property
    def cost(self) -> float:
        """Total cost of all routed items, in the unit of the costs."""
        return float(self.table["cost"].sum())

    @property
    def expected(self) -> float:
        """Expected number of successes on the routed items."""
        return float(self.table["mean"].sum())

    def __repr__(self) -> str:
        routed = len(self.table) - len(self.unrouted)
        return (
            f"<Routing: {routed} of {many(len(self.table), 'item')} routed at a cost of "
            f"{self.cost:g}, {self.expected:.3g} successes expected>"
        )


def route(
    forecast: Forecast,
    costs: Mapping[str, float] | pd.Series | pd.DataFrame,
    *,
    success: float = 0.9,
    cautious: bool = True,
) -> Routing:
    r"""Give each item to the cheapest subject that is accepted for it.

    .. math:: s(i) = \operatorname*{arg\,min}_{s:\, q_c(p_{si}) \ge \mathrm{success}} C_{si}

    with the rule of `accept`. Of subjects with the same cost, the one with the highest mean is
    chosen. This is the cheapest way to do all items that can be done at the required success.

    Parameters
    ----------
    forecast : Forecast
        Forecast of all subjects on the items.
    costs : mapping, Series or DataFrame
        Costs of an item, in one unit: a finite number of at least 0 for each subject, or a table
        with a row for each subject and a column for each item.
    success, cautious
        As in `accept`.

    Returns
    -------
    Routing
        Assignment of items to subjects, its costs, the expected successes, and the items that are
        not routed.

    Raises
    ------
    DataError
        When `forecast` is something else, a cost is missing, negative or not finite, or rows are
        steps of outcomes.
    FitError
        When `success` is not between 0 and 1.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> chances = np.array([[0.95, 0.5, 0.1], [0.99, 0.97, 0.6]])
    >>> forecast = point_forecast(chances, ["small", "large"], ["easy", "hard", "hardest"])
    >>> routing = route(forecast, {"small": 1, "large": 10})
    >>> routing.table["subject"].to_dict()
    {'easy': 'small', 'hard': 'large', 'hardest': ''}
    >>> routing.subjects
             items  cost  expected  accepted  alone
    subject
    small        1   1.0      0.95         1    3.0
    large        1  10.0      0.97         2   30.0
    """
    accepted = accept(forecast, success=success, cautious=cautious)
    subjects, items = (forecast.data[name].to_numpy() for name in ("subject", "item"))
    prices = _prices(costs, subjects, items)
    shape = len(subjects), len(items)
    allowed, mean, low = (
        accepted.table[name].to_numpy().reshape(shape) for name in ("accepted", "mean", "low")
    )
    order = np.lexsort((-mean, np.where(allowed, prices, np.inf)), axis=0)[0]
    routed = allowed.any(axis=0)
    cell = order, np.arange(len(items))
    table = pd.DataFrame(
        {"subject": subjects[order], "cost": prices[cell], "mean": mean[cell], "low": low[cell]},
        index=pd.Index(items, name="item"),
    )
    table.loc[~routed] = cast(Any, [UNROUTED, np.nan, np.nan, np.nan])
    assigned = routed & (order == np.arange(len(subjects))[:, None])
    return Routing(
        table,
        pd.DataFrame(
            {
                "items": assigned.sum(axis=1),
                "cost": np.where(assigned, prices, 0).sum(axis=1),
                "expected": np.where(assigned, mean, 0).sum(axis=1),
                "accepted": allowed.sum(axis=1),
                "alone": prices.sum(axis=1),
            },
            index=pd.Index(subjects, name="subject"),
        ),
        accepted.success,
    )


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
    """Success among accepted items over the share accepted.

    It is made by `risk_coverage`, which defines the numbers.

    Attributes
    ----------
    curve : DataFrame
        One row per subject and different score, the highest first: ``subject`` (empty for all
        together), ``score``, ``coverage`` in (0, 1], and ``success`` of all attempts with at least
        that score.
    areas : DataFrame
        Indexed by subject, as in `curve`: ``attempts``, ``success`` of them, ``area`` above the
        curve, ``best``, the area for a forecast that equals the outcomes, and ``excess``, the
        difference. Lower is better; a forecast without information has an area of 1 - success.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.9, 0.6, 0.3]]), ["Ann"], ["a", "b", "c"])
    >>> items = pd.DataFrame(index=["a", "b", "c"])
    >>> outcomes = pd.DataFrame([[1, 1, 0]], ["Ann"], items.index)
    >>> order = risk_coverage(forecast, Evaluation.from_wide(outcomes, items))
    >>> order.largest(0.9)
    subject
    Ann    0.666667
           0.666667
    Name: coverage, dtype: float64
    """

    curve: pd.DataFrame
    areas: pd.DataFrame

    def largest(self, success: float = 0.9) -> pd.Series:
        """Compute the largest share of attempts that can be accepted at a required success.

        It is computed from the same outcomes and is therefore optimistic; choose the share with one
        half of the outcomes and compare it with the other.

        Parameters
        ----------
        success : float, default 0.9
            Required success, in (0, 1).

        Returns
        -------
        Series
            Coverage, in [0, 1], by subject; 0 when no share reaches the required success.

        Raises
        ------
        FitError
            When `success` is not between 0 and 1.
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

    Attempts with the same score are accepted in random order, so that each counts with their mean.

    Parameters
    ----------
    forecast : Forecast
        Forecast of subjects on items.
    evaluation : Evaluation
        Outcomes; subjects and items are joined by name.
    by : {"mean", "low"}
        Score: the mean, or the interval's lower end (the mean for forecasts without intervals).
    training_items : bool
        As in `score_forecast`.

    Returns
    -------
    RiskCoverage
        A curve and its area for each subject, and for all attempts together.

    Raises
    ------
    DataError
        When `forecast` is something else, there is nothing to score, an item was trained on, or
        rows are steps of outcomes.
    FitError
        When `by` has another value.

    References
    ----------
    El-Yaniv, R. and Wiener, Y. (2010), On the foundations of noise-free selective classification,
    Journal of Machine Learning Research 11, for the curve; Geifman, Y., Uziel, G. and El-Yaniv, R.
    (2019), Bias-reduced uncertainty estimation for deep neural classifiers, for its area and the
    excess.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.9, 0.6, 0.3]]), ["Ann"], ["a", "b", "c"])
    >>> items = pd.DataFrame(index=["a", "b", "c"])
    >>> outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], items.index)
    >>> order = risk_coverage(forecast, Evaluation.from_wide(outcomes, items))
    >>> order.curve[order.curve["subject"] == "Ann"].round(2)
      subject  score  coverage  success
    0     Ann    0.9      0.33     1.00
    1     Ann    0.6      0.67     0.50
    2     Ann    0.3      1.00     0.67
    """
    _refuse_steps(forecast, "risk-coverage")
    if by not in ("mean", "low"):
        raise FitError(f"by={by!r}; give one of mean, low")
    chosen, successes, trials = matched(forecast, evaluation, training_items=training_items)
    score = _scores(chosen, by)
    row, column = np.nonzero((trials.to_numpy() > 0) & ~np.isnan(score))
    cells = pd.DataFrame(
        {
            "subject": trials.index.to_numpy()[row],
            "score": score[row, column],
            "successes": successes.to_numpy()[row, column],
            "trials": trials.to_numpy()[row, column],
        }
    )
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
    most, total = float(tried.sum()), float(passed.sum())
    curve = pd.DataFrame(
        {
            "score": grouped.index,
            "coverage": tried.cumsum() / most,
            "success": passed.cumsum() / tried.cumsum(),
        }
    )
    rates = np.repeat(passed / tried, tried.astype(int))
    accepted = np.arange(1, len(rates) + 1)
    area = float(1 - (rates.cumsum() / accepted).mean())
    best = float(1 - np.minimum(1, total / accepted).mean())
    summary = {"attempts": int(most), "success": total / most, "area": area, "best": best}
    return curve, {**summary, "excess": area - best}
