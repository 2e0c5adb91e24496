"""Convergence of a subject's chains: divergences, R-hat and effective sample size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from ...common.messages import many, some
from .draws import Draws
from .rank_measures import rank_measures

_TOGETHER = 2**18  # draws of elements that are computed together, in about 25 MiB


class RhatEss(NamedTuple):
    """R-hat and effective sample sizes of each element.

    Attributes
    ----------
    rhat : ndarray
        R-hat; NaN for a single chain, and if no chain moves.
    ess_bulk, ess_tail : ndarray
        Effective sample sizes of the bulk and of the tail.
    """

    rhat: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray


def rhat_ess(draws: np.ndarray) -> RhatEss:
    r"""Compute rank-normalised R-hat, bulk and tail effective sample size.

    Chains are divided into halves. A draw of rank r among N is replaced by its normal score
    :math:`z = \Phi^{-1}((r - 3/8) / (N + 1/4))`. R-hat is the larger one of two values, that of z
    and that of the normal scores of the distances from the median. The bulk's effective sample size
    is that of z. The tail's is the smaller one of those of two indicators, for draws below the 5 %
    and below the 95 % quantile. The results are those of ArviZ, which computes one element after
    the other and takes ten times as long.

    Parameters
    ----------
    draws : ndarray, shape (..., chain, draw)
        Draws; at least 4 per chain.

    Returns
    -------
    RhatEss
        Arrays of shape (...,); NaN for elements with a draw that is NaN.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and
    localization, Bayesian Analysis 16(2).

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(2, 4, 500))
    >>> draws[1, 3] += 1
    >>> rhat_ess(draws).rhat.round(2)
    array([1.01, 1.08])
    """
    *shape, chains, length = draws.shape
    draws = draws.reshape(-1, chains, length)
    step = max(1, _TOGETHER // (chains * length))
    blocks = [rank_measures(draws[at : at + step]) for at in range(0, max(1, len(draws)), step)]
    return RhatEss(*(np.concatenate(values).reshape(shape) for values in zip(*blocks, strict=True)))


_SETTLED = 100  # with fewer effective draws within modes, chains may be slow, not separate
_STRAY = 0.005  # part of a chain's draws at each end that may be in another mode


def separate(draws: np.ndarray) -> np.ndarray:
    """Group chains whose draws of one profile element, shape (chain, draw), overlap.

    The result is the group of each chain, 0 for the lowest values. The central 99 % of the draws of
    chains in different groups do not overlap. All chains are one group if there are fewer than 100
    effective draws within the groups, because the chains may then be slow instead of separate.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> separate(rng.normal(size=(4, 250)) + [[9], [0], [9], [0]])
    array([1, 0, 1, 0])
    """
    low, high = np.quantile(draws, [_STRAY, 1 - _STRAY], axis=-1)
    order = np.argsort(low)
    reached = np.maximum.accumulate(high[order])
    group = np.empty(len(draws), dtype=int)
    group[order] = np.cumsum(np.append(False, low[order][1:] > reached[:-1]))
    modes = np.broadcast_to(group[:, None], draws.shape)
    settled = not group.any() or effective_within(draws, modes) >= _SETTLED
    return group if settled else np.zeros_like(group)


def effective_within(draws: np.ndarray, mode: np.ndarray) -> float:
    """Compute the effective sample size of one element's ranks within modes, (chain, draw).

    It is that of the mode that mixes worst, so that draws of a chain that did not move for a while
    are not taken for a mode, and at most the number of draws. It does not depend on how often
    chains change between modes.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> apart = rng.normal(size=(4, 250)) + [[9], [0], [9], [0]]
    >>> bool(effective_within(apart, (apart > 4).astype(int)) > 900 > 10 > rhat_ess(apart).ess_bulk)
    True
    """
    within = np.zeros((mode.max() + 1, *draws.shape))
    for number, ranks in enumerate(within):
        inside = mode == number
        ranks[inside] = (rankdata(draws[inside], "ordinal") - 0.5) / max(1, inside.sum()) - 0.5
    return min(float(rhat_ess(within).ess_bulk.min()), float(draws.size))


def stay_apart(draws: np.ndarray, rhat: np.ndarray, limit: float, names: Sequence[str]) -> str:
    """Name the elements in whose separate modes the chains stay; empty if their draws overlap.

    Draws have the shape (element, chain, draw); elements with an R-hat above a limit are examined.
    """
    over = np.flatnonzero(rhat > limit).tolist()
    modal = [names[at] for at in over if separate(draws[at]).any()]
    return f"the chains stay in separate modes of {some(modal)}" if modal else ""


RHAT_LIMIT = 1.01  # Vehtari et al. (2021)
ESS_PER_CHAIN = 100  # same source
_RHAT_OF_FEW = 1.05  # chains mix, but have few draws, up to this R-hat ...
_ESS_OF_FEW = 25  # ... and from this effective sample size per chain; stuck chains have less
_FEW_DIVERGENCES = 1 / 200  # largest part of the draws that counts as few divergences
_TARGETS = (0.95, 0.99)  # values of target_accept that are advised
_SPARE = 1.2  # advised number of draws, as a multiple of the number that is just sufficient

NOT_SEARCHED = "modes not searched"
"""Status of subjects whose posterior may have modes, because of bands, that no chain started in."""

UNTRUSTED = ("not converged", "failed")
"""Statuses of subjects without draws or with draws that must not be interpreted."""


@dataclass(frozen=True)
class Convergence:
    """Measures of the convergence of one subject's chains.

    Attributes
    ----------
    divergences : int
        Number of draws whose trajectory diverged.
    rhat : float
        Largest rank-normalised R-hat of the profile elements; NaN if one is unknown.
    ess : float
        Smallest effective sample size of bulk or tail; NaN if one is unknown.
    apart : str
        Sentence about the separate modes in which the chains stay; empty if their draws overlap.
    draws : int
        Number of draws of each chain.
    tune, target_accept : int, float
        Options of NUTS, on which advice is based; `tune` is 0 for draws without a tuning phase.
    """

    divergences: int
    rhat: float
    ess: float
    apart: str = ""
    draws: int = 1000
    tune: int = 1000
    target_accept: float = 0.8


def convergence(
    draws: Draws,
    names: Sequence[str] | None = None,
    *,
    tune: int = Convergence.tune,
    target_accept: float = Convergence.target_accept,
) -> Convergence:
    """Measure the convergence of one subject's chains.

    Parameters
    ----------
    draws : Draws
        Arrays of shape (chain, draw, ...), with at least 4 draws.
    names : sequence of str, optional
        Names of the profile elements (default: those of the latents, if no latent has labels).
    tune, target_accept : int, float
        Options with which the draws were sampled.

    Returns
    -------
    Convergence
        The same numbers as those of `diagnostics.diagnose`.

    References
    ----------
    Vehtari et al. (2021) for the rank-normalised R-hat and the effective sample sizes.

    Examples
    --------
    >>> from measurement_layouts.inference.sampling.draws import Draws
    >>> independent = np.random.default_rng(1).normal(size=(4, 250))
    >>> never = np.zeros((4, 250), dtype=bool)
    >>> found = convergence(Draws({"skill": independent}, {"diverging": never}))
    >>> found.divergences, round(found.rhat, 2), found.ess > 400
    (0, 1.01, True)
    """
    elements = np.concatenate([by_element(values[None])[0] for values in draws.posterior.values()])
    measures = rhat_ess(elements)
    rhat, ess = worst(measures)
    apart = stay_apart(elements, measures.rhat, RHAT_LIMIT, names or list(draws.posterior))
    diverging = draws.statistics["diverging"]
    length = diverging.shape[1]
    return Convergence(
        int(diverging.sum()), float(rhat), float(ess), apart, length, tune, target_accept
    )


def faults(convergence: Convergence, chains: int) -> list[str]:
    """List the faults of one subject's sampling.

    Parameters
    ----------
    convergence : Convergence
        Measures of the convergence.
    chains : int
        Number of chains.

    Returns
    -------
    list of str
        Faults, each with advice, or that the chains stay in separate modes. The list is empty if
        R-hat is at most 1.01, the effective sample size is at least 100 per chain, and no draw
        diverged. Faults that begin with ``few`` are minor: the chains mix (R-hat is at most 1.05,
        the effective sample size at least 25 per chain), but there are few draws, or at most one
        of 200 draws diverged.

    Notes
    -----
    The effective sample size is proportional to the number of draws, and the difference of the
    squared R-hat from 1 is inversely proportional to it. The advised number of draws is the one
    that satisfies both limits, plus a fifth. A larger ``target_accept`` is advised only if its
    difference from 1 is at most half of that of the one used.

    Examples
    --------
    >>> faults(Convergence(divergences=0, rhat=1.004, ess=150, draws=300), chains=2)
    ['few draws: ESS 150 below 200, ask for 480 a chain: fit(..., draws=480)']
    >>> faults(Convergence(30, 1.0, 900, target_accept=0.99), chains=4)
    ['30 divergences in 4000 draws at target_accept=0.99: reparametrise the layout']
    >>> faults(Convergence(0, 1.7, 900, "the chains stay in separate modes of mood"), chains=4)
    ['R-hat 1.7000 above 1.01: the chains stay in separate modes of mood']
    """
    least, rhat, ess = ESS_PER_CHAIN * chains, convergence.rhat, convergence.ess
    draws, count, aim = convergence.draws, convergence.divergences, convergence.target_accept
    apart, over = convergence.apart, rhat > RHAT_LIMIT
    mixing = rhat <= _RHAT_OF_FEW and ess >= _ESS_OF_FEW * chains and not apart
    minor = mixing and count <= _FEW_DIVERGENCES * chains * draws
    higher = next((high for high in _TARGETS if 1 - high <= (1 - aim) / 2 + 1e-15), None)
    among, surer = f"in {many(chains * draws, 'draw')}", f"fit(..., target_accept={higher})"
    sure, other = f"{surer} tells whether they matter", f"raise target_accept, as in {surer}, or "
    if higher is None:
        among += f" at target_accept={aim:g}"
        sure, other = "a reparametrised layout may have none", ""
    tuned = f"tune={4 * max(convergence.tune, draws)}, " * bool(convergence.tune)
    longer = f"fit(..., {tuned}draws={4 * draws})"
    short = [f"ESS {ess:.0f} below {least}"] * (ess < least)
    short += [f"R-hat {rhat:.4f} above {RHAT_LIMIT}"] * over
    times = max(least / ess, (rhat**2 - 1) / (RHAT_LIMIT**2 - 1)) if mixing else 1
    enough = _rounded_up(_SPARE * times * draws)
    table = [
        (minor and count, f"few divergences: {count} {among}, ", sure),
        (
            count and not minor,
            f"{many(count, 'divergence')} {among}: ",
            f"{other}reparametrise" + " the layout" * (not other),
        ),
        (
            mixing and short,
            f"few draws: {' and '.join(short)}, ",
            f"ask for {enough:,} a chain: fit(..., draws={enough})",
        ),
        (np.isnan(rhat), "R-hat unknown: ", "it needs at least 2 chains that move"),
        (
            not mixing and over,
            f"R-hat {rhat:.4f} above {RHAT_LIMIT}: ",
            apart or f"the chains do not agree, try longer ones: {longer}",
        ),
        (np.isnan(ess), "effective sample size unknown: ", "it needs chains that move"),
        (
            not mixing and ess < least,
            f"effective sample size {ess:.0f} below {least}",
            "" if apart or over else f": {longer}",
        ),
    ]
    return [text + remedy for condition, text, remedy in table if condition]


def status(reasons: Sequence[str]) -> str:
    """Return the status of a subject's sampling, given its faults.

    The status is ``ok``, ``few draws``, ``few divergences``, ``modes not searched`` or
    ``not converged``.

    Examples
    --------
    >>> status([]), status(["few draws: ESS 150 below 200, ..."]), status(["R-hat 1.7, ..."])
    ('ok', 'few draws', 'not converged')
    """
    if not reasons:
        return "ok"
    if not all(reason.startswith(("few ", NOT_SEARCHED)) for reason in reasons):
        return "not converged"
    first = [reason for reason in reasons if reason.startswith(NOT_SEARCHED)]
    return (first or reasons)[-1].partition(":")[0]


def _rounded_up(number: float) -> int:
    """Round up to two significant digits."""
    step = 10.0 ** max(0, math.floor(math.log10(number)) - 1)
    return int(step) * math.ceil(number / step)


def by_element(draws: np.ndarray) -> np.ndarray:
    """Move labels forward: (subject, chain, draw, labels...) to (subject, element, chain, draw).

    Examples
    --------
    >>> by_element(np.zeros((5, 4, 100, 3))).shape, by_element(np.zeros((5, 4, 100))).shape
    ((5, 3, 4, 100), (5, 1, 4, 100))
    """
    return draws.reshape(*draws.shape[:3], math.prod(draws.shape[3:])).transpose(0, 3, 1, 2)


def worst(measures: RhatEss) -> tuple[np.ndarray, np.ndarray]:
    """Return largest R-hat and smallest effective sample size along the last axis, or NaN."""
    return measures.rhat.max(axis=-1), np.minimum(measures.ess_bulk, measures.ess_tail).min(axis=-1)
