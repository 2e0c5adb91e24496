"""Greedy choice of items, with lazy evaluation, within limits that are always met."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, eye_array, hstack

from ...common.errors import DataError
from ...common.messages import many, some
from .gains import Gains
from .quotas import Limits

_SECONDS = 30.0


def reserve(limits: Limits, gains: np.ndarray) -> list[int]:
    """Choose few items that meet all lower bounds within the upper ones.

    Parameters
    ----------
    limits : Limits
        The bounds.
    gains : ndarray, shape (items,)
        Gains of the items; of equally good items, those with high gains are preferred.

    Returns
    -------
    list of int
        Positions of items, each as often as it is chosen.

    Raises
    ------
    DataError
        When there is no such battery. The error names the quotas and what the bank has.
    """
    if not limits.least.any():
        return []
    _refuse_short(limits)
    found = _covering(limits, gains)
    return _exact(limits) if found is None else found


def _covering(limits: Limits, gains: np.ndarray) -> list[int] | None:
    """Choose items that count for most unmet bounds, one by one; None if that does not succeed."""
    found: list[int] = []
    times, sums = limits.times.copy(), np.zeros(len(limits.names))
    order = gains / max(2 * float(gains.max()), np.finfo(float).tiny)
    while (short := sums < limits.least).any():
        full = (limits.counts.T @ (sums >= limits.most).astype(float)) > 0
        score = np.where(full | (times == 0), 0, limits.counts.T @ short.astype(float))
        best = int(np.argmax(np.where(score > 0, score + order, 0)))
        after = sums + limits.counts[:, best]
        if score[best] == 0 or (after > limits.most).any():
            return None
        found.append(best)
        times[best] -= 1
        sums = after
    return found


def _exact(limits: Limits) -> list[int]:
    """Solve for a battery that meets all bounds.

    Raises
    ------
    DataError
        When there is none.
    """
    found = milp(
        np.zeros(len(limits.times)),
        constraints=LinearConstraint(csc_array(limits.counts), limits.least, limits.most),
        bounds=Bounds(0, limits.times),
        integrality=np.ones(len(limits.times), dtype=int),
        options={"time_limit": _SECONDS},
    )
    if found.x is None:
        raise DataError(_conflict(limits))
    times = np.rint(found.x).astype(int)
    return np.repeat(np.arange(len(times)), times).tolist()


def _refuse_short(limits: Limits) -> None:
    """Refuse a quota that the whole bank does not meet."""
    there = limits.counts @ limits.times
    for name, has, least in zip(limits.names, there, limits.least, strict=True):
        if has < least:
            raise DataError(
                f"the quota {name} cannot be met: the bank has {has:g}; ask for at most {has:g}, "
                "widen the interval, add such items to the bank, or allow repeats="
            )


def _conflict(limits: Limits) -> str:
    """Name quotas that cannot be met together with the others, with the smallest shortfall."""
    count = len(limits.names)
    lower = limits.least > 0
    slack = csc_array(eye_array(count))
    rows = hstack([csc_array(limits.counts), slack], format="csc")
    items = limits.counts.shape[1]
    price = np.concatenate([np.zeros(items), np.ones(count)])
    high = np.concatenate([limits.times, np.where(lower, limits.least, 0)])
    found = milp(
        price,
        constraints=LinearConstraint(rows, limits.least, np.where(lower, np.inf, limits.most)),
        bounds=Bounds(0, high),
        integrality=np.repeat([1, 0], [items, count]),
        options={"time_limit": _SECONDS},
    )
    everything = f"n={limits.most[0]:g} and {many(int(lower.sum()), 'quota')}"
    short = np.zeros(count) if found.x is None else np.rint(found.x[items:])
    missed = short > 0
    if not missed.any():
        return f"no battery meets {everything}; ask for more items, or for fewer of each kind"
    told = some(
        (f"{limits.names[place]} (by {short[place]:g} short)" for place in np.flatnonzero(missed)),
        6,
    )
    return (
        f"no battery meets {everything} together: with the other ones met, the bank leaves "
        f"{told}; ask for fewer of these, for a larger n or budget, or raise most= of a kind that "
        "has them"
    )


_TOGETHER = 256  # items whose gains are computed at a time
_MOST = 2048  # most items whose gains are computed for a choice, if one of them is allowed
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
    sds : ndarray, shape (elements,)
        Expected standard deviations with this item and those before it.
    """

    item: int
    gain: float
    sds: np.ndarray


