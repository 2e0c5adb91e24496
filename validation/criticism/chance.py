"""How large a score statistic gets by chance: outcomes drawn anew from what is expected."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .expansion import Expansion, information

_REPLICATES = 1000  # outcomes drawn anew
_COUNTED = 10  # with so many replicates beyond the statistic, counting them is exact enough


@dataclass(frozen=True, eq=False)
class Chance:
    r"""Residuals of one subject, and of outcomes drawn anew.

    The probabilities :math:`\hat p` that are expected were inferred from the same outcomes, so
    :math:`\hat p (1 - \hat p)` is on average smaller than :math:`p (1 - p)`, by the sampling
    variance of :math:`\hat p`. Residuals of outcomes drawn anew are stretched to make up for it:
    their variance is multiplied by :math:`1 + h_i w_i / n_i`, with :math:`h_i` the sampling
    variance of the item's log-odds.

    Attributes
    ----------
    residuals : ndarray, shape (items,)
        Successes less those expected, over their standard deviation.
    replicates : ndarray, shape (replicates, items)
        The same, of outcomes drawn anew.
    """

    residuals: np.ndarray
    replicates: np.ndarray

    @classmethod
    def of(
        cls,
        successes: np.ndarray,
        trials: np.ndarray,
        base: Expansion,
        rng: np.random.Generator,
    ) -> "Chance":
        """Draw outcomes from what an expansion expects."""
        deviations = np.sqrt(base.weights)
        chances = base.chances.astype(np.float32)
        drawn = np.zeros((_REPLICATES, len(trials)), dtype=np.float32)
        for trial in range(trials.max(initial=0)):
            going_on = np.flatnonzero(trials > trial)
            size = (_REPLICATES, len(going_on))
            drawn[:, going_on] += rng.random(size, dtype=np.float32) < chances[going_on]
        stretched = np.sqrt(1 + _sampling_variance(base) * base.weights / trials) / deviations
        replicates = (drawn - trials * chances) * stretched.astype(np.float32)
        return cls((successes - trials * base.chances) / deviations, replicates)

    def test(self, directions: np.ndarray, refitted: np.ndarray) -> tuple[float, float]:
        """Sum the squared residuals along directions, and say how rarely chance gives as much.

        By counting replicates; far out by a gamma distribution of their mean and variance.

        Parameters
        ----------
        directions : ndarray, shape (items, directions)
            Orthonormal columns.
        refitted : ndarray, shape (items, directions)
            What they are for outcomes to which nothing was fitted yet.

        Returns
        -------
        statistic, p : float
            About chi-squared with as many degrees of freedom as directions, where all is expected.
        """
        statistic = float(np.square(directions.T @ self.residuals).sum())
        replicated = np.square(self.replicates @ refitted.astype(np.float32)).sum(axis=1)
        return statistic, tail(
            statistic, replicated, float(2 * replicated.std() / replicated.mean())
        )


def tail(statistic: float, replicated: np.ndarray, skewness: float) -> float:
    """Say how rarely chance gives as much.

    By counting replicates; far out by a gamma distribution of their mean and variance, shifted so
    that it has the skewness.
    """
    beyond = int((replicated >= statistic).sum())
    if beyond >= _COUNTED:
        return (beyond + 1) / (len(replicated) + 1)
    mean, sd = float(replicated.mean()), float(replicated.std())
    shift, scale = mean - 2 * sd / skewness, sd * skewness / 2
    return float(stats.gamma.sf(statistic, 4 / skewness**2, shift, scale))


def holm(chances: np.ndarray) -> np.ndarray:
    """Adjust p values so that the chance of any false alarm is kept; NaN stays NaN."""
    known = np.flatnonzero(np.isfinite(chances))
    order = known[np.argsort(chances[known], kind="stable")]
    left = len(order) - np.arange(len(order))
    adjusted = np.full(len(chances), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(chances[order] * left))
    return adjusted


def error_of(p: float, adjusted: float) -> float:
    """Give the Monte Carlo standard error of an adjusted p value, from the p value itself.

    That of a share of 1000 replicates; far out, where a gamma distribution stands for them, that of
    the ten that were too few to count, in proportion.

    Examples
    --------
    >>> round(error_of(0.5, 0.5), 3), round(error_of(0.001, 0.02), 3)
    (0.016, 0.006)
    """
    if not p > 0:
        return math.nan
    relative = math.sqrt((1 - p) / (_REPLICATES * p))
    return adjusted * min(relative, 1 / math.sqrt(_COUNTED))


def _sampling_variance(base: Expansion) -> np.ndarray:
    """Variance of each item's log-odds over outcomes, the priors' pull included."""
    values, covariance = base.columns.values, base.covariance
    spread = covariance @ information(values, base.weights) @ covariance
    return np.asarray(((values @ spread) * values).sum(axis=1))
