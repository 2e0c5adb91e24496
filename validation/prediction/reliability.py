"""Calibration curve: how often the forecast comes true."""

import numpy as np
import pandas as pd

from ...common.options import inside, whole
from ...common.proportions import wilson
from ...evaluations.evaluation import Evaluation
from ...inference.forecasts.forecasting import Forecast
from .score import matched


def calibration_curve(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    bins: int = 10,
    prob: float = 0.9,
    training_items: bool = False,
    reused_names: bool = False,
) -> pd.DataFrame:
    r"""Hold mean forecasts against success rates, in bins of the forecast.

    Bins and averages are those of `scoring.expected_calibration_error`: bins equally wide over
    [0, 1], bin k being [k/bins, (k+1)/bins) and the last one including 1; all subjects' trials
    count alike.

    Parameters
    ----------
    forecast : Forecast
        Forecasts of some subjects on some items.
    evaluation : Evaluation
        Outcomes; subjects and items are joined by name.
    bins : int
        Number of bins, at least 1.
    prob : float
        Mass of the interval of the success rate.
    training_items : bool
        Whether items that the fit was made on count too; they flatter.
    reused_names : bool
        As in `score`.

    Returns
    -------
    DataFrame
        One row per bin with a trial, indexed by ``bin``: ``trials``, ``forecast`` (mean),
        ``success`` (rate), and ``low`` and ``high``, Wilson's interval of the success rate for
        independent trials (too narrow where those of an item share something `Unseen`, or are
        steps of one outcome),

        .. math:: \frac{1}{1 + z^2/n} \left(\hat s + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat s
            (1 - \hat s)}{n} + \frac{z^2}{4 n^2}}\right).

    Raises
    ------
    DataError
        When there is nothing to score, or an item was trained on.
    FitError
        When `bins` or `prob` is out of range.

    References
    ----------
    Wilson (1927), JASA 22(158), 209-212.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast = result.forecast(cohort.evaluation.items)
    >>> calibration_curve(forecast, cohort.evaluation, training_items=True).columns.tolist()
    ['trials', 'forecast', 'success', 'low', 'high']
    """
    bins, prob = whole("bins", bins, least=1), inside("prob", prob, such_as=0.9)
    chosen, successes, trials = matched(
        forecast, evaluation, training_items=training_items, reused_names=reused_names
    )
    return rates_in_bins(
        chosen["mean"].to_numpy().ravel(),
        successes.to_numpy().ravel(),
        trials.to_numpy().ravel(),
        bins,
        prob,
    )


def rates_in_bins(
    mean: np.ndarray, successes: np.ndarray, trials: np.ndarray, bins: int, prob: float
) -> pd.DataFrame:
    """Count trials and successes in bins of the mean forecast.

    Parameters
    ----------
    mean, successes, trials : ndarray, shape (items,)
        Forecasts and outcomes; items without a trial do not count.
    bins, prob
        As in `calibration_curve`.

    Returns
    -------
    DataFrame
        As `calibration_curve` returns it.

    Examples
    --------
    >>> rates = rates_in_bins(np.array([0.2, 0.4]), np.array([0, 1]), np.array([2, 2]), 2, 0.9)
    >>> rates[["trials", "forecast", "success"]].round(2).to_numpy()
    array([[4.  , 0.3 , 0.25]])
    """
    done = trials > 0
    rows = pd.DataFrame(
        {
            "bin": np.searchsorted(np.arange(1, bins) / bins, mean, side="right"),
            "trials": trials,
            "forecast": mean * trials,
            "success": successes,
        }
    )
    curve = rows[done].groupby("bin").sum()
    count = curve["trials"].to_numpy()
    curve["forecast"] /= count
    curve["success"] /= count
    curve["low"], curve["high"] = wilson(curve["success"].to_numpy(), count, prob)
    return curve
