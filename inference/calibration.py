"""Calibration curve: how often the forecast comes true."""

import numpy as np
import pandas as pd

from .assessment import matched
from .data import Evaluation
from .forecasts.forecasting import Forecast
from .options import inside, whole
from .wilson import wilson


def calibration_curve(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    bins: int = 10,
    prob: float = 0.9,
    training_items: bool = False,
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

    Returns
    -------
    DataFrame
        One row per bin with a trial, indexed by ``bin``: ``trials``, ``forecast`` (mean),
        ``success`` (rate), and ``low`` and ``high``, Wilson's interval of the success rate for
        independent trials,

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
    chosen, successes, trials = matched(forecast, evaluation, training_items=training_items)
    done = trials.to_numpy().ravel()
    mean = chosen["mean"].to_numpy().ravel()
    rows = pd.DataFrame(
        {
            "bin": np.searchsorted(np.arange(1, bins) / bins, mean, side="right"),
            "trials": done,
            "forecast": mean * done,
            "success": successes.to_numpy().ravel(),
        }
    )
    curve = rows[done > 0].groupby("bin").sum()
    count = curve["trials"].to_numpy()
    curve["forecast"] /= count
    curve["success"] /= count
    curve["low"], curve["high"] = wilson(curve["success"].to_numpy(), count, prob)
    return curve
