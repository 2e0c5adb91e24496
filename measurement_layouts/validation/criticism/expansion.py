"""Expansion of a fitted layout: its log-odds of success plus free effects of properties.

The forecast of the layout is an offset, to which columns with inferred coefficients are added: the
directions in which the layout's own elements can change (`tangent`), and effects of levels.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit, gammaln, log_expit, logit

_ROUNDING = 1e-12  # variances below this part of the largest one are rounding errors
_LEAST = 1e-4  # smallest variance of an outcome; smaller ones are raised to it
_STEPS, _SETTLED = 50, 1e-6
EFFECT_SD = 2.5  # prior sd of an effect that is tested, in log-odds
FORM_SD = 1.0  # prior sd of an effect of a property that the layout already uses
_LOOSE_SD = 10.0  # prior sd of changes of the layout's own elements


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns with the standard deviations of their coefficients' priors, whose mean is 0."""

    values: np.ndarray
    sds: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, sd: float) -> "Columns":
        """Return columns with the same prior."""
        return cls(values, np.full(values.shape[1], sd))

    def beside(self, *others: "Columns") -> "Columns":
        """Append the columns of others."""
        parts = (self, *others)
        return Columns(
            np.concatenate([part.values for part in parts], axis=1),
            np.concatenate([part.sds for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class Expansion:
    """Posterior mode of the coefficients, with probabilities and variances at the mode.

    Attributes
    ----------
    columns : Columns
        Columns that were added to the offset.
    coefficients : ndarray, shape (columns,)
        Posterior mode, in log-odds per unit of the column.
    covariance : ndarray, shape (columns, columns)
        Inverse Hessian at the mode.
    chances : ndarray, shape (items,)
        Probabilities of success.
    weights : ndarray, shape (items,)
        Variances of the numbers of successes.
    elpd : ndarray, shape (items,)
        Approximate leave-one-out log density of each item's outcome, in nats.
    """

    columns: Columns
    coefficients: np.ndarray
    covariance: np.ndarray
    chances: np.ndarray
    weights: np.ndarray
    elpd: np.ndarray


def expand(
    offset: np.ndarray,
    successes: np.ndarray,
    trials: np.ndarray,
    columns: Columns,
    start: np.ndarray | None = None,
) -> Expansion:
    r"""Infer the coefficients of columns that are added to log-odds.

    .. math:: y_i \sim \mathrm{Binomial}(n_i, \sigma(o_i + x_i^\top \beta)),\quad
        \beta_k \sim \mathrm{Normal}(0, s_k)

    The log-odds of an item without its own outcome are approximated by one Newton step,
    :math:`\eta_i - h_i (y_i - n_i p_i) / (1 - h_i w_i)`, with :math:`h` the diagonal of
    :math:`X (X^\top W X + S^{-2})^{-1} X^\top`.

    Parameters
    ----------
    offset : ndarray, shape (items,)
        Log-odds to which the columns are added.
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    columns : Columns
        Columns to add.
    start : ndarray, optional
        Starting values of the first coefficients (default: zeros).

    Returns
    -------
    Expansion
        The expansion at the posterior mode, found by Newton's method.

    References
    ----------
    Rahnama Rad, K. and Maleki, A. (2020), A scalable estimate of the out-of-sample prediction error
    via approximate leave-one-out cross-validation. Journal of the Royal Statistical Society B, 82.

    Examples
    --------
    >>> colour = Columns.of(np.repeat([[0.0], [1.0]], 50, axis=0), EFFECT_SD)
    >>> passed = np.repeat([0, 1, 0, 1], [10, 40, 40, 10])
    >>> found = expand(np.full(100, 1.386), passed, np.ones(100, dtype=int), colour)
    >>> found.coefficients.round(1)
    array([-2.7])
    """
    values, precision = columns.values, np.diag(1 / columns.sds**2)

    def loss(beta: np.ndarray) -> float:
        eta = offset + values @ beta
        each = successes * log_expit(eta) + (trials - successes) * log_expit(-eta)
        return float(0.5 * beta @ precision @ beta - each.sum())

    beta = np.zeros(values.shape[1])
    if start is not None:
        beta[: len(start)] = start
    before = loss(beta)
    for _ in range(_STEPS):
        chances = expit(offset + values @ beta)
        hessian = information(values, _weights(chances, trials)) + precision
        slope = values.T @ (successes - trials * chances) - precision @ beta
        step = np.linalg.solve(hessian, slope)
        while (after := loss(beta + step)) > before + _SETTLED:
            step = step / 2
        beta, gained, before = beta + step, before - after, after
        if gained < _SETTLED:
            break
    eta = offset + values @ beta
    chances = expit(eta)
    weights = _weights(chances, trials)
    covariance = np.linalg.inv(information(values, weights) + precision)
    leverage = ((values @ covariance) * values).sum(axis=1)
    without = eta - leverage * (successes - trials * chances) / (1 - leverage * weights)
    ways = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    elpd = successes * log_expit(without) + (trials - successes) * log_expit(-without) + ways
    return Expansion(columns, beta, covariance, chances, weights, elpd)


def tangent(draws: np.ndarray, trials: np.ndarray, most: int) -> Columns:
    """Find the directions in which the layout's own elements can change the log-odds.

    Parameters
    ----------
    draws : ndarray, shape (items, draws)
        Probabilities of success.
    trials : ndarray of int, shape (items,)
        Numbers of attempts.
    most : int
        Number of profile elements, which is the largest number of directions.

    Returns
    -------
    Columns
        Principal directions of the posterior, with a length of one posterior standard deviation and
        wide priors.
    """
    mean = draws.mean(axis=1)
    weights = _weights(mean, trials)
    scaled = (draws - mean[:, None]) * (trials / np.sqrt(weights))[:, None]
    sizes, mixed = np.linalg.eigh(scaled.T @ scaled / draws.shape[1])
    kept = np.flatnonzero(sizes > _ROUNDING * max(sizes[-1], _LEAST))[-most:]
    directions = scaled @ (mixed[:, kept] / np.sqrt(sizes[kept] * draws.shape[1]))
    return Columns.of(directions / np.sqrt(weights)[:, None], _LOOSE_SD)


def constant(items: int) -> Columns:
    """Return a column of ones."""
    return Columns.of(np.ones((items, 1)), _LOOSE_SD)


def information(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums of weighted products of columns, shape (columns, columns)."""
    scaled = np.sqrt(weights)[:, None] * values
    # a product of an array with itself, of which BLAS computes half
    return np.asarray(scaled.T @ scaled)


def log_odds(chances: np.ndarray) -> np.ndarray:
    """Return the log-odds of probabilities, which are bounded away from 0 and 1."""
    return np.asarray(logit(np.clip(chances, _LEAST, 1 - _LEAST)))


def _weights(chances: np.ndarray, trials: np.ndarray) -> np.ndarray:
    return np.asarray(trials * np.maximum(chances * (1 - chances), _LEAST))


_REPLICATES = 1000  # number of replicated outcomes
_COUNTED = 10  # with this many replicates beyond the statistic, p is their share


@dataclass(frozen=True, eq=False)
class Chance:
    r"""Residuals of one subject, and of replicated outcomes.

    The expected probabilities :math:`\hat p` were inferred from the same outcomes, so that
    :math:`\hat p (1 - \hat p)` is on average smaller than :math:`p (1 - p)`, by the sampling
    variance of :math:`\hat p`. To correct for this, the variance of the residuals of replicated
    outcomes is multiplied by :math:`1 + h_i w_i / n_i`, with :math:`h_i` the sampling variance of
    the item's log-odds.

    Attributes
    ----------
    residuals : ndarray, shape (items,)
        Successes minus expected successes, divided by their standard deviation.
    replicates : ndarray, shape (replicates, items)
        Residuals of replicated outcomes.
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
        """Compute residuals from an expansion, and draw replicated outcomes from it."""
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
        """Test the sum of squared residuals along directions.

        The p value is the share of replicates with a sum at least as large, or, if they are few,
        that of a gamma distribution with the replicates' mean and variance.

        Parameters
        ----------
        directions : ndarray, shape (items, directions)
            Orthonormal columns.
        refitted : ndarray, shape (items, directions)
            The directions for replicated outcomes, to which the base has not been fitted.

        Returns
        -------
        statistic, p : float
            The sum, which has about a chi-squared distribution with as many degrees of freedom as
            directions if the layout is complete, and its p value.
        """
        statistic = float(np.square(directions.T @ self.residuals).sum())
        replicated = np.square(self.replicates @ refitted.astype(np.float32)).sum(axis=1)
        skewness = float(2 * replicated.std() / replicated.mean())
        return statistic, tail(statistic, replicated, skewness)


def tail(statistic: float, replicated: np.ndarray, skewness: float) -> float:
    """Return the p value of a statistic, given its replicates.

    It is the share of replicates that are at least as large, or, if they are few, that of a shifted
    gamma distribution with the replicates' mean and variance and the given skewness.
    """
    beyond = int((replicated >= statistic).sum())
    if beyond >= _COUNTED:
        return (beyond + 1) / (len(replicated) + 1)
    mean, sd = float(replicated.mean()), float(replicated.std())
    shift, scale = mean - 2 * sd / skewness, sd * skewness / 2
    return float(stats.gamma.sf(statistic, 4 / skewness**2, shift, scale))


def holm(chances: np.ndarray) -> np.ndarray:
    """Adjust p values for their number with Holm's method; NaN is kept."""
    known = np.flatnonzero(np.isfinite(chances))
    order = known[np.argsort(chances[known], kind="stable")]
    left = len(order) - np.arange(len(order))
    adjusted = np.full(len(chances), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(chances[order] * left))
    return adjusted


def _sampling_variance(base: Expansion) -> np.ndarray:
    """Return the sampling variance of each item's log-odds, including the shrinkage by priors."""
    values, covariance = base.columns.values, base.covariance
    spread = covariance @ information(values, base.weights) @ covariance
    return np.asarray(((values @ spread) * values).sum(axis=1))
