"""Separate modes of profile elements, found as valleys in the distribution of their draws."""

import itertools

import numpy as np

from ...common.digits import chance, decimals, fixed
from ...common.messages import many
from ..sampling.convergence import (
    ESS_PER_CHAIN,
    RHAT_LIMIT,
    effective_within,
    rhat_ess,
    separate,
)

# numbers of blocks, with critical values of the dip times the root of a block's effective draws;
# few of 1,000 flat densities exceed one of them
_BLOCKS = {20: 6.0, 40: 6.5, 80: 7.0}
_LEAST = 10  # effective draws in a block, for the critical values to be valid
_DIP = 1.0  # nats: peaks with a smaller dip between them are one mode, as in `modes`
_CLOSEST = 1e-12  # part of the range: closer draws are equal


def describe_modes(draws: np.ndarray, ordered: np.ndarray, rhat: np.ndarray) -> np.ndarray:
    r"""Describe the separate modes of profile elements.

    The draws in ascending order are divided into K = 20, 40 and 80 blocks of equal size. A block k
    of the width :math:`w_k` is a valley if blocks on both sides are narrower by a factor, the dip

    .. math:: d_k = \log \frac{w_k}{\max(\min_{i < k} w_i, \min_{j > k} w_j)}
        \ge \max\left(1, \frac{c_K}{\sqrt{n / K}}\right), \qquad c = 6, 6.5, 7

    A unimodal density has no valley. The number n of effective draws is that of the ranks within
    the modes, and at least 10 K, so that rare moves of chains between modes do not reduce it. Fewer
    than one of a thousand unimodal posteriors (flat, skewed or at a boundary) are reported as
    having several modes. A mode with a tenth of the draws is detected among 1,000 draws, and one
    with a twentieth among 4,000. The draws on both sides of a valley are searched in the same way.
    If R-hat is above its limit, chains whose draws do not overlap also count as modes; see
    `convergence.separate`.

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
    ndarray of str, shape (...)
        Median of each mode. The weight of the mode is added if chains visit the modes often enough
        to agree on it (the indicator of the mode has an R-hat of at most 1.01 and an effective
        sample size of at least 100 per chain), and otherwise the number of chains that stay in it.
        The text is empty if there are no separate modes. Modes that no chain visited are not
        detected.

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
    >>> list(describe_modes(draws, np.sort(draws.reshape(3, -1)), rhat_ess(draws).rhat))
    ['', 'near -2.00 (weight 0.31) and 1.00 (weight 0.69)', 'near -2.00 (1 chain) and 1.00 (3
    chains), of unknown weight']
    """
    *shape, chains, length = draws.shape
    draws, ordered = draws.reshape(-1, chains, length), ordered.reshape(-1, chains * length)
    found = np.full(len(draws), "", dtype=object)
    suspects = rhat.ravel() > RHAT_LIMIT
    for blocks in _BLOCKS:
        suspects |= (_excess(ordered, blocks, chains * length) >= 1).any(axis=-1)
    for place in np.flatnonzero(suspects):
        cuts = _cuts(draws[place], ordered[place])
        if rhat.flat[place] > RHAT_LIMIT:
            cuts = max(cuts, _between(draws[place]), key=len)
        if cuts:
            found[place] = _told(draws[place], np.searchsorted(cuts, draws[place]))
    return found.reshape(shape)


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


def _between(draws: np.ndarray) -> list[float]:
    """Return values that separate groups of chains whose draws do not overlap."""
    group = separate(draws)
    middles = [np.median(draws[group == number]) for number in range(group.max() + 1)]
    return [float(one + two) / 2 for one, two in itertools.pairwise(middles)]


def _cuts(draws: np.ndarray, ordered: np.ndarray) -> list[float]:
    """Return the values at which valleys separate one element's draws."""
    cuts = _split(ordered, 1.0)
    while cuts:
        part = effective_within(draws, np.searchsorted(cuts, draws)) / draws.size
        fewer = _split(ordered, part)
        if fewer == cuts:
            break
        cuts = fewer if len(fewer) < len(cuts) else []
    return cuts


def _split(ordered: np.ndarray, part: float) -> list[float]:
    """Divide ascending draws at their deepest valley, and the parts again; `part` is effective."""
    each = {blocks: _excess(ordered, blocks, part * len(ordered)) for blocks in _BLOCKS}
    blocks = max(each, key=lambda count: float(each[count].max()))
    deepest = int(each[blocks].argmax())
    if each[blocks][deepest] < 1:
        return []
    start, stop = _edges(len(ordered), blocks)[deepest + 1 : deepest + 3]
    low = start + int(np.diff(ordered[start : stop + 1]).argmax())
    cut = float(ordered[low] + ordered[low + 1]) / 2
    return [*_split(ordered[: low + 1], part), cut, *_split(ordered[low + 1 :], part)]


def _told(draws: np.ndarray, mode: np.ndarray) -> str:
    """Describe the modes in words, given the mode of each draw."""
    numbers = range(int(mode.max()) + 1)
    weights = _weights(mode)
    places = []
    for number in numbers:
        own = draws[mode == number]
        middle = fixed(float(np.median(own)), decimals(float(own.std()), len(own)))
        staying = int((mode == number).all(axis=1).sum())
        beside = f"weight {weights[number]}" if weights else many(staying, "chain") * bool(staying)
        places.append(f"{middle.replace('−', '-')}{f' ({beside})' if beside else ''}")
    said = f"near {', '.join(places[:-1])} and {places[-1]}"
    return said if weights else f"{said}, of unknown weight"


def _weights(mode: np.ndarray) -> list[str]:
    """Format the modes' weights; the list is empty if the chains do not agree on them."""
    inside = np.stack([mode == number for number in range(int(mode.max()) + 1)]).astype(float)
    found = rhat_ess(inside if len(inside) > 2 else inside[:1])  # two weights add up to 1
    known = (found.rhat <= RHAT_LIMIT) & (found.ess_bulk >= ESS_PER_CHAIN * len(mode))
    if not known.all():
        return []
    share = inside.mean(axis=(1, 2))
    errors = np.sqrt(share * (1 - share) / found.ess_bulk)  # equal for both of two modes
    return [chance(float(one), float(error)) for one, error in zip(share, errors, strict=True)]
