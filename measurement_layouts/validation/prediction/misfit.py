"""Misfit: errors of the forecasts of left-out groups of items, estimated in log-odds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import chi2, multivariate_t, norm, qmc

from ...inference.forecasts.elsewhere import PARAMETERS, steepness

_STEPS = 50  # largest number of Newton steps
_CLOSE = 1e-4  # log-odds; after a smaller step, the error is about its square
_LONGEST = 2.0  # largest step, in log-odds
_LEAST = 1e-8  # smallest variance
_AT_ONCE = 2**19  # number of cells, of one group and several points, computed together
_ROUNDS, _POINTS = 8, 128
_ENOUGH = 24  # smallest effective number of points from which a proposal is computed
_SLOPE = 0.5  # prior standard deviation of the slope's logarithm
_SLOPES = 121  # number of slopes that are tried
_LIKE_HOME = 3  # number of assumed groups with a slope of 1, in addition to those left out
_WANTED = 100  # effective number of points at which rounds end
_DEGREES = 4  # degrees of freedom of the proposals


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Forecasts of a group of items that was left out, and its outcomes.

    The variance of a cell's log-odds over posterior draws is the sum of four parts: one that all
    cells of the group share, one that the cells of a subject share, one that the cells of an item
    share, and the remainder.

    Attributes
    ----------
    group : str
        Name of the group.
    successes, trials : ndarray, shape (subjects, items)
        Outcomes; 0 trials for cells without outcomes.
    log_odds : ndarray, shape (subjects, items)
        Mean forecast in log-odds.
    common : float
        Variance that all cells share.
    by_subject, by_item : ndarray, shape (subjects,) and (items,)
        Variances of subjects and of items.
    rest : ndarray, shape (subjects, items)
        Remaining variance of each cell.
    """

    group: str
    successes: np.ndarray
    trials: np.ndarray
    log_odds: np.ndarray
    common: float
    by_subject: np.ndarray
    by_item: np.ndarray
    rest: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        """Sum of all parts of a cell's variance."""
        return np.asarray(self.common + self.by_subject[:, None] + self.by_item + self.rest)


def parted(
    group: str, successes: np.ndarray, trials: np.ndarray, log_odds: Iterable[np.ndarray]
) -> LeftOut:
    """Decompose the variance of forecasts over posterior draws.

    Parameters
    ----------
    group : str
        Name of the group.
    successes, trials : ndarray, shape (subjects, items)
        Outcomes.
    log_odds : iterable of ndarray, shape (items, draws)
        Forecasts by subject; draws of subjects that were fitted alone may be in any order.

    Returns
    -------
    LeftOut
        Mean forecasts and the parts of their variance.

    Examples
    --------
    >>> one = np.ones((1, 2))
    >>> left = parted("far", one, one, [np.array([[-1.0, 0.0, 1.0], [0.0, 1.0, 2.0]])])
    >>> left.log_odds, round(left.common, 2), left.by_item
    (array([[0., 1.]]), 0.67, array([0., 0.]))
    """
    there = trials > 0
    mean, variance = np.zeros((2, *trials.shape))
    of_subjects, of_items = list[np.ndarray](), np.zeros((trials.shape[1], 1))
    for row, own in enumerate(log_odds):
        mean[row], variance[row] = own.mean(axis=1), own.var(axis=1)
        apart = (own - mean[row][:, None]) * there[row][:, None]
        of_subjects.append(apart.sum(axis=0))
        of_items = of_items + apart
    cells, counts = np.stack(of_subjects), there.sum(axis=1)
    common = cells.sum(axis=0) / max(counts.sum(), 1)
    by_subject = (cells / np.maximum(counts, 1)[:, None] - common).var(axis=1)
    by_item = (of_items / np.maximum(there.sum(axis=0), 1)[:, None] - common).var(axis=1)
    rest = np.maximum(variance - common.var() - by_subject[:, None] - by_item, 0)
    return LeftOut(group, successes, trials, mean, float(common.var()), by_subject, by_item, rest)


