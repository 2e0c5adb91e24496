"""Logistic regression on properties of items."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..baselines import LOGISTIC_REGRESSION, baseline_forecast
from ..data import Evaluation
from ..forecasts.forecasting import Forecast
from .columns import OnColumns


@dataclass(frozen=True)
class Regression(OnColumns):
    """Predict by a logistic regression for each subject: scikit-learn's, with default settings.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from, as they are: not scaled, and without products.

    Notes
    -----
    A missing value is replaced by its column's mean, and a column of 0 and 1 says where. A subject
    whose training outcomes are all alike is predicted by their mean.

    References
    ----------
    General scales paper, appendix 8.5.5 and Table 17.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> Regression(["size"]).predict(training, ["e"], seed=1).to_numpy().round(3)
    array([[0.5]])
    """

    def _forecast(self, training: Evaluation, items: Sequence[str], seed: int) -> Forecast:
        return baseline_forecast(LOGISTIC_REGRESSION, training, items, self.columns, seed=seed)
