"""A battery that meets its quotas, from which the choice of informative items starts."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, eye_array, hstack

from ...common.errors import DataError
from ...common.messages import many, some
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
