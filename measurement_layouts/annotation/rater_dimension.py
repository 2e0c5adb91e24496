"""The model of raters for one dimension: fitting, and averages over draws."""

import math
from dataclasses import dataclass

import numpy as np

from .importance import draws_about, mode
from .rater_density import Raters

_DRAWS = 400


@dataclass(frozen=True, eq=False)
class OneDimension:
    """Results of the model of raters for one dimension.

    Attributes
    ----------
    demands : ndarray, shape (items, levels)
        Probabilities of true levels.
    confusions : ndarray, shape (raters, levels, levels)
        Probabilities of a rater's levels (last axis) given the true level.
    traits : ndarray, shape (draws, raters, 4)
        Bias, scale, noise and reliability.
    together : ndarray, shape (draws,)
        Reliability of all raters of an item together.
    misfit : float
        Distance between observed and expected shares of patterns, in [0, 1]: the share of items
        whose levels would have to be others.
    effective : float
        Effective number of draws.
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
    """Average the true levels of items and the errors of raters over draws.

    Parameters
    ----------
    raters : Raters
        The ratings, and the assumptions about errors.
    draws : ndarray, shape (draws, parameters)
        Draws of the parameters.
    places : ndarray of int, shape (items,)
        Number of each item's pattern.
    effective : float
        Effective number of draws.

    Returns
    -------
    OneDimension
        Results for these items.
    """
    levels, (nodes, weights) = raters.levels, raters.truths
    chances = raters.chances(draws, nodes)
    expected = chances @ levels  # draw x rater x node
    truth = expected.mean(axis=1)
    cell = np.eye(len(levels))[np.searchsorted((levels[1:] + levels[:-1]) / 2, truth)]
    given = np.zeros((len(raters.patterns), len(levels)))
    likely = np.zeros(len(raters.patterns))
    together = np.empty(len(draws))
    for some in raters.blocks(len(draws)):
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
    """Compute bias, scale, noise and reliability of each rater, shape (draws, raters, 4)."""
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
    """Average raters' levels of items with each true level (if none has it: the nearest items)."""
    mass = cells.sum(axis=(0, 1))
    found = np.einsum("drnk,dnl->rlk", chances, cells)
    for place in np.flatnonzero(mass == 0):
        nearest = np.abs(truth - levels[place]).argmin(axis=1)
        found[:, place] = chances[np.arange(len(truth)), :, nearest].sum(axis=0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _misfit(raters: Raters, likely: np.ndarray) -> float:
    """Compute half the sum of absolute differences from expected shares of complete patterns."""
    whole = (raters.patterns >= 0).all(axis=1)
    if not whole.any():
        return math.nan
    share = raters.counts[whole] / raters.counts[whole].sum()
    return float(np.maximum(share - likely[whole], 0).sum())


def fitted(raters: Raters, places: np.ndarray, seed: int) -> OneDimension:
    """Fit the model of raters for one dimension.

    Parameters
    ----------
    raters, places
        As `Raters.of` returns them.
    seed : int
        Seed of the draws.

    Returns
    -------
    OneDimension
        Results, averaged over draws of the parameters.
    """
    centre = mode(raters.log_density, raters.start)
    drawn, effective = draws_about(raters.log_density, centre, _DRAWS, np.random.default_rng(seed))
    return summarised(raters, drawn, places, effective)
