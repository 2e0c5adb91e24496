"""Scores of many predictions on many resamples of the items at once."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from ..data import Evaluation

SCORES = ("auroc", "ece", "brier")

_BINS = 10
_TOGETHER = 64  # resamples whose counts stay close to a processor


def scored(evaluation: Evaluation, chances: xr.DataArray, times: np.ndarray) -> xr.Dataset:
    """Score predictions with every item counted so many times.

    Parameters
    ----------
    evaluation : Evaluation
        Outcomes.
    chances : DataArray
        Predictions, (method, subject, item), in the order of the evaluation.
    times : ndarray of int, shape (resamples, items)
        How often each item counts.

    Returns
    -------
    Dataset
        ``auroc``, ``ece`` (10 bins) and ``brier`` as in `scoring`, each (resample, subject,
        method). NaN where a prediction is missing, there is no trial, or, for ``auroc``, all
        outcomes are alike.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1, 0]], ["Ann"], items.index), items)
    >>> names = {"method": ["half"], "subject": ["Ann"], "item": ["a", "b"]}
    >>> halves = xr.DataArray(0.5, names, list(names))
    >>> found = scored(evaluation, halves, np.array([[1, 1], [2, 0]]))
    >>> [found[name].to_numpy().ravel() for name in ("auroc", "ece", "brier")]
    [array([0.5, nan]), array([0. , 0.5]), array([0.25, 0.25])]
    """
    methods, subjects, _ = chances.shape
    found = np.full((len(SCORES), len(times), subjects, methods), np.nan)
    won = evaluation.successes.to_numpy(dtype=float)
    lost = evaluation.trials.to_numpy(dtype=float) - won
    values = chances.to_numpy()
    complete = ~np.isnan(values).any(axis=2)
    curves = {
        (method, subject): auroc_of(values[method, subject], won[subject], lost[subject])
        for method, subject in np.argwhere(complete)
    }
    for first in range(0, len(times), _TOGETHER):
        block = slice(first, first + _TOGETHER)
        counted = np.ascontiguousarray(times[block].T, dtype=float)
        for (method, subject), auroc in curves.items():
            place = block, subject, method
            outcomes = values[method, subject], won[subject], lost[subject]
            found[(0, *place)] = auroc(counted)
            found[(1, *place)], found[(2, *place)] = _losses(*outcomes, counted)
    dims = ("resample", "subject", "method")
    names = {name: chances[name].to_numpy() for name in dims[1:]}
    return xr.Dataset({name: (dims, own) for name, own in zip(SCORES, found, strict=True)}, names)


def auroc_of(
    chances: np.ndarray, won: np.ndarray, lost: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Sort predictions once, to find the area under the ROC curve for any counts of items.

    Parameters
    ----------
    chances, won, lost : ndarray, shape (items,)
        Predictions, successes and failures.

    Returns
    -------
    callable
        From how often each item counts, (items, resamples), to areas, (resamples,).

    Examples
    --------
    >>> area = auroc_of(np.array([0.2, 0.7, 0.7]), np.array([0, 0, 1]), np.array([1, 1, 0]))
    >>> area(np.array([[1, 0], [1, 1], [1, 1]]))
    array([0.75, 0.5 ])
    """
    tried = np.flatnonzero(won + lost)
    order = tried[np.argsort(chances[tried], kind="stable")]
    starts = np.flatnonzero(np.diff(chances[order], prepend=-1))
    right, wrong = won[order, None], lost[order, None]

    def area(times: np.ndarray) -> np.ndarray:
        counted = times[order]
        above = np.add.reduceat(counted * right, starts)
        below = np.add.reduceat(counted * wrong, starts)
        pairs = above.sum(axis=0) * below.sum(axis=0)
        ordered = (above * (below.cumsum(axis=0) - below / 2)).sum(axis=0)
        unknown = np.full(len(pairs), np.nan)
        return np.asarray(np.divide(ordered, pairs, out=unknown, where=pairs > 0))

    return area


def _losses(
    chances: np.ndarray, won: np.ndarray, lost: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute expected calibration errors and Brier scores, (resamples,) each."""
    trials = won + lost
    bins = np.searchsorted(np.arange(1, _BINS) / _BINS, chances, side="right")
    gaps = np.zeros((_BINS, len(chances)))
    gaps[bins, np.arange(len(chances))] = trials * chances - won
    squares = won * (1 - chances) ** 2 + lost * chances**2
    total = trials @ times
    unknown = np.full(len(total), np.nan)
    ece, brier = (
        np.divide(sums, total, out=unknown.copy(), where=total > 0)
        for sums in (np.abs(gaps @ times).sum(axis=0), squares @ times)
    )
    return ece, brier
