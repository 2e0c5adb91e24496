"""The model of raters for one dimension: fitted, and averaged over its draws."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from .importance import draws_about, mode
from .rater_density import Raters

_DRAWS = 400
_BLOCK = 4_000_000  # numbers in an array of draws by patterns by nodes


@dataclass(frozen=True, eq=False)
class OneDimension:
    """What the model of raters says of one dimension.

    Attributes
    ----------
    demands : ndarray
        Chances of true levels: item x level.
    confusions : ndarray
        Chances of what a rater says, given the true level: rater x true level x level.
    traits : ndarray
        Draw x rater x (bias, scale, noise, reliability).
    together : ndarray
        Reliability of all raters of an item together, draw by draw.
    misfit : float
        Share of the items whose levels the model has elsewhere.
    effective : float
        Effective draws.
    """

    demands: np.ndarray
    confusions: np.ndarray
    traits: np.ndarray
    together: np.ndarray
    misfit: float
    effective: float


def summarised(
    raters: Raters, draws: np.ndarray, places: np.ndarray, effective: float = math.nan
) -> OneDimension:
    """Average over draws what is true of items, and what raters make of it.

    Parameters
    ----------
    raters : Raters
        What was said.
    draws : ndarray
        Draw x parameter.
    places : ndarray of int
        Of each item, the number of its pattern.
    effective : float
        Effective draws.

    Returns
    -------
    OneDimension
        Of these items.
    """
    levels, (nodes, weights) = raters.levels, raters.truths
    chances = raters.chances(draws, nodes)
    expected = chances @ levels  # draw x rater x node
    truth = expected.mean(axis=1)
    cell = np.eye(len(levels))[np.searchsorted((levels[1:] + levels[:-1]) / 2, truth)]
    given = np.zeros((len(raters.patterns), len(levels)))
    likely = np.zeros(len(raters.patterns))
    together = np.empty(len(draws))
    block = max(1, _BLOCK // (len(raters.patterns) * len(nodes)))
    for first in range(0, len(draws), block):
        some = slice(first, first + block)
        joint = raters.joint(draws[some])
        total = joint.sum(axis=-1, keepdims=True)
        joint /= total
        likely += total[..., 0].sum(axis=0) / len(draws)
        given += (joint @ cell[some]).sum(axis=0) / len(draws)
        level = np.einsum("dpn,dn->dp", joint, truth[some])
        square = np.einsum("dpn,dn->dp", joint, truth[some] ** 2)
        share = raters.counts / raters.counts.sum()
        known = (level**2) @ share - (level @ share) ** 2
        together[some] = known / (known + (square - level**2) @ share)
    return OneDimension(
        demands=given[places],
        confusions=_confusions(chances, cell * weights[:, None], truth, levels),
        traits=_traits(chances, expected, truth, levels, weights),
        together=together,
        misfit=_misfit(raters, likely),
        effective=effective,
    )


def _traits(
    chances: np.ndarray,
    expected: np.ndarray,
    truth: np.ndarray,
    levels: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Bias, scale, noise and reliability of each rater: draw x rater x 4."""
    truth = truth[:, None]
    bias = (expected - truth) @ weights
    spread = (truth - (truth @ weights)[..., None]) * weights
    variance = (spread * truth).sum(axis=-1)
    scale = (expected * spread).sum(axis=-1) / variance
    squares = chances @ levels**2
    noise = np.sqrt((squares - expected**2) @ weights)
    said = squares @ weights - (expected @ weights) ** 2
    return np.stack([bias, scale, noise, scale**2 * variance / said], axis=-1)


def _confusions(
    chances: np.ndarray, cells: np.ndarray, truth: np.ndarray, levels: np.ndarray
) -> np.ndarray:
    """Average what raters say of a true level; where no item has it, of the items nearest to it."""
    mass = cells.sum(axis=(0, 1))
    found = np.einsum("drnk,dnl->rlk", chances, cells)
    for place in np.flatnonzero(mass == 0):
        nearest = np.abs(truth - levels[place]).argmin(axis=1)
        found[:, place] = chances[np.arange(len(truth)), :, nearest].sum(axis=0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _misfit(raters: Raters, likely: np.ndarray) -> float:
    """Half the sum of what separates shares of patterns from their chances; whole patterns only."""
    whole = (raters.patterns >= 0).all(axis=1)
    if not whole.any():
        return math.nan
    share = raters.counts[whole] / raters.counts[whole].sum()
    return float(np.maximum(share - likely[whole], 0).sum())


def fitted(
    said: np.ndarray,
    levels: np.ndarray,
    noise: tuple[float | int, ...],
    powers: tuple[float, ...],
    error_correlation: float,
    seed: int,
) -> OneDimension:
    """Fit the model of raters for one dimension.

    Parameters
    ----------
    said : ndarray
        Item x rater, NaN where there is none.
    levels : ndarray
        As numbers, ascending.
    noise, powers, error_correlation
        As in `Raters`.
    seed : int
        Of the draws.

    Returns
    -------
    OneDimension
        Averaged over draws of the parameters.
    """
    raters, places = _patterns(said, levels, noise, powers, error_correlation)
    centre = mode(raters.log_density, raters.start)
    drawn, effective = draws_about(raters.log_density, centre, _DRAWS, np.random.default_rng(seed))
    return summarised(raters, drawn, places, effective)


def at_mode(
    said: np.ndarray,
    levels: np.ndarray,
    noise: tuple[float | int, ...],
    powers: tuple[float, ...],
    error_correlation: float,
) -> OneDimension:
    """Fit the model of raters for one dimension, at the parameters of the highest density alone.

    Parameters
    ----------
    said, levels, noise, powers, error_correlation
        As in `fitted`.

    Returns
    -------
    OneDimension
        Of one draw.
    """
    raters, places = _patterns(said, levels, noise, powers, error_correlation)
    return summarised(raters, mode(raters.log_density, raters.start)[None], places)


def _patterns(
    said: np.ndarray,
    levels: np.ndarray,
    noise: tuple[float | int, ...],
    powers: tuple[float, ...],
    error_correlation: float,
) -> tuple[Raters, np.ndarray]:
    """Count what was said, pattern by pattern; and find each item's pattern."""
    numbers = np.where(np.isnan(said), -1, np.searchsorted(levels, said)).astype(int)
    patterns, places, counts = np.unique(numbers, axis=0, return_inverse=True, return_counts=True)
    counts = counts * (patterns >= 0).any(axis=1)  # an item without ratings tells nothing
    return Raters(patterns, counts.astype(float), levels, noise, powers, error_correlation), places


def stated_noise(said: np.ndarray, levels: np.ndarray, reliability: float) -> float:
    """Noise of a rater with a stated reliability, at the shares in which it uses the levels.

    Parameters
    ----------
    said : ndarray
        Levels, NaN where there is none.
    levels : ndarray
        As numbers, ascending.
    reliability : float
        Share of the variance of levels that is true.

    Returns
    -------
    float
        The noise.
    """
    numbers = np.searchsorted(levels, said[~np.isnan(said)])[:, None]

    def lacking(log_noise: float) -> float:
        patterns, counts = np.unique(numbers, axis=0, return_counts=True)
        one = Raters(patterns, counts, levels, (math.exp(log_noise),), (1.0,), 0.0)
        nodes, weights = one.truths
        chances = one.chances(one.start[None], nodes)
        expected = chances @ levels
        traits = _traits(chances, expected, expected[:, 0], levels, weights)
        return float(traits[0, 0, 3]) - reliability

    return math.exp(optimize.brentq(lacking, math.log(0.03), math.log(100)))
