"""What to know before believing a curve: thin bins, and rates that no curve fits best."""

from collections.abc import Sequence

import numpy as np

from .squares import FULL, step_position


def undecided(
    levels: np.ndarray, items: np.ndarray, trials: np.ndarray, successes: np.ndarray
) -> np.ndarray:
    """Say which curves least squares cannot place: one level only, or none with mixed outcomes.

    Returns
    -------
    ndarray of bool, shape (curves,)
    """
    step = np.isfinite(step_position(levels, successes / np.maximum(trials, 1), items))
    mixed = ((successes > 0) & (successes < trials)).any(axis=1)
    return np.asarray((step & ~mixed) | ((items > 0).sum(axis=1) < 2))


def reasons(
    levels: np.ndarray,
    items: np.ndarray,
    trials: np.ndarray,
    successes: np.ndarray,
    step: np.ndarray | None = None,
) -> list[str]:
    """Write what to know of each curve.

    Parameters
    ----------
    levels : ndarray, shape (levels,)
        Ascending.
    items, trials, successes : ndarray, shape (curves, levels)
        Of all bins.
    step : ndarray, shape (curves,), optional
        Levels of fitted steps, NaN for other curves. Without it, all curves are taken to be fitted.

    Returns
    -------
    list of str
        Empty where bins are full and the curve is a curve.

    Examples
    --------
    >>> counts = np.array([[100, 100, 40]]), np.array([[100, 100, 40]]), np.array([[90, 60, 10]])
    >>> reasons(np.array([1, 2, 3]), *counts, np.array([np.nan]))
    ['few items at level 3 (40)']
    """
    without = undecided(levels, items, trials, successes)
    found = []
    for row in range(len(items)):
        parts = []
        if step is not None:
            right = levels[(trials[row] > 0) & (successes[row] == trials[row])]
            wrong = levels[(trials[row] > 0) & (successes[row] == 0)]
            parts += _shape(step[row], bool(without[row]), items[row], right, wrong)
        found.append("; ".join([*parts, *_thin(levels, items[row])]))
    return found


def _shape(
    place: float, without: bool, items: np.ndarray, right: np.ndarray, wrong: np.ndarray
) -> list[str]:
    """Why there is no curve, or an infinitely steep one."""
    if not items.any():
        return []
    if (items > 0).sum() < 2:
        return ["no curve: items at one level only"]
    if without:
        low = f"{right.max():g}" if len(right) else ""
        high = f"{wrong.min():g}" if len(wrong) else ""
        if not low:
            return [f"no curve: all fail, so the ability is below {high}"]
        if not high:
            return [f"no curve: all succeed, so the ability is above {low}"]
        return [f"no curve: all succeed up to {low} and fail from {high}, and it lies between"]
    return [] if np.isnan(place) else [f"a step at level {place:g}, without an interval"]


def _thin(levels: np.ndarray, items: np.ndarray) -> list[str]:
    """Levels with no items, and with fewer than a full bin has."""
    none = [f"{level:g}" for level in levels[items == 0]]
    few = [
        f"{level:g} ({int(count)})"
        for level, count in zip(levels, items, strict=True)
        if 0 < count < FULL
    ]
    found = [f"no items at {_levels(none)}"] if none else []
    return found + ([f"few items at {_levels(few)}"] if few else [])


def _levels(names: Sequence[str]) -> str:
    return f"level{'s' if len(names) > 1 else ''} {', '.join(names)}"
