"""Separate modes of profile elements: valleys in their draws, and where the modes lie."""

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

_BLOCKS = {20: 6.0, 40: 6.5, 80: 7.0}  # cuts into so many, with critical values of the dip times
# the root of the effective draws in a block: few of 1,000 flat densities exceed one
_LEAST = 10  # effective draws in a block, for these to hold
_DIP = 1.0  # nats: peaks with less between them are one mode, as in `modes`
_CLOSEST = 1e-12  # part of the range: closer draws are alike


def describe_modes(draws: np.ndarray, ordered: np.ndarray, rhat: np.ndarray) -> np.ndarray:
    r"""Say where elements of profiles have separate modes.

    The draws in ascending order are cut into K = 20, 40 and 80 blocks of equally many. A block k of
    the width :math:`w_k` is a valley where blocks on both sides are narrower by a factor, the dip

    .. math:: d_k = \log \frac{w_k}{\max(\min_{i < k} w_i, \min_{j > k} w_j)}
        \ge \max\left(1, \frac{c_K}{\sqrt{n / K}}\right), \qquad c = 6, 6.5, 7

    which no unimodal density has. The n effective draws are those of the ranks within the modes,
    10 K at least: how seldom chains go from one mode to another does not count. Of one thousand
    unimodal posteriors, flat, skewed or at a boundary, fewer than one is so taken for one with
    several modes. Modes of one tenth of the draws are seen among 1,000, of one twentieth among
    4,000. Both sides of a valley are looked at in the same way. Where R-hat is bad, chains whose
    draws do not overlap count as modes, too; see `convergence.separate`.

    Parameters
    ----------
    draws : ndarray, shape (..., chain, draw)
        Of the elements.
    ordered : ndarray, shape (..., chain times draw)
        The same in ascending order.
    rhat : ndarray, shape (...)
        Of the elements.

    Returns
    -------
    ndarray of str, shape (...)
        Median of each mode, with its weight where chains visit the modes often enough to agree on
        it (R-hat of being in it 1.01 at most, effective sample size 100 per chain at least), else
        with the number of chains that stay in it; empty where there are no separate modes. A mode
        that no chain has found is not seen.

    References
    ----------
    Hartigan, J. A. and Hartigan, P. M. (1985), The dip test of unimodality, Annals of Statistics
    13, for the uniform distribution as the unimodal one that is the hardest to tell from several
    modes.

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
    """Places of the ends of the blocks among ascending draws."""
    return np.round(np.linspace(0, count - 1, blocks + 1)).astype(int)


def _excess(ordered: np.ndarray, blocks: int, effective: float) -> np.ndarray:
    """Dips of ascending draws in the blocks but the first and the last, over what they need."""
    if not effective >= _LEAST * blocks:
        return np.zeros((*ordered.shape[:-1], blocks - 2))
    ends = ordered[..., _edges(ordered.shape[-1], blocks)]
    width = np.maximum(np.diff(ends, axis=-1), _CLOSEST * (ends[..., -1:] - ends[..., :1]))
    left = np.minimum.accumulate(width, axis=-1)[..., :-2]
    right = np.minimum.accumulate(width[..., ::-1], axis=-1)[..., ::-1][..., 2:]
    with np.errstate(invalid="ignore", divide="ignore"):  # draws that are all alike
        dips = np.log(width[..., 1:-1] / np.maximum(left, right))
    needed = max(_DIP, _BLOCKS[blocks] / (effective / blocks) ** 0.5)
    return np.where(np.isfinite(dips), dips / needed, 0.0)


def _between(draws: np.ndarray) -> list[float]:
    """Give values between groups of chains whose draws do not overlap."""
    group = separate(draws)
    middles = [np.median(draws[group == number]) for number in range(group.max() + 1)]
    return [float(one + two) / 2 for one, two in itertools.pairwise(middles)]


def _cuts(draws: np.ndarray, ordered: np.ndarray) -> list[float]:
    """Cut one element's draws in their valleys, as far as their effective number allows."""
    cuts = _split(ordered, 1.0)
    while cuts:
        part = effective_within(draws, np.searchsorted(cuts, draws)) / draws.size
        fewer = _split(ordered, part)
        if fewer == cuts:
            break
        cuts = fewer if len(fewer) < len(cuts) else []
    return cuts


def _split(ordered: np.ndarray, part: float) -> list[float]:
    """Cut ascending draws, of which a part is effective, in their deepest valley, and so on."""
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
    """Say where the modes are, given which one each draw is in."""
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
    """Write the modes' weights; none where the chains do not agree on them."""
    inside = np.stack([mode == number for number in range(int(mode.max()) + 1)]).astype(float)
    found = rhat_ess(inside if len(inside) > 2 else inside[:1])  # of two, one says it all
    known = (found.rhat <= RHAT_LIMIT) & (found.ess_bulk >= ESS_PER_CHAIN * len(mode))
    if not known.all():
        return []
    share = inside.mean(axis=(1, 2))
    errors = np.sqrt(share * (1 - share) / found.ess_bulk)  # of two, the same
    return [chance(float(one), float(error)) for one, error in zip(share, errors, strict=True)]
