"""Success among accepted items as a function of the share that is accepted."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import many
from ..common.options import inside
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from ..inference.given import refuse_no_forecast
from ..validation.prediction.score import matched
from .accept import promised, single

EVERYBODY = ""
"""Name of the rows for all subjects together."""

_SCORES = ("mean", "low")


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
    >>> found = risk_coverage(forecast, Evaluation.from_wide(outcomes, items))
    >>> found.largest(0.9)
    subject
    Ann    0.666667
           0.666667
    Name: coverage, dtype: float64
    """

    curve: pd.DataFrame
    areas: pd.DataFrame

    def largest(self, success: float = 0.9) -> pd.Series:
        """Compute the largest share of attempts that can be accepted at a required success.

        It is computed from the same outcomes and is therefore optimistic; `reliable_region` gives a
        guarantee.

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
        attempts, area, excess = (
            float(self.areas[name][EVERYBODY]) for name in ("attempts", "area", "excess")
        )
        return (
            f"<RiskCoverage: {many(len(self.areas) - 1, 'subject')}, "
            f"{many(int(attempts), 'attempt')}, area {area:.3f} "
            f"({excess:.3f} above the best)>"
        )


def risk_coverage(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    by: str = "mean",
    training_items: bool = False,
    reused_names: bool = False,
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
    training_items, reused_names : bool
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
    >>> found = risk_coverage(forecast, Evaluation.from_wide(outcomes, items))
    >>> found.curve[found.curve["subject"] == "Ann"].round(2)
      subject  score  coverage  success
    0     Ann    0.9      0.33     1.00
    1     Ann    0.6      0.67     0.50
    2     Ann    0.3      1.00     0.67
    """
    refuse_no_forecast(forecast)
    if by not in _SCORES:
        raise FitError(f"by={by!r}; give one of {', '.join(_SCORES)}")
    cells = scored(
        forecast, evaluation, by=by, training_items=training_items, reused_names=reused_names
    )
    parts = [*cells.groupby("subject", sort=False), (EVERYBODY, cells)]
    curves, areas = [], {}
    for name, own in parts:
        curve, area = _one(own)
        curves.append(curve.assign(subject=name))
        areas[name] = area
    table = pd.concat(curves, ignore_index=True)[["subject", "score", "coverage", "success"]]
    return RiskCoverage(table, pd.DataFrame.from_dict(areas, orient="index").rename_axis("subject"))


def scored(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    by: str,
    training_items: bool,
    reused_names: bool,
) -> pd.DataFrame:
    """List the cells with an outcome: ``subject``, ``score``, ``successes`` and ``trials``."""
    single(forecast, "risk-coverage")
    chosen, successes, trials = matched(
        forecast, evaluation, training_items=training_items, reused_names=reused_names
    )
    own = Forecast(chosen, forecast.prob)
    score = promised(own) if by == "low" else chosen["mean"].transpose("subject", "item").to_numpy()
    row, column = np.nonzero((trials.to_numpy() > 0) & ~np.isnan(score))
    return pd.DataFrame(
        {
            "subject": trials.index.to_numpy()[row],
            "score": score[row, column],
            "successes": successes.to_numpy()[row, column],
            "trials": trials.to_numpy()[row, column],
        }
    )


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
    return curve, {
        "attempts": int(most),
        "success": total / most,
        "area": area,
        "best": best,
        "excess": area - best,
    }
