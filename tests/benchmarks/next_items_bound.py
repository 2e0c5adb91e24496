"""The least uncertainty that any choice of items may leave, as a bound that is certain.

The loss of a design, under the normal approximation, is convex in the numbers of items of each
kind: posterior variances are convex in the information, and so are their roots. A convex function
lies above each of its tangents, so that the least value of a tangent over all choices of n items,
which sorting finds, is below the loss of all of them. Numbers that are not whole come near the
best tangent (the method of Frank and Wolfe).
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

import measurement_layouts as ml
from measurement_layouts.batteries.design.start import Start
from measurement_layouts.batteries.information.expected import near_by

_STEPS = 60


def least(
    layout: ml.Layout, bank: pd.DataFrame, chosen: pd.Index, weights: np.ndarray, draws: int
) -> tuple[float, float]:
    """Bound the loss of as many items as are chosen, each at most once.

    Parameters
    ----------
    layout : Layout
        The layout.
    bank : DataFrame
        All items.
    chosen : Index
        Items where the search begins; draws are near each other as under these.
    weights : ndarray, shape (elements,)
        Of the standard deviations in the loss; they sum to 1.
    draws : int
        Profiles over which the loss is a mean.

    Returns
    -------
    tuple of float
        The bound, and the loss of the chosen items, in the elements' unit.
    """
    source, rows = Start.of(layout, None, None).over(bank, draws, seed=5)
    kinds, size = source.block.count, len(weights)
    slopes = np.empty((draws, kinds, size), dtype=np.float32)
    for part, scaled in source.slopes():
        slopes[part] = scaled
    there = np.bincount(rows.ravel(), minlength=kinds)
    own = rows.ravel()[bank.index.get_indexer(chosen)]
    counts = np.bincount(own, minlength=kinds).astype(float)
    count = len(chosen)

    def information(counts: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(counts)
        part = slopes[:, used].astype(float)
        return np.asarray((part.transpose(0, 2, 1) * counts[used]) @ part)

    def covariance(found: np.ndarray) -> np.ndarray:
        mean = (nearness @ found.reshape(draws, -1)).reshape(found.shape)
        return np.linalg.inv(mean + source.precision)

    def loss(found: np.ndarray) -> float:
        variance = np.diagonal(covariance(found), axis1=1, axis2=2)
        return float((np.sqrt(variance) @ weights).mean())

    found = information(counts)
    nearness = near_by(found, source)[1]
    begun, bound = loss(found), -np.inf
    for _ in range(_STEPS):
        known = covariance(found)
        sds = np.sqrt(np.diagonal(known, axis1=1, axis2=2))
        worth = (known * (weights / (2 * sds))[:, None]) @ known
        worth = (nearness.T @ worth.reshape(draws, -1)).reshape(worth.shape) / draws
        slope = -sum(
            ((own @ each) * own).sum(axis=1)
            for own, each in zip(slopes, worth.astype(np.float32), strict=True)
        )
        order = np.argsort(slope)
        taken = np.zeros(kinds)
        taken[order] = np.diff(np.minimum(np.cumsum(there[order]), count), prepend=0)
        bound = max(bound, loss(found) + float(slope @ (taken - counts)))
        towards = information(taken)
        share = minimize_scalar(
            lambda part, ends=(found, towards): loss((1 - part) * ends[0] + part * ends[1]),
            bounds=(0, 1),
            method="bounded",
        ).x
        found = (1 - share) * found + share * towards
        counts = (1 - share) * counts + share * taken
    return float(bound), begun
