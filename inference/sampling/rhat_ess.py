"""R-hat and effective sample sizes of many profile elements at once."""

import functools
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.special import ndtri

_TAIL = (0.05, 0.95)  # the quantiles whose effective sample sizes make the tail's
_CONSTANT = 1e-15  # numbers closer than this are all alike


class Mixing(NamedTuple):
    """How well chains mixed, a number for each element.

    Attributes
    ----------
    rhat : ndarray
        NaN for a single chain, and when no chain moves.
    ess_bulk, ess_tail : ndarray
        Effective numbers of draws.
    """

    rhat: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray


def mixing(draws: np.ndarray) -> Mixing:
    r"""Compute rank-normalised R-hat, bulk and tail effective sample size.

    Chains are cut into halves. A draw of rank r among N counts as its normal score
    :math:`z = \Phi^{-1}((r - 3/8) / (N + 1/4))`. R-hat is the larger one of that of z and that of
    the scores of the distances from the median. The bulk's sample size is that of z, the tail's the
    smaller one of the indicators of being below the 5 % and the 95 % quantile. The numbers are
    ArviZ's, several times faster: elements go together, and R-hat and the bulk share the ranks.

    Parameters
    ----------
    draws : ndarray, shape (..., chain, draw)
        At least 4 draws a chain.

    Returns
    -------
    Mixing
        Each of shape (...,); NaN for elements with a draw that is no number.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and
    localization, Bayesian Analysis 16(2).

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(2, 4, 500))
    >>> draws[1, 3] += 1
    >>> mixing(draws).rhat.round(2)
    array([1.01, 1.08])
    """
    *shape, chains, length = draws.shape
    draws = draws.reshape(-1, chains, length)
    elements, half = len(draws), length // 2
    cut = draws if length % 2 == 0 else np.delete(draws, half, axis=-1)
    cut = np.ascontiguousarray(cut, dtype=float).reshape(elements, 2 * chains * half)
    pieces = (elements, 2 * chains, half)
    order = np.argsort(cut, axis=-1)
    ordered = np.take_along_axis(cut, order, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):  # chains that do not move; no numbers
        scores = _normal_scores(order, ordered).reshape(pieces)
        rhat = np.full(elements, np.nan)
        if chains > 1:
            middle = ordered[:, chains * half - 1 : chains * half + 1].mean(axis=-1)
            far = np.abs(ordered - middle[:, None])
            by_distance = np.argsort(far, axis=-1, kind="stable")  # quick: two runs to merge
            folded = _normal_scores(
                np.take_along_axis(order, by_distance, axis=-1),
                np.take_along_axis(far, by_distance, axis=-1),
            )
            bulk, tail = _rhat(scores), _rhat(folded.reshape(pieces))
            rhat = np.where(tail > bulk, tail, bulk)
        whole = ordered if length % 2 == 0 else draws.reshape(elements, chains * length)
        ends = np.quantile(whole, _TAIL, axis=-1)
        low, high = (_ess((cut <= end[:, None]).astype(float).reshape(pieces)) for end in ends)
        found = Mixing(rhat, _ess(scores), np.minimum(low, high))
    unknown = np.isnan(draws).any(axis=(1, 2))
    return Mixing(*(np.where(unknown, np.nan, values).reshape(shape) for values in found))


def _normal_scores(order: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Score draws in their own places; equal ones share their average rank.

    Shapes are (elements, draws): which draw comes when, and the draws in ascending order.
    """
    size = ordered.shape[1]
    halves = _scores(size)
    scores = np.repeat(halves[None, ::2], len(ordered), axis=0)
    same = np.zeros(ordered.shape, dtype=bool)
    same[:, :-1] = ordered[:, 1:] == ordered[:, :-1]
    tied = np.flatnonzero(same)  # draws with an equal one after them
    if len(tied):
        first = np.diff(tied, prepend=-2) != 1
        run = np.cumsum(first) - 1
        shared = halves[2 * (tied[first] % size) + np.bincount(run)][run]
        flat = scores.reshape(-1)
        flat[tied] = flat[tied + 1] = shared
    found = np.empty_like(scores)
    np.put_along_axis(found, order, scores, axis=-1)
    return found


@functools.lru_cache(maxsize=8)
def _scores(size: int) -> np.ndarray:
    """Compute the normal scores of the ranks 1, 1.5, 2, ... among so many draws."""
    ranks = np.arange(2, 2 * size + 1) / 2
    found = ndtri((ranks - 3 / 8) / (size + 1 / 4))
    found.setflags(write=False)
    return np.asarray(found)


def _rhat(pieces: np.ndarray) -> np.ndarray:
    """R-hat of (elements, half chain, draw)."""
    draws = pieces.shape[-1]
    between = draws * pieces.mean(axis=-1).var(axis=-1, ddof=1)
    within = pieces.var(axis=-1, ddof=1).mean(axis=-1)
    return np.asarray(np.sqrt((between / within + draws - 1) / draws))


def _ess(pieces: np.ndarray) -> np.ndarray:
    """Effective sample size of the mean of (elements, half chain, draw), by Geyer's sequence."""
    _, chains, draws = pieces.shape
    means = pieces.mean(axis=-1)
    length = fft.next_fast_len(2 * draws, real=True)
    spectrum = np.fft.rfft(pieces - means[..., None], n=length, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariance = np.fft.irfft(power, n=length, axis=-1)[:, :draws] / draws
    within = covariance[:, :1] * draws / (draws - 1)
    total = covariance[:, :1] + means.var(axis=-1, ddof=1)[:, None]
    correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1
    last = max(0, (draws - 3) // 2)  # of the pairs of lags (0, 1), (2, 3), ... that are looked at
    pairs = correlation[:, : 2 * last + 2 : 2] + correlation[:, 1 : 2 * last + 2 : 2]
    ended = ~(pairs > 0)
    ended[:, -1] = True
    count = ended.argmax(axis=1)  # pairs before the first that is not positive
    falling = np.minimum.accumulate(pairs, axis=1)
    taken = np.arange(last + 1) < count[:, None]
    rest = correlation[np.arange(len(pieces)), 2 * count]
    rest = np.where((rest > 0) | (pairs[np.arange(len(pieces)), count] >= 0), rest, 0)
    size = chains * draws
    time = 2 * np.where(taken, falling, 0).sum(axis=1) + rest - 1
    time = np.where(time < 1 / np.log10(size), 1 / np.log10(size), time)
    alike = np.ptp(pieces, axis=(1, 2)) < _CONSTANT
    return np.asarray(np.where(alike, size, size / time))
