"""Acceptance of items for subjects, at a required success and confidence."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..common.options import inside, whole
from ..common.proportions import clopper_pearson, rates
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from ..inference.given import refuse_no_forecast
from ..validation.prediction.score import matched

NOT_CLAIMABLE = "not claimable"


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """Items that are accepted for each subject.

    It is made by `accept` and by `Region.accept`.

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
        reused_names: bool = False,
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
        training_items, reused_names : bool
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
            self.forecast, evaluation, training_items=training_items, reused_names=reused_names
        )
        wide = self.table.pivot(index="subject", columns="item", values="accepted")
        subjects, items = chosen["subject"].to_numpy(), chosen["item"].to_numpy()
        accepted = wide.loc[subjects, items].to_numpy(dtype=bool)
        tried = trials.to_numpy() > 0
        own = accepted & tried
        attempts = np.where(own, trials, 0).sum(axis=1)
        passed = np.where(own, successes, 0).sum(axis=1)
        low, high = clopper_pearson(passed, attempts, prob)
        share = rates(passed, attempts)
        count = own.sum(axis=1)
        verdict = np.select(
            [count < fewest, share >= self.success, high >= self.success],
            [NOT_CLAIMABLE, "holds", "within error"],
            "fails",
        )
        found = pd.DataFrame(
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
        return found[found["items"] > 0]

    def __repr__(self) -> str:
        counts = self.subjects
        who = some(counts.index) if len(counts) == 1 else many(len(counts), "subject")
        told = f"{int(counts['accepted'].sum())} of {many(len(self.table), 'item')}"
        return f"<Acceptance: {told} accepted for {who} at a success of {self.success:g}>"


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
    refuse_no_forecast(forecast)
    success = inside("success", success, such_as=0.9)
    single(forecast, "accept")
    mean = forecast.data["mean"].transpose("subject", "item").to_numpy()
    own = promised(forecast) if cautious else mean
    chosen = np.array([_together(row, success) for row in own]) if together else own >= success
    what = "the lower end of the interval" if cautious and (own != mean).any() else "the mean"
    rule = f"{what} of the items {'together' if together else 'each'} is at least {success:g}"
    return acceptance(forecast, chosen.reshape(mean.shape), success, rule)


def promised(forecast: Forecast) -> np.ndarray:
    """Return lower ends of intervals, or means without intervals; shape (subjects, items)."""
    mean, low = (
        forecast.data[name].transpose("subject", "item").to_numpy() for name in ("mean", "low")
    )
    return np.where(np.isnan(low), mean, low)


def acceptance(forecast: Forecast, chosen: np.ndarray, success: float, rule: str) -> Acceptance:
    """Tabulate accepted items, given as an array of shape (subjects, items)."""
    wide = forecast.data[["mean", "low"]].to_dataframe(["subject", "item"])[["mean", "low"]]
    table = wide.assign(accepted=chosen.ravel()).reset_index()
    return Acceptance(table, success, rule, forecast)


def single(forecast: Forecast, verb: str) -> None:
    """Refuse forecasts of steps of outcomes."""
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