def choose(
    gains: Gains,
    rows: np.ndarray,
    limits: Limits,
    costs: np.ndarray,
    reached: Callable[[np.ndarray], np.ndarray],
) -> Iterator[Choice]:
    """Choose the item with the highest gain per cost, one after the other.

    Before the first choice, items that meet all quotas are reserved. A chosen item replaces a
    reserved one if there is no room for both, and reserved items that no quota needs are released,
    so that quotas are met whenever the choice ends. The gain of an item is assumed to decrease as
    others are chosen: for each choice, the gains of at most 2,048 items are computed, and none of
    those whose former gain is below the best one. If the assumption is wrong for an item, this is
    corrected when all gains are computed again.

    Parameters
    ----------
    gains : Gains
        Expected gains of items.
    rows : ndarray of int, shape (items, steps)
        Which of the different rows each item has.
    limits : Limits
        Limits that the battery must meet.
    costs : ndarray, shape (items,)
        Costs of the items.
    reached : callable
        Function from expected standard deviations to whether each element is known well enough; the
        choice ends when all are, and the quotas are met.

    Yields
    ------
    Choice
        One item after the other.
    """
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    kind = kind.ravel()

    def fresh(items: np.ndarray) -> np.ndarray:
        own, which = np.unique(kind[items], return_inverse=True)
        found = gains.of_rows(kinds[own].ravel()).reshape(len(own), -1).sum(axis=1)
        return np.asarray(found[which] / costs[items])

    every = np.arange(len(rows))
    score = fresh(every)
    room = _Room(limits, reserve(limits, score))
    count = 0
    while True:
        well = reached(gains.sds)
        if well.all():
            if not room.reserved:
                return
        elif (~well != gains.active).any():
            gains.aim(~well)
            score = fresh(every)
        if count and count % _ANEW == 0:
            score = fresh(every)
        best = _best(score, fresh, room, bool(well.all()))
        if best is None:
            return
        item, instead = best
        gain = score[item] * costs[item]
        room.take(item, instead)
        gains.add(kinds[kind[item]])
        count += 1
        yield Choice(item, float(gain), gains.sds)


def _best(
    score: np.ndarray, fresh: Callable[[np.ndarray], np.ndarray], room: "_Room", bound: bool
) -> tuple[int, int | None] | None:
    """Find the allowed item with the highest score, and the reserved item that it replaces."""
    order = np.argsort(-score, kind="stable")
    if bound:  # nothing but the quotas is left to be held
        order = np.array(room.reserved)
    best: tuple[int, int | None] | None = None
    for start in range(0, len(order), _TOGETHER):
        items = order[start : start + _TOGETHER]
        if best is not None and (start >= _MOST or score[best[0]] >= score[items[0]]):
            break
        score[items] = fresh(items)
        allowed = room.allowed(items)
        for item in items[np.argsort(-score[items], kind="stable")]:
            if item in allowed and (best is None or score[item] > score[best[0]]):
                best = int(item), allowed[item]
                break
    return best


class _Room:
    """Chosen and reserved items, and the items that may be added to them."""

    def __init__(self, limits: Limits, reserved: list[int]) -> None:
        self._limits, self.reserved = limits, reserved
        self._times = np.bincount(np.array(reserved, dtype=int), minlength=len(limits.times))
        self._sums = limits.counts[:, np.array(reserved, dtype=int)].sum(axis=1)

    def allowed(self, items: np.ndarray) -> dict[int, int | None]:
        """Find the items that may be chosen, and for each the reserved item to replace, if any."""
        found: dict[int, int | None] = {}
        left = items[self._times[items] < self._limits.times[items]]
        for other in (None, *dict.fromkeys(self.reserved)):
            own = self._limits.counts[:, left]
            less = 0.0 if other is None else self._limits.counts[:, [other]]
            holds = self._holds(own - less)
            found |= dict.fromkeys(left[holds].tolist(), other)
            left = left[~holds]
            if not len(left):
                break
        return found | {item: item for item in items.tolist() if item in self.reserved}

    def _holds(self, change: np.ndarray) -> np.ndarray:
        """Test whether the limits are met after each of some changes of the sums."""
        after = self._sums[:, None] + change
        over = after <= self._limits.most[:, None] * (1 + 1e-12)
        return np.asarray((over & (after >= self._limits.least[:, None])).all(axis=0))

    def take(self, item: int, instead: int | None) -> None:
        """Choose an item, and release reserved items that no quota needs."""
        self._count(item, 1)
        if instead is not None:
            self._let_go(instead)
        for other in list(self.reserved):
            own = self._limits.counts[:, other]
            if (self._sums - own >= self._limits.least).all():
                self._let_go(other)

    def _let_go(self, item: int) -> None:
        self.reserved.remove(item)
        self._count(item, -1)

    def _count(self, item: int, by: int) -> None:
        self._times[item] += by
        self._sums = self._sums + by * self._limits.counts[:, item]
