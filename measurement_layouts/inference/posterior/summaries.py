"""Summaries of profile elements, computed once for a subject and kept with the fit."""

import math

import numpy as np

from ...common.threads import side_by_side
from ..sampling.convergence import RHAT_LIMIT, RhatEss, effective_within, rhat_ess, separate
from .posterior import Posterior, draws_of

# an element is prior-dominated if less than the first part of its prior variance is removed by the
# data, and its mean moves by less than the second number of the prior's standard deviations
LITTLE_LEARNT = 0.1
LITTLE_MOVED = 0.5
_COLUMNS = (*RhatEss._fields, "prior_dominated", "modes")  # of a fit without elements
_BLOCK = 2**19  # bytes of a latent's draws read at a time; with more, memory access dominates


def summaries(fit: Posterior, rows: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise every profile element of some subjects.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    rows : ndarray of int
        Positions of the subjects in the fit.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    dict of str to ndarray, shape (rows, elements)
        Columns of `diagnostics.profiles` by name, except that ``prior_dominated`` does not depend
        on the outcomes. They are copies, so that changes do not affect the kept summaries.

    Notes
    -----
    Summaries are kept with the fit and not computed again. Draws of a fit must not be changed in
    place; `dataclasses.replace` makes a new fit of other draws, with its own summaries.
    """
    if not fit.elements:
        return {name: np.zeros((len(rows), 0), dtype=bool) for name in _COLUMNS}
    count = len(fit.subjects)
    kept: tuple[dict[str, np.ndarray], np.ndarray] = fit.once(
        f"summaries {prob}", lambda: ({}, np.zeros(count, dtype=bool))
    )
    columns, known = kept
    missing = rows[~known[rows]]
    if len(missing) or not columns:
        blocks = subject_blocks(fit, missing)
        results = side_by_side(_summaries, [(fit, block, prob) for block in blocks])
        for block, result in zip(blocks, results, strict=True):
            for name, values in result.items():
                empty = np.empty((count, values.shape[1]), values.dtype)
                columns.setdefault(name, empty)[block] = values
            known[block] = True
    return {name: values[rows] for name, values in columns.items()}


def subject_blocks(fit: Posterior, rows: np.ndarray) -> list[np.ndarray]:
    """Divide subjects' rows into blocks, to bound the memory of one latent's draws."""
    draws = fit.posterior
    largest = max((draws[latent.name].nbytes for latent in fit.layout.profile), default=1)
    most = max(1, _BLOCK * draws.sizes["subject"] // largest)
    return np.array_split(rows, max(1, -(-len(rows) // most)))


def _summaries(fit: Posterior, rows: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise some subjects' draws; each column is of shape (subjects, elements)."""
    tables = [
        summarise(draws_of(fit, latent, rows), fit.prior[latent.name], prob)
        for latent in fit.layout.profile
    ]
    return {name: np.concatenate([table[name] for table in tables], axis=1) for name in tables[0]}


def summarise(draws: np.ndarray, prior: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise draws of one latent, (subject or level, element, chain, draw), given its prior.

    Parameters
    ----------
    draws : ndarray, shape (subjects or levels, elements, chains, draws)
        Posterior draws.
    prior : ndarray, shape (draws,) or (draws, labels)
        Prior draws of one subject or level. Elements are its labels, or repetitions of them.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    dict of str to ndarray, shape (subjects or levels, elements)
        Columns by name.
    """
    flat = draws.reshape(*draws.shape[:2], math.prod(draws.shape[2:]))
    prior = prior.reshape(len(prior), -1)
    prior = np.tile(prior, draws.shape[1] // prior.shape[1])
    ordered = np.sort(flat, axis=-1)
    mean, variance = flat.mean(axis=-1), flat.var(axis=-1, ddof=1)
    shrinkage = 1 - variance / prior.var(axis=0, ddof=1)
    moved = abs(mean - prior.mean(axis=0)) / prior.std(axis=0, ddof=1)
    mixed = rhat_ess(draws)
    return {
        "mean": mean,
        "sd": np.sqrt(variance),
        **interval(ordered, mixed.ess_tail, prob),
        "ess_bulk": mixed.ess_bulk,
        "ess_tail": mixed.ess_tail,
        "rhat": mixed.rhat,
        "shrinkage": shrinkage,
        "prior_dominated": (shrinkage < LITTLE_LEARNT) & (moved < LITTLE_MOVED),
        "modes": separate_modes(draws, ordered, mixed.rhat),
    }


def interval(ordered: np.ndarray, ess: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Compute the ends of equal-tailed intervals, with their Monte Carlo standard errors.

    Parameters
    ----------
    ordered : ndarray, shape (..., draws)
        Draws of the elements, in ascending order.
    ess : ndarray, shape (...)
        Effective sample sizes of the tails.
    prob : float
        Mass of the intervals.

    Returns
    -------
    dict of str to ndarray, shape (...)
        ``low``, ``high``, ``low_error`` and ``high_error``.
    """
    tail = (1 - prob) / 2
    levels = tail * np.array([0.5, 1, 1.5])  # the outer two quantiles give the density's estimate
    ends = np.quantile(ordered, np.concatenate([levels, 1 - levels[::-1]]), axis=-1)
    counted = np.sqrt(tail * (1 - tail) / ess) / tail
    return {
        "low": ends[1],
        "high": ends[4],
        "low_error": (ends[2] - ends[0]) * counted,
        "high_error": (ends[5] - ends[3]) * counted,
    }


# numbers of blocks, with critical values of the dip times the root of a block's effective draws;
# few of 1,000 flat densities exceed one of them
_BLOCKS = {20: 6.0, 40: 6.5, 80: 7.0}
_LEAST = 10  # effective draws in a block, for the critical values to be valid
_DIP = 1.0  # nats: peaks with a smaller dip between them are one mode, as in `modes`
_CLOSEST = 1e-12  # part of the range: closer draws are equal


def separate_modes(draws: np.ndarray, ordered: np.ndarray, rhat: np.ndarray) -> np.ndarray:
    r"""Mark profile elements whose posterior has separate modes.

    The draws in ascending order are divided into K = 20, 40 and 80 blocks of equal size. A block k
    of the width :math:`w_k` is a valley if blocks on both sides are narrower by a factor, the dip

    .. math:: d_k = \log \frac{w_k}{\max(\min_{i < k} w_i, \min_{j > k} w_j)}
        \ge \max\left(1, \frac{c_K}{\sqrt{n / K}}\right), \qquad c = 6, 6.5, 7

    A unimodal density has no valley. The number n of effective draws is that of the ranks within
    the modes, and at least 10 K, so that rare moves of chains between modes do not reduce it. Fewer
    than one of a thousand unimodal posteriors (flat, skewed or at a boundary) are reported as
    having several modes. A mode with a tenth of the draws is detected among 1,000 draws, and one
    with a twentieth among 4,000. If R-hat is above its limit, chains whose draws do not overlap
    also count as modes; see `convergence.separate`.

    Parameters
    ----------
    draws : ndarray, shape (..., chain, draw)
        Draws of the elements.
    ordered : ndarray, shape (..., chain times draw)
        The same draws in ascending order.
    rhat : ndarray, shape (...)
        R-hat of the elements.

    Returns
    -------
    ndarray of bool, shape (...)
        Whether there are separate modes. Modes that no chain visited are not detected.

    References
    ----------
    Hartigan, J. A. and Hartigan, P. M. (1985), The dip test of unimodality, Annals of Statistics
    13, for the uniform distribution as the unimodal distribution that is hardest to distinguish
    from one with several modes.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(3, 4, 1000)) / 9
    >>> draws[1] += np.random.default_rng(2).choice([-2, 1], (4, 1000), p=[0.3, 0.7])
    >>> draws[2] += [[-2], [1], [1], [1]]
    >>> separate_modes(draws, np.sort(draws.reshape(3, -1)), rhat_ess(draws).rhat)
    array([False,  True,  True])
    """
    *shape, chains, length = draws.shape
    draws, ordered = draws.reshape(-1, chains, length), ordered.reshape(-1, chains * length)
    several = np.zeros(len(draws), dtype=bool)
    suspects = rhat.ravel() > RHAT_LIMIT
    for blocks in _BLOCKS:
        suspects |= (_excess(ordered, blocks, chains * length) >= 1).any(axis=-1)
    for at in np.flatnonzero(suspects):
        stay = rhat.flat[at] > RHAT_LIMIT and separate(draws[at]).any()
        several[at] = stay or bool(_cuts(draws[at], ordered[at]))
    return several.reshape(shape)


def _edges(count: int, blocks: int) -> np.ndarray:
    """Return the positions of the blocks' ends among ascending draws."""
    return np.round(np.linspace(0, count - 1, blocks + 1)).astype(int)


def _excess(ordered: np.ndarray, blocks: int, effective: float) -> np.ndarray:
    """Compute dips divided by their critical values, for all but the first and the last block."""
    if not effective >= _LEAST * blocks:
        return np.zeros((*ordered.shape[:-1], blocks - 2))
    ends = ordered[..., _edges(ordered.shape[-1], blocks)]
    width = np.maximum(np.diff(ends, axis=-1), _CLOSEST * (ends[..., -1:] - ends[..., :1]))
    left = np.minimum.accumulate(width, axis=-1)[..., :-2]
    right = np.minimum.accumulate(width[..., ::-1], axis=-1)[..., ::-1][..., 2:]
    with np.errstate(invalid="ignore", divide="ignore"):  # widths are 0 if all draws are equal
        dips = np.log(width[..., 1:-1] / np.maximum(left, right))
    needed = max(_DIP, _BLOCKS[blocks] / (effective / blocks) ** 0.5)
    return np.where(np.isfinite(dips), dips / needed, 0.0)


def _cuts(draws: np.ndarray, ordered: np.ndarray) -> list[float]:
    """Return the values at which valleys separate one element's draws."""
    cuts = _split(ordered, 1.0)
    while cuts:
        share = effective_within(draws, np.searchsorted(cuts, draws)) / draws.size
        fewer = _split(ordered, share)
        if fewer == cuts:
            break
        cuts = fewer if len(fewer) < len(cuts) else []
    return cuts


def _split(ordered: np.ndarray, share: float) -> list[float]:
    """Divide ascending draws at their deepest valley, and the parts again; `share` is effective."""
    excess = {blocks: _excess(ordered, blocks, share * len(ordered)) for blocks in _BLOCKS}
    blocks = max(excess, key=lambda count: float(excess[count].max()))
    deepest = int(excess[blocks].argmax())
    if excess[blocks][deepest] < 1:
        return []
    start, stop = _edges(len(ordered), blocks)[deepest + 1 : deepest + 3]
    low = start + int(np.diff(ordered[start : stop + 1]).argmax())
    cut = float(ordered[low] + ordered[low + 1]) / 2
    return [*_split(ordered[: low + 1], share), cut, *_split(ordered[low + 1 :], share)]
