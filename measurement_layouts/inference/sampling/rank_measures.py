"""R-hat and effective sample sizes by ranks, of many elements at once: `convergence.rhat_ess`."""

import math

import numpy as np
from scipy import fft
from scipy.special import ndtri
from scipy.stats import rankdata

_TAIL = (0.05, 0.95)  # the tail's effective sample size is the smaller one of these two quantiles
_CONSTANT = 1e-15  # numbers that are closer than this are equal


def rank_measures(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute R-hat, and effective sample sizes of bulk and tail, of (elements, chain, draw)."""
    elements, chains, length = draws.shape
    half = length // 2
    halves = np.concatenate([draws[..., :half], draws[..., length - half :]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # chains that do not move, or NaN
        scores = _normal_scores(halves)
        rhat = np.full(elements, np.nan)
        if chains > 1:
            folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
            rhat = np.fmax(_rhat(scores), _rhat(_normal_scores(folded)))
        ends = np.quantile(draws, _TAIL, axis=(1, 2))[..., None, None]
        low, high = (_ess((halves <= end).astype(float)) for end in ends)
        bulk, tail = _ess(scores), np.minimum(low, high)
    unknown = np.isnan(draws).any(axis=(1, 2))
    rhat, bulk, tail = (np.where(unknown, np.nan, values) for values in (rhat, bulk, tail))
    return rhat, bulk, tail


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    """Compute the normal scores of draws among those of all chains; equal draws share a rank."""
    size = math.prod(draws.shape[1:])
    order = np.argsort(draws.reshape(-1, size), axis=-1)
    ordered = np.take_along_axis(draws.reshape(-1, size), order, axis=-1)
    scores = np.tile(ndtri((np.arange(size) + 5 / 8) / (size + 1 / 4)), (len(order), 1))
    for row in np.flatnonzero((np.diff(ordered) == 0).any(axis=1)):
        ranks = rankdata(ordered[row])
        scores[row] = ndtri((ranks - 3 / 8) / (size + 1 / 4))
    result = np.empty_like(scores)
    np.put_along_axis(result, order, scores, axis=-1)
    return result.reshape(draws.shape)


def _rhat(halves: np.ndarray) -> np.ndarray:
    """Compute R-hat of draws of shape (elements, half chain, draw)."""
    draws = halves.shape[-1]
    between = draws * halves.mean(axis=-1).var(axis=-1, ddof=1)
    within = halves.var(axis=-1, ddof=1).mean(axis=-1)
    return np.asarray(np.sqrt((between / within + draws - 1) / draws))


def _ess(halves: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the mean, with Geyer's sequence; shapes as `_rhat`."""
    elements, chains, draws = halves.shape
    means, every = halves.mean(axis=-1), np.arange(elements)
    length = fft.next_fast_len(2 * draws, real=True)
    spectrum = np.fft.rfft(halves - means[..., None], n=length, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariance = np.fft.irfft(power, n=length, axis=-1)[:, :draws] / draws
    within = covariance[:, :1] * draws / (draws - 1)
    total = covariance[:, :1] + means.var(axis=-1, ddof=1)[:, None]
    correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1
    last = 2 * max(1, (draws - 1) // 2)  # lags in the pairs (0, 1), (2, 3), ...
    pairs = correlation[:, 0:last:2] + correlation[:, 1:last:2]
    ended = ~(pairs > 0)
    ended[:, -1] = True
    count = ended.argmax(axis=1)  # number of pairs before the first that is not positive
    falling = np.minimum.accumulate(pairs, axis=1) * (np.arange(last // 2) < count[:, None])
    rest = correlation[every, 2 * count]
    rest = np.where((rest > 0) | (pairs[every, count] >= 0), rest, 0)
    size = chains * draws
    time = np.maximum(2 * falling.sum(axis=1) + rest - 1, 1 / np.log10(size))
    return np.asarray(np.where(np.ptp(halves, axis=(1, 2)) < _CONSTANT, size, size / time))
