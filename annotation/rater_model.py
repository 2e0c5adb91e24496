"""A model of raters, fitted: true levels of items, and what each rater makes of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy import optimize

from ..common.messages import many
from .importance import draws_about, mode
from .rater_density import Raters
from .resampling import check_resampling

_DRAWS = 400
_BLOCK = 4_000_000  # numbers in an array of draws by patterns by nodes
_TRAITS = ("bias", "scale", "noise", "reliability")


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
    return found / found.sum(axis=-1, keepdims=True)


def _misfit(raters: Raters, likely: np.ndarray) -> float:
    """Half the sum of what separates shares of patterns from their chances; whole patterns only."""
    whole = (raters.patterns >= 0).all(axis=1)
    if not whole.any():
        return math.nan
    share = raters.counts[whole] / raters.counts[whole].sum()
    return float(np.maximum(share - likely[whole], 0).sum())


@dataclass(frozen=True, eq=False)
class RaterModel:
    r"""True levels of items, and bias, scale, noise and confusions of raters.

    Made by `Ratings.rater_model`. For each dimension, an item has a true place `z`, and a rater's
    level is that of `z` with the rater's own noise `s`, cut where the rater's own thresholds lie
    (an ordered probit, summed over `z`):

    .. math:: z_i \sim N(0, 1), \qquad P(y_{ir} \le k) = \Phi\left(
       \frac{\tau_{r,k} \sqrt{1 + s_r^2} - z_i}{s_r}\right), \qquad
       t_i = \frac{1}{R} \sum_r E[y_{ir} \mid z_i]

    The true level `t` is what the raters would say of the item on average, if they were asked again
    and again. So biases of the raters sum to 0, and their scales have a mean of 1: an error that
    all of them share is part of the truth.

    Attributes
    ----------
    items, names : tuple of str
        Of the items, and of the raters.
    levels : tuple of float
        Of the rubrics.
    dimensions : dict of str to OneDimension
        What was found.
    assumed : str
        What was assumed about the errors of the raters.

    References
    ----------
    Olsson (1979), Psychometrika 44, 443-460 (two raters with thresholds of their own); Johnson
    (1996), JASA 91, 42-51 (bias and noise of raters of ordered levels).

    Examples
    --------
    >>> from measurement_layouts.annotation.ratings import Ratings
    >>> random = np.random.default_rng(1)
    >>> truth = random.normal(2.5, 1, 300)
    >>> said = {name: np.rint(truth + random.normal(bias, 0.6, 300)).clip(0, 5)
    ...         for name, bias in {"one": -0.3, "two": 0.3}.items()}
    >>> ratings = Ratings.from_wide({name: pd.DataFrame({"planning": levels})
    ...                              for name, levels in said.items()})
    >>> model = ratings.rater_model()
    >>> model
    <RaterModel: 300 items, 2 raters, 1 dimension; the raters are equally reliable>
    >>> model.raters()["bias"].round(1).to_dict()
    {('planning', 'one'): -0.3, ('planning', 'two'): 0.3}
    """

    items: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[float, ...]
    dimensions: dict[str, OneDimension]
    assumed: str

    def raters(self, prob: float = 0.9) -> pd.DataFrame:
        """Say what each rater does, by dimension.

        Parameters
        ----------
        prob : float, default 0.9
            Of the intervals.

        Returns
        -------
        DataFrame
            By ``dimension`` and ``rater``: ``bias`` (how much higher its levels are than true ones,
            on average over items), ``scale`` (by how much they rise when the true level rises by
            one), ``noise`` (standard deviation of its levels of items that are truly alike, the
            rounding to whole levels included) and ``reliability`` (squared correlation with true
            levels), each with ``_low`` and ``_high``.

        Raises
        ------
        AnnotationError
            When `prob` is out of range.
        """
        check_resampling(prob)
        rows = {
            (dimension, name): _intervals(_TRAITS, each.traits[:, place], prob)
            for dimension, each in self.dimensions.items()
            for place, name in enumerate(self.names)
        }
        return pd.DataFrame(rows).T.rename_axis(["dimension", "rater"])

    def demands(self) -> xr.DataArray:
        """Chances of true levels, for each item and dimension.

        Items that nobody rated in a dimension have the chances of any item.

        Returns
        -------
        DataArray
            ``demand``, with the dims item, dimension and level; sums over level are 1.
        """
        values = np.stack([each.demands for each in self.dimensions.values()], axis=1)
        return xr.DataArray(
            values / values.sum(axis=-1, keepdims=True),
            coords={
                "item": np.array(self.items, dtype=object),
                "dimension": [*self.dimensions],
                "level": [*self.levels],
            },
            dims=("item", "dimension", "level"),
            name="demand",
        )

    def confusions(self) -> xr.DataArray:
        """Chances of the level that a rater says, given the true level.

        Returns
        -------
        DataArray
            ``chance``, with the dims dimension, rater, true_level and level. Where no item has a
            true level, it is that of the items nearest to it.
        """
        return xr.DataArray(
            np.stack([each.confusions for each in self.dimensions.values()]),
            coords={
                "dimension": [*self.dimensions],
                "rater": [*self.names],
                "true_level": [*self.levels],
                "level": [*self.levels],
            },
            dims=("dimension", "rater", "true_level", "level"),
            name="chance",
        )

    def __repr__(self) -> str:
        return (
            f"<RaterModel: {many(len(self.items), 'item')}, {many(len(self.names), 'rater')}, "
            f"{many(len(self.dimensions), 'dimension')}; {self.assumed}>"
        )


def _intervals(names: Sequence[str], draws: np.ndarray, prob: float) -> dict[str, float]:
    """Means with intervals, by name: draws x names."""
    ends = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    found = {}
    for name, mean, low, high in zip(names, draws.mean(axis=0), *ends, strict=True):
        found |= {name: float(mean), f"{name}_low": float(low), f"{name}_high": float(high)}
    return found


def fitted(
    said: np.ndarray,
    levels: np.ndarray,
    noise: tuple[float | int, ...],
    powers: tuple[float, ...],
    error_correlation: float,
    seed: int,
    draws: int = _DRAWS,
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
    draws : int
        How many.

    Returns
    -------
    OneDimension
        Averaged over draws of the parameters.
    """
    raters, places = patterns_of(said, levels, noise, powers, error_correlation)
    centre = mode(raters.log_density, raters.start)
    drawn, effective = draws_about(raters.log_density, centre, draws, np.random.default_rng(seed))
    return summarised(raters, drawn, places, effective)


def patterns_of(
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