def log_marginal(left: LeftOut, points: np.ndarray, centre: float) -> np.ndarray:
    r"""Compute log-probabilities of a group's outcomes, given its forecasts and their misfit.

    .. math:: \operatorname{logit} P(y_{si} = 1) = k\,(c + b\,(\lambda_{si} - c)) + u + w_s + v_i,
        \quad s = k b, \quad k = \sqrt{1 + \pi (\tau^2 + \rho^2 + \omega^2) / 8}, \quad
        u \sim N(0, \tau^2 + s^2 \nu), \quad w_s \sim N(0, \rho^2 + s^2 \nu_s), \quad
        v_i \sim N(0, \omega^2 + s^2 \nu_i)

    with the forecast's mean log-odds :math:`\lambda` and the parts :math:`\nu` of its variance. The
    probability in a cell is averaged over the remaining variance :math:`\nu_{si}`, as
    :math:`\sigma(x / \sqrt{1 + \pi s^2 \nu_{si} / 8})`. The offsets u, w and v are integrated out
    by Laplace's approximation.

    Parameters
    ----------
    left : LeftOut
        The group.
    points : ndarray, shape (points, 4)
        Slope b and standard deviations :math:`\tau, \rho, \omega`, in the order `PARAMETERS`.
    centre : float
        Log-odds c at which the slope has no effect.

    Returns
    -------
    ndarray, shape (points,)
        Log-probabilities in nats, without the binomial coefficients.

    References
    ----------
    Breslow and Clayton (1993), Approximate inference in generalized linear mixed models, JASA
    88(421), equation 3; MacKay (1992), The evidence framework applied to classification networks,
    equation 10.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> left = LeftOut("far", 20 * one, 40 * one, 1.0 * one, 0, one[0] * 0, one[0] * 0, one * 0)
    >>> near, wide = log_marginal(left, np.array([[1, 0.01, 0, 0], [1, 1, 0, 0]]), centre=0)
    >>> bool(near < wide)
    True
    """
    size = max(1, _AT_ONCE // left.trials.size)
    parts = [
        _log_marginal(left, points[start : start + size], centre)
        for start in range(0, len(points), size)
    ]
    return np.concatenate(parts)


def _log_marginal(left: LeftOut, points: np.ndarray, centre: float) -> np.ndarray:
    slope, group, subject, item = (own[:, None] for own in points.T)
    steeper = steepness(points[:, 1:].T)[:, None]
    slope = slope * steeper
    sides = [
        subject**2 + slope**2 * left.by_subject + _LEAST,
        item**2 + slope**2 * left.by_item + _LEAST,
    ]
    cells = [left.successes, left.trials, left.log_odds, left.rest]
    if left.trials.shape[0] < left.trials.shape[1]:  # the longer one of both sides is eliminated
        sides.reverse()
        cells = [own.T for own in cells]
    won, tried, log_odds, rest = cells
    scale = slope[..., None]
    offset = steeper[..., None] * centre + scale * (log_odds - centre)
    flat = 1 / np.sqrt(1 + np.pi * scale**2 * rest / 8)
    prior = 1 / (group[:, 0] ** 2 + slope[:, 0] ** 2 * left.common + _LEAST)
    long, short = (1 / own for own in sides)
    common = np.zeros(len(points))
    ours, theirs = np.zeros_like(long), np.zeros_like(short)
    for _ in range(_STEPS):
        system = _system(common, ours, theirs, offset, flat, won, tried, prior, long, short)
        steps = system.steps()
        farthest = np.max([np.abs(own).reshape(len(points), -1).max(axis=1) for own in steps], 0)
        part = _LONGEST / np.maximum(farthest, _LONGEST)
        common = common + part * steps[0]
        ours, theirs = ours + part[:, None] * steps[1], theirs + part[:, None] * steps[2]
        if farthest.max() < _CLOSE:
            break
    system = _system(common, ours, theirs, offset, flat, won, tried, prior, long, short)
    reached = flat * (offset + common[:, None, None] + ours[..., None] + theirs[:, None])
    found = (won * log_expit(reached) + (tried - won) * log_expit(-reached)).sum(axis=(1, 2))
    squares = prior * common**2 + (long * ours**2).sum(axis=1) + (short * theirs**2).sum(axis=1)
    known = np.log(prior) + np.log(long).sum(axis=1) + np.log(short).sum(axis=1)
    return np.asarray(found + (known - squares - system.log_determinant()) / 2)


@dataclass(frozen=True, eq=False)
class _System:
    """Equations of a Newton step by point, for the long side and for the others given it."""

    own: np.ndarray  # (points, long): diagonal of the long side
    coupled: np.ndarray  # (points, long, 1 + short)
    reduced: np.ndarray  # (points, 1 + short, 1 + short)
    slope: np.ndarray  # (points, long)
    slopes: np.ndarray  # (points, 1 + short)

    def steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Solve for the steps of the common offset, of the long and of the short side."""
        told = (self.slope / self.own)[:, None] @ self.coupled
        known = self.slopes - told[:, 0]
        found = np.linalg.solve(self.reduced, known[..., None])[..., 0]
        rest = (self.slope - (self.coupled @ found[..., None])[..., 0]) / self.own
        return found[:, 0], rest, found[:, 1:]

    def log_determinant(self) -> np.ndarray:
        """Compute the log determinant of the negative second derivative."""
        return np.asarray(np.log(self.own).sum(axis=1) + np.linalg.slogdet(self.reduced)[1])


def _system(
    common: np.ndarray,
    ours: np.ndarray,
    theirs: np.ndarray,
    offset: np.ndarray,
    flat: np.ndarray,
    won: np.ndarray,
    tried: np.ndarray,
    prior: np.ndarray,
    long: np.ndarray,
    short: np.ndarray,
) -> _System:
    """Return the equations at some offsets, with prior precisions."""
    chance = expit(flat * (offset + common[:, None, None] + ours[..., None] + theirs[:, None]))
    slope = flat * (won - tried * chance)
    weight = flat**2 * tried * chance * (1 - chance)
    mine, others = weight.sum(axis=2), weight.sum(axis=1)
    own = mine + long
    coupled = np.concatenate([mine[..., None], weight], axis=2)
    reduced = -np.swapaxes(coupled / own[..., None], 1, 2) @ coupled
    reduced[:, 0, 0] += others.sum(axis=1) + prior
    reduced[:, 0, 1:] += others
    reduced[:, 1:, 0] += others
    diagonal = np.arange(1, reduced.shape[1])
    reduced[:, diagonal, diagonal] += others + short
    slopes = np.column_stack(
        [slope.sum(axis=(1, 2)) - prior * common, slope.sum(axis=1) - short * theirs]
    )
    return _System(own, coupled, reduced, slope.sum(axis=2) - long * ours, slopes)


def posterior_of_misfit(
    groups: Sequence[LeftOut], *, centre: float, seed: int, draws: int = 500
) -> pd.DataFrame:
    r"""Draw from the posterior of the misfit of forecasts of left-out groups.

    .. math:: p(b, \tau, \rho, \omega \mid y) \propto
        p(\tau)\, p(\rho)\, p(\omega) \prod_g p(y_g \mid b, \tau, \rho, \omega)

    with the priors :math:`\log b \sim N(0, 0.5^2)` and HalfNormal(1), in log-odds, of the standard
    deviations, and with the groups' probabilities from `log_marginal`. The slope, which changes
    only mean forecasts, is then replaced by the one with the best log score of the left-out groups'
    means, with weights of the groups from a Dirichlet distribution (the Bayesian bootstrap), so
    that means are calibrated even if offsets are not normal. Its logarithm is multiplied by
    n / (n + 3) for n groups, so that a few groups widen intervals, but only many change means.

    Parameters
    ----------
    groups : sequence of LeftOut
        Groups, at least one. Parts that they do not determine are left out and are 0: that of
        subjects if there is one subject, and that of items if each group has one item or most items
        have one subject.
    centre : float
        Log-odds at which the slope has no effect.
    seed : int
        Seed of the draws.
    draws : int
        Number of draws.

    Returns
    -------
    DataFrame, shape (draws, 4)
        Draws, with the columns `PARAMETERS`.

    Notes
    -----
    The draws are from adaptive importance sampling on a logarithmic scale. In each round, the
    proposal is a multivariate t distribution with the moments of all weighted points so far. The
    final weights of all points are relative to the mean of all proposals.

    References
    ----------
    Cornuet, Marin, Mira and Robert (2012), Adaptive multiple importance sampling, Scandinavian
    Journal of Statistics 39(4); Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9(1).
    """
    free = [0, 1]
    several = [(left.trials > 0) for left in groups]
    if any((own.any(axis=1)).sum() > 1 for own in several):
        free.append(2)
    attempts = np.concatenate([own.sum(axis=0) for own in several])
    if any(own.any(axis=0).sum() > 1 for own in several) and np.median(attempts[attempts > 0]) > 1:
        free.append(3)
    rng = np.random.default_rng(seed)
    mean, covariance = np.zeros(len(free)), 2.0 * np.eye(len(free))
    proposals, points, heights = [], [], []
    for _ in range(_ROUNDS):
        proposal = multivariate_t(mean, covariance, df=_DEGREES)
        proposals.append(proposal)
        own = _spread(proposal, rng)
        points.append(own)
        heights.append(_height(groups, own, free, centre))
        every, height = np.concatenate(points), np.concatenate(heights)
        weights = height - _mixture(proposals, every)
        if 1 / (np.exp(weights - logsumexp(weights)) ** 2).sum() > _WANTED:
            break
        mean, covariance = _moments(every, weights)
    chance = np.exp(weights - logsumexp(weights))
    chosen = rng.choice(len(every), draws, p=chance / chance.sum())
    found = np.zeros((draws, len(PARAMETERS)))
    found[:, free] = np.exp(every[chosen])
    found[:, 0] = _slopes(groups, draws, centre, rng)
    return pd.DataFrame(found, columns=list(PARAMETERS))


def _slopes(
    groups: Sequence[LeftOut], draws: int, centre: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw the slopes with the best log score of mean forecasts, for random weights of groups."""
    logarithms = np.linspace(-3 * _SLOPE, 3 * _SLOPE, _SLOPES)
    scores = np.empty((len(groups), _SLOPES))
    for number, left in enumerate(groups):
        for place, slope in enumerate(np.exp(logarithms)):
            moved = centre + slope * (left.log_odds - centre)
            reached = moved / np.sqrt(1 + np.pi * slope**2 * left.variance / 8)
            lost = (left.trials - left.successes) * log_expit(-reached)
            scores[number, place] = (left.successes * log_expit(reached) + lost).sum()
    weights = len(groups) * rng.dirichlet(np.ones(len(groups)), draws)
    heights = weights @ scores - (logarithms / _SLOPE) ** 2 / 2
    part = len(groups) / (len(groups) + _LIKE_HOME)
    return np.asarray(np.exp(part * logarithms[heights.argmax(axis=1)]))


def _spread(proposal: Any, rng: np.random.Generator) -> np.ndarray:
    """Draw evenly spread points of a t distribution."""
    size = len(proposal.loc)
    uniform = qmc.Sobol(size + 1, rng=rng).random(_POINTS)
    root = np.linalg.cholesky(proposal.shape)
    scale = np.sqrt(_DEGREES / chi2.ppf(uniform[:, -1], _DEGREES))
    return np.asarray(proposal.loc + scale[:, None] * (norm.ppf(uniform[:, :-1]) @ root.T))


def _height(
    groups: Sequence[LeftOut], points: np.ndarray, free: Sequence[int], centre: float
) -> np.ndarray:
    """Compute the log posterior density on the scale of points, up to a constant."""
    points = np.clip(points, -12, 12)
    natural = np.zeros((len(points), len(PARAMETERS)))
    natural[:, list(free)] = np.exp(points)
    found = -((points[:, 0] / _SLOPE) ** 2) / 2
    found += (points[:, 1:] - np.exp(2 * points[:, 1:]) / 2).sum(axis=1)
    for left in groups:
        found += log_marginal(left, natural, centre)
    return np.asarray(found)


def _mixture(proposals: Sequence[Any], points: np.ndarray) -> np.ndarray:
    """Compute the log of the mean density of all proposals."""
    each = [np.atleast_1d(proposal.logpdf(points)) for proposal in proposals]
    return np.asarray(logsumexp(each, axis=0) - np.log(len(each)))


def _moments(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute mean and covariance of weighted points, with weights flattened if few count."""
    for number in range(40):
        power = 0.7**number
        chance = np.exp(power * weights - logsumexp(power * weights))
        if 1 / (chance**2).sum() >= _ENOUGH:
            break
    mean = chance @ points
    apart = points - mean
    return mean, (chance[:, None] * apart).T @ apart + 1e-4 * np.eye(len(mean))
