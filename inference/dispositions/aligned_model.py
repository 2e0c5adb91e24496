"""What a model would show whose rates are the people's."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .beta_binomial import rate_posteriors
from .votes import effective_votes

type Shown = Callable[[np.ndarray, np.ndarray], np.ndarray]


def as_aligned(people: pd.DataFrame, rates: pd.DataFrame, what: Shown) -> "pd.Series[float]":
    r"""Expect what models would show, were their rates the people's.

    .. math:: \mathrm{E} f(k / n, \mathrm{TPR}_\mathrm{human}), \quad
        k \sim \mathrm{Binomial}(n, r)

    with the models' numbers n of decided samples, averaged over the models that answered the
    scenario, and r from the posterior of the people's rate (`rate_posteriors`, by trait).

    Parameters
    ----------
    people, rates : DataFrame
        From `SituationalJudgments.human_rates` and `.model_rates`.
    what : callable
        Takes a model's rates, shape (1, rates), and the people's, shape (scenarios, 1); returns
        what is shown, shape (scenarios, rates) or one that broadcasts to it.

    Returns
    -------
    Series
        By scenario; NaN where no model answered.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> judgments = simulated_study(per_statement=4, models=["sim-01"]).judgments
    >>> people, rates = judgments.human_rates(), judgments.model_rates()
    >>> gap = as_aligned(people, rates, lambda model, human: abs(model - human)).mean()
    >>> own = (rates["rate"].droplevel("model") - people["rate"]).abs().mean()
    >>> bool(0.9 < own / gap < 1.1)
    True
    """
    posteriors = rate_posteriors(effective_votes(people), people["trait"])
    human = people["rate"].to_numpy()[:, None]
    decided = rates["positive"] + rates["negative"]
    total = pd.Series(0.0, people.index)
    for count, pairs in decided.groupby(decided):
        shares = np.arange(int(count) + 1)[None, :] / count
        times = pairs.groupby("scenario").size().reindex(people.index, fill_value=0)
        expected = (posteriors.predicted(int(count)) * what(shares, human)).sum(axis=1)
        total += times * expected
    return total / decided.groupby("scenario").size().reindex(people.index)
