"""Observed success beside what a layout expects, by level of one or two properties."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .background import Background
from .leftover import Leftover
from .properties import Property

_DRAWS = 4000


def residual_table(
    leftover: Leftover, properties: Sequence[Property], prob: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare success with the posterior predictive distribution, cell by cell.

    Parameters
    ----------
    leftover : Leftover
        The subject's outcomes and forecasts.
    properties : sequence of Property
        One or several; cells are their levels in combination.
    prob : float
        Mass of the equal-tailed interval.
    rng : Generator
        Of the outcomes drawn anew.

    Returns
    -------
    DataFrame
        One row per cell that occurs, indexed by the levels: ``items``, ``trials``, ``observed``
        and ``expected`` success rates, the ends ``low`` and ``high`` of the interval in which the
        layout expects the observed one, ``surprising`` where it lies outside.
    """
    numbers, cells = np.unique(
        np.stack([part.codes for part in properties]), axis=1, return_inverse=True
    )
    where = cells == np.arange(numbers.shape[1])[:, None]
    trials = where @ leftover.trials
    drawn = rng.binomial(leftover.trials[:, None], leftover.draws)
    rates = (where @ drawn) / trials[:, None]
    low, high = np.quantile(rates, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    observed = (where @ leftover.successes) / trials
    index = pd.MultiIndex.from_arrays(
        [
            [part.levels[code] for code in row]
            for part, row in zip(properties, numbers, strict=True)
        ],
        names=[part.name for part in properties],
    )
    return pd.DataFrame(
        {
            "items": where.sum(axis=1),
            "trials": trials,
            "observed": observed,
            "expected": (where @ (leftover.trials * leftover.mean)) / trials,
            "low": low,
            "high": high,
            "surprising": (observed < low) | (observed > high),
        },
        index if len(properties) > 1 else index.get_level_values(0),
    )


def deviation(
    background: Background, inside: np.ndarray, prob: float, rng: np.random.Generator
) -> dict[str, float]:
    """Compare the success rate on some items with what a background expects, both uncertain.

    The rate has the posterior Beta(successes + 1/2, failures + 1/2) of a rate about which nothing
    else is known; what is expected is about normal, with the variance that the background's
    coefficients give it.

    Returns
    -------
    dict of str to float
        ``observed``, ``expected``, their difference ``effect``, and the ends ``low`` and ``high``
        of its equal-tailed interval.
    """
    leftover, base = background.leftover, background.base
    successes, trials = leftover.successes[inside].sum(), leftover.trials[inside].sum()
    expected = leftover.trials[inside] @ base.chances[inside] / trials
    slope = base.weights[inside] @ base.columns.values[inside] / trials
    rate = rng.beta(successes + 0.5, trials - successes + 0.5, _DRAWS)
    forecast = rng.normal(expected, np.sqrt(slope @ base.covariance @ slope), _DRAWS)
    low, high = np.quantile(rate - np.clip(forecast, 0, 1), [(1 - prob) / 2, (1 + prob) / 2])
    observed = successes / trials
    return {
        "observed": float(observed),
        "expected": float(expected),
        "effect": float(observed - expected),
        "low": float(low),
        "high": float(high),
    }
