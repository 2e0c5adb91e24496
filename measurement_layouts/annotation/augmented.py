"""Measured demands that use what an item's other dimensions tell about each dimension."""

import numpy as np
import xarray as xr
from scipy.special import ndtr, ndtri

from ..common.errors import AnnotationError
from ..common.messages import some

_DIMS = ("item", "dimension", "level")
_SETTLING, _SWEEPS = 60, 200  # sweeps of the Gibbs sampler before and while chances are averaged
_ROUNDING = 1e-6
_FLOOR = 1e-12
"""Least probability of a level given the other dimensions."""


def augmented_demands(demands: xr.DataArray, *, seed: int = 1) -> xr.DataArray:
    r"""Revise the probability of each level with the information in an item's other dimensions.

    Items that are demanding on one dimension tend to be demanding on others. Probabilities that
    were measured separately for each dimension do not use this: they shrink the levels of an
    item too far towards the average of all items, on all dimensions in the same direction,
    which biases abilities. Here the true positions of an item on all dimensions are jointly
    normal:

    .. math:: z_i \sim N(0, R), \qquad t_{id} = l \iff
       \tau_{d,l} < z_{id} \le \tau_{d,l+1}, \qquad
       P(t_{id} = l \mid \text{all}) \propto
       \frac{p_{id}(l)}{\bar p_d(l)} \, P(\tau_{d,l} < z_{id} \le \tau_{d,l+1} \mid \text{others})

    `p` are the given probabilities, their mean over items `\bar p` gives the thresholds, and the
    ratio of the two is the likelihood of the item's ratings. The correlations `R` are estimated
    from the same items by stochastic EM; the revised probabilities are averages over 200 sweeps of
    a Gibbs sampler, with a standard error of about .01.

    Parameters
    ----------
    demands : DataArray
        Probabilities of levels, with the dims ``item``, ``dimension`` and ``level``, from
        `Ratings.demands`, `RaterModel.demands` or `stated_reliability`. The correlations are
        estimated better from more items: a few hundred are needed, and with fewer items than
        dimensions the probabilities hardly change.
    seed : int, default 1
        Seed of the sampler.

    Returns
    -------
    DataArray
        As `demands`, with the revised probabilities; sums over level are 1. Within an item the
        levels of different dimensions remain independent, so that a layout averages over them as
        before.

    Raises
    ------
    AnnotationError
        When `demands` has other dims, or probabilities are missing, negative or do not add up to 1.

    References
    ----------
    Wainer and others (2001), Augmented scores: "borrowing strength" to compute scores based on
    small numbers of items, in Thissen and Wainer, Test Scoring, chapter 9; Celeux and Diebolt
    (1985), Computational Statistics Quarterly 2, 73-82 (stochastic EM).

    Examples
    --------
    Two dimensions are correlated. The ratings of the last item's planning are uninformative, and
    its logic is known to be hard:

    >>> level = np.repeat([0, 1, 2], 100)
    >>> chances = np.eye(3)[np.stack([level, level], axis=1)] * 0.8 + 0.2 / 3
    >>> chances[-1, 0] = 1 / 3
    >>> demands = xr.DataArray(chances, {"item": np.arange(300),
    ...     "dimension": ["planning", "logic"], "level": [0, 1, 2]}, name="demand")
    >>> last = augmented_demands(demands).sel(item=299, dimension="planning")
    >>> last.round(1).values.tolist()
    [0.0, 0.1, 0.9]
    """
    table = _checked(demands)
    chances = table.to_numpy().astype(float)
    shares = chances.mean(axis=0)
    likely = chances / np.where(shares > 0, shares, 1)
    upper = ndtri(np.minimum(np.cumsum(shares, axis=1)[:, :-1], 1))
    edge = np.full((len(shares), 1), np.inf)
    cuts = np.hstack([-edge, upper, edge])
    revised = _borrowed(likely, cuts, np.random.default_rng(seed))
    return table.copy(data=revised).transpose(*demands.dims)


def _borrowed(likely: np.ndarray, cuts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Average probabilities over draws of other dimensions, shape (items, dimensions, levels)."""
    items, dimensions, _ = likely.shape
    places = np.zeros((items, dimensions))
    correlations = np.eye(dimensions)
    found, kept = np.zeros_like(likely), np.zeros_like(correlations)
    for sweep in range(_SETTLING + _SWEEPS):
        precision = np.linalg.inv(correlations)
        for at in range(dimensions):
            own = precision[at, at]
            middle = places[:, at] - places @ precision[at] / own
            below = ndtr((cuts[at] - middle[:, None]) * own**0.5)
            chances = likely[:, at] * np.maximum(np.diff(below, axis=1), _FLOOR)
            chances /= chances.sum(axis=1, keepdims=True)
            if sweep >= _SETTLING:
                found[:, at] += chances / _SWEEPS
            level = (np.cumsum(chances, axis=1) < random.random((items, 1))).sum(axis=1)
            level = np.minimum(level, chances.shape[1] - 1)[:, None]
            low, high = (np.take_along_axis(below, level + more, axis=1)[:, 0] for more in (0, 1))
            rank = np.clip(low + (high - low) * random.random(items), _FLOOR, 1 - _FLOOR)
            places[:, at] = middle + ndtri(rank) / own**0.5
        if sweep < _SETTLING:
            # A prior of as many uncorrelated items as there are dimensions keeps this invertible.
            spread = places.T @ places + dimensions * np.eye(dimensions)
            correlations = spread / np.sqrt(np.outer(spread.diagonal(), spread.diagonal()))
            kept += correlations * (sweep >= _SETTLING // 2)
        if sweep == _SETTLING - 1:
            correlations = kept / (_SETTLING - _SETTLING // 2)
    return found


def _checked(demands: xr.DataArray) -> xr.DataArray:
    """Order the dims; refuse values that are not probabilities of levels."""
    if not isinstance(demands, xr.DataArray) or {*demands.dims} != {*_DIMS}:
        what = demands.dims if isinstance(demands, xr.DataArray) else type(demands).__name__
        raise AnnotationError(
            f"demands: found {what}; give an xarray.DataArray of probabilities with the dims "
            f"{', '.join(_DIMS)}, such as Ratings.demands() returns"
        )
    table = demands.transpose(*_DIMS)
    values = table.to_numpy()
    good = (np.isfinite(values) & (values >= 0)).all(axis=2)
    good &= np.abs(values.sum(axis=2) - 1) <= _ROUNDING
    if not good.all():
        cells = [f"item {row + 1} on dimension {at + 1}" for row, at in np.argwhere(~good)]
        if {"item", "dimension"} <= {*table.coords}:
            items, names = table["item"].values, table["dimension"].values
            cells = [f"{items[row]} on {names[at]}" for row, at in np.argwhere(~good)]
        raise AnnotationError(
            f"demands: probabilities of levels are missing, negative or do not add up to 1 in "
            f"{len(cells)} cell(s): {some(cells, 3)}; correct them, or leave the items out"
        )
    return table
