"""Greedy choice of items, with lazy evaluation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .gains import Gains

_TOGETHER = 256  # items whose gains are computed at a time
_ANEW = 8  # choices after which all gains are computed again


@dataclass(frozen=True)
class Choice:
    """One item of a battery.

    Attributes
    ----------
    item : int
        Position of the item in the bank.
    gain : float
        Expected reduction of the loss when the item was chosen.
    """

    item: int
    gain: float


def choose(
    gains: Gains,
    rows: np.ndarray,
    n: int,
    costs: np.ndarray,
    reached: Callable[[np.ndarray], np.ndarray],
) -> Iterator[Choice]:
    """Choose the item with the highest gain per cost, one after the other.

    The gain of an item is assumed to decrease as others are chosen: for each choice, no gains are
    computed of items whose former gain is below the best one. If the assumption is wrong for an
    item, this is corrected when all gains are computed again.

    Parameters
    ----------
    gains : Gains
        Expected gains of items.
    rows : ndarray of int, shape (items, steps)
        Which of the different rows each item has.
    n : int
        Largest number of items.
    costs : ndarray, shape (items,)
        Costs of the items.
    reached : callable
        Function from expected standard deviations to whether each element is known well enough; the
        choice ends when all are.

    Yields
    ------
    Choice
        One item after the other.
    """
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    kind = kind.ravel()

    def fresh(items: np.ndarray) -> np.ndarray:
        different, which = np.unique(kind[items], return_inverse=True)
        gained = gains.of_rows(kinds[different].ravel()).reshape(len(different), -1).sum(axis=1)
        return np.asarray(gained[which] / costs[items])

    open_ = np.arange(len(rows))
    score = fresh(open_)
    for count in range(min(n, len(rows))):
        well = reached(gains.sds)
        if well.all():
            return
        if (~well != gains.active).any() or (count and count % _ANEW == 0):
            gains.aim(~well)
            score[open_] = fresh(open_)
        best = _best(score, fresh)
        gain = score[best] * costs[best]
        gains.add(kinds[kind[best]])
        open_, score[best] = open_[open_ != best], -np.inf
        yield Choice(best, float(gain))


def _best(score: np.ndarray, fresh: Callable[[np.ndarray], np.ndarray]) -> int:
    """Find the item with the highest score, and replace the scores that were computed anew."""
    order = np.argsort(-score, kind="stable")
    order = order[score[order] > -np.inf]
    best = int(order[0])
    for start in range(0, len(order), _TOGETHER):
        items = order[start : start + _TOGETHER]
        if start and score[best] >= score[items[0]]:
            break
        score[items] = fresh(items)
        first = int(items[np.argmax(score[items])])
        if start == 0 or score[first] > score[best]:
            best = first
    return best
