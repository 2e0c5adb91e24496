"""Values of which the outcomes and the prior disagree."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from ...layouts import Latent
from ...layouts.elements import elements_of
from ...linking.expression import Constant
from .posterior import Posterior, draws_of
from .summaries import subject_blocks

ALARM = 0.01
"""Chance that a value, or a latent, is named although it comes from its prior."""

_LIMIT = float(-ndtri(ALARM / 2))
_LEAST_LEARNT = 0.1  # share of the prior's variance that outcomes must remove for a verdict


class Conflict(NamedTuple):
    """Values of a latent that are surprising under its prior.

    Attributes
    ----------
    latent : Latent
        The latent.
    surprising : ndarray of bool, shape (subjects, elements)
        Whether a value is surprising; all False unless there are more of them than by chance.
    text : str
        What disagrees, and what to do; empty where nothing does.
    """

    latent: Latent
    surprising: np.ndarray
    text: str


def shared_conflicts(fit: Posterior) -> list[Conflict]:
    r"""Compare the shared values of a fit with their priors.

    .. math:: z = \frac{\bar q}{\sqrt{1 - s^2}}, \qquad q = \Phi^{-1}(F(\theta))

    with the prior's distribution function F, and mean and variance of q over the posterior draws.
    If a value comes from its prior, z is standard normal, exactly so if the posterior of q is
    normal: means of posteriors vary less than the values themselves. A value is surprising if
    :math:`|z| > 2.58`, the central 99 %. Of n values of a latent, they are named only if so many
    surprising ones have a chance below 1 %, or the largest z has one below 1 % / n. Values whose
    prior depends on other latents, which adapt to the outcomes, are not compared.

    Parameters
    ----------
    fit : Posterior
        A joint fit.

    Returns
    -------
    list of Conflict
        One for each latent with a fixed prior that subjects share.

    References
    ----------
    Box (1980), JRSS A 143; Evans and Moshonov (2006), Bayesian Analysis 1.
    """
    return fit.once("conflicts", lambda: _conflicts(fit, fit.shared))


def own_conflicts(fit: Posterior, rows: np.ndarray) -> list[Conflict]:
    """Compare the values of some subjects with their priors; see `shared_conflicts`."""
    return _conflicts(fit, fit.layout.profile, subject_blocks(fit, rows))


def is_fixed(latent: Latent) -> bool:
    """Whether the prior of a latent depends on no other node."""
    return all(
        isinstance(parameter, Constant) for prior in latent.priors for parameter in prior.parents
    )


def surprise(draws: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Compute how surprising values are under their prior; see `shared_conflicts`.

    Parameters
    ----------
    draws : ndarray, shape (subjects, elements, chains, draws)
        Posterior draws.
    prior : ndarray, shape (draws,) or (draws, labels)
        Draws from the prior; elements are its labels, or repetitions of them.

    Returns
    -------
    ndarray, shape (subjects, elements)
        z; 0 where the outcomes remove less than a tenth of the variance of q.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draws = rng.normal([[[[0]]], [[[2]]]], 0.1, (2, 1, 2, 500))
    >>> surprise(draws, rng.normal(size=4000)).ravel().round()
    array([0., 2.])
    """
    ordered = np.sort(prior.reshape(len(prior), -1), axis=0)
    scores = ndtri((np.arange(len(ordered)) + 0.5) / len(ordered))
    result = np.zeros(draws.shape[:2])
    for row, column in np.ndindex(result.shape):
        under = ordered[:, column % ordered.shape[1]]
        values = np.interp(draws[row, column].ravel(), under, scores)
        learnt = 1 - values.var()
        if learnt > _LEAST_LEARNT:
            result[row, column] = values.mean() / learnt**0.5
    return result


def _conflicts(
    fit: Posterior, latents: Iterable[Latent], blocks: Sequence[np.ndarray | None] = (None,)
) -> list[Conflict]:
    """Find surprising values of latents with a fixed prior; blocks are positions of subjects."""
    return [_conflict(fit, latent, blocks) for latent in latents if is_fixed(latent)]


def _conflict(fit: Posterior, latent: Latent, blocks: Sequence[np.ndarray | None]) -> Conflict:
    """Find surprising values of one latent."""
    prior = fit.prior[latent.name]
    draws = (draws_of(fit, latent, block) for block in blocks)
    pairs = [(np.abs(surprise(values, prior)), values.mean(axis=(2, 3))) for values in draws]
    sizes, means = map(np.concatenate, zip(*pairs, strict=True))
    result = sizes > _LIMIT
    count = int(result.sum())
    by_chance = min(
        float(binom.sf(count - 1, result.size, ALARM)),
        result.size * 2 * float(ndtr(-sizes.max(initial=0.0))),
    )
    if not count or by_chance > ALARM * (1 + 1e-9):
        return Conflict(latent, np.zeros_like(result), "")
    row, column = divmod(int(sizes.argmax()), sizes.shape[1])
    mean = means[row, column]
    ends = np.quantile(prior.reshape(len(prior), -1), [ALARM / 2, 1 - ALARM / 2], axis=0)
    low, high = ends[:, column % ends.shape[1]]
    value = elements_of(latent, fit.levels)[column].name
    several = count > 1 and latent in fit.shared
    more = f" (and of {count - 1} more of {result.size})" if several else ""
    return Conflict(
        latent,
        result,
        f"{value}{more}: the outcomes and the prior disagree, posterior mean {mean:.3g}, and 99 % "
        f"of the prior within {low:.3g} to {high:.3g}; give it a wider prior",
    )
