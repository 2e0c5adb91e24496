"""Test of whether a subject's attempts at an item are more similar than the layout implies."""

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binom, norm

from .louis import intervals, louis
from .residuals import Block, Residuals, positive
from .saddlepoint import tails

REPEATED = "repeated attempts"
_MOST = 2**22  # number of possible outcomes; for more, the normal distribution is sufficient


def attempts(residuals: Residuals, prob: float) -> pd.DataFrame:
    r"""Test whether a subject's attempts at an item have more in common than the layout expects.

    The test is that of `dependence.pairs`, for all pairs of attempts in the same cell, with one
    :math:`\beta`. With the residual r of a cell of n attempts and its variance w,

    .. math:: U = \frac12 \sum_c \left(r_c^2 - (1 - 2 p_c) r_c - w_c\right), \qquad
        J = \frac12 \sum_c \frac{n_c - 1}{n_c} w_c^2

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    prob : float
        Mass of the interval.

    Returns
    -------
    DataFrame
        One row with the columns of `dependence.pairs`, except those of the adjustment; ``testlet``
        is "repeated attempts", and ``q3`` is missing. No rows if no cell has several attempts.

    Examples
    --------
    >>> known = Residuals(["Ann"], ["a"], np.array([[4.0]]), np.array([[4.0]]),
    ...                   np.full((1, 1, 1), 0.5))
    >>> attempts(known, 0.9)[["testlet", "subjects", "effect"]]
                 testlet  subjects  effect
    0  repeated attempts         1     4.0
    """
    trials = residuals.trials
    several = trials > 1

    def scores(block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Sum the products of two attempts' residuals in a cell, and of their weights."""
        left, weights = block.leftover, block.weights
        each = left**2 - (1 - 2 * expit(block.log_odds)) * left - weights
        both = weights**2 * (trials - 1) / positive(trials)
        score, information = (
            np.where(several, part / 2, 0).sum(axis=(1, 2))[:, None] for part in (each, both)
        )
        return score, information

    if not several.any():
        return pd.DataFrame()
    columns = intervals(louis(residuals, scores), prob)
    weights = residuals.centre.weights[0]
    own = np.where(several, weights**2 * (trials - 1) / positive(trials), 0).sum(axis=1)
    part = (own / positive(weights.sum(axis=1)))[several.any(axis=1)].mean()
    return pd.DataFrame(
        {
            "testlet": REPEATED,
            "item": "",
            "other": "",
            "items": int(several.any(axis=0).sum()),
            "subjects": int(several.any(axis=1).sum()),
            **columns,
            "q3": np.nan,
            "widening": np.sqrt(np.maximum(1 + columns["effect"] * part, 0)),
            "p": _chances(columns["z"], trials[several], residuals.mean[several]),
        }
    )


def _chances(z: np.ndarray, trials: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Compute the p value from the possible values of the products in each cell."""
    passed = np.arange(int(trials.max()) + 1)
    if len(trials) * len(passed) > _MOST:
        return np.asarray(2 * norm.sf(np.abs(z)))
    n, p = trials[:, None], chances[:, None]
    left = passed - n * p
    values = (left**2 - (1 - 2 * p) * left - n * p * (1 - p)) / 2
    values = np.where(passed <= n, values, 0)
    return tails(z, values[None], np.asarray(binom.pmf(passed, n, p))[None])
