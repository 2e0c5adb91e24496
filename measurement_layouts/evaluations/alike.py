"""Whether two tables have the same items, judged by meta-features and outcomes, not by names.

Equal content is evidence only if it is improbable by chance. The number of equal items is therefore
compared with the number expected for two tables of different items.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln

SAME = 1e-6  # of a column's largest magnitude, which is above the rounding of float32 and 7 digits
CHANCE = 1e-4  # probability of as many coincidences, below which items are judged to be the same
WHOLE = 1e-2  # the same for a whole table in its order
_GRID = 2000  # steps of a column's span, up to which its values may be a chosen grid
_AGREE = 0.9  # share of the items of equal features that have equal outcomes, if they are the same
_MARGIN = 1.5  # factor by which forecasts may underestimate the probability of equal outcomes
_PAIRS = 4_000_000  # pairs of items compared at a time
_FEW = 8  # rows, below which a line through them, or a correlation of subjects, is no evidence


type Pairs = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Content:
    """What items are, without their names.

    Attributes
    ----------
    features : ndarray, shape (items, columns)
        NaN where undefined.
    levels : ndarray of bool, shape (columns,)
        Columns whose levels are declared; many items share each.
    successes, trials : ndarray, shape (items, cells)
        Outcomes, a cell for every subject, or for every step of its outcomes.
    """

    features: np.ndarray
    levels: np.ndarray
    successes: np.ndarray
    trials: np.ndarray

    def take(self, rows: np.ndarray) -> "Content":
        """Keep some items."""
        parts = (self.features, self.successes, self.trials)
        features, successes, trials = (part[rows] for part in parts)
        return replace(self, features=features, successes=successes, trials=trials)


class Coincidences(NamedTuple):
    """Items of one table that equal items of another, each beside the first that it equals.

    Attributes
    ----------
    rows, others : ndarray of int
        Places in the two tables; none where chance may have brought as many about.
    expected : float
        How many chance would bring about.
    """

    rows: np.ndarray
    others: np.ndarray
    expected: float


_NONE = Coincidences(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 0.0)


def equal(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Say which features are the same in two tables of the same rows, (rows, columns)."""
    return np.isclose(values, others, rtol=0, atol=_tolerance(others), equal_nan=True)


def related(values: np.ndarray, others: np.ndarray, tolerance: float | None = None) -> bool:
    """Whether every column of one table is a linear map of the other's, row by row.

    Parameters
    ----------
    values, others : ndarray, shape (rows, columns)
        Features.
    tolerance : float, optional
        Root mean square distance from the map, as a part of the column's standard deviation;
        without it, all distances are at most that of equal features.

    Examples
    --------
    >>> heights = np.array([[120.0], [150.0], [180.0], [210.0]])
    >>> related((heights - 165) / 39, heights), related(heights[[0, 2, 1, 3]], heights)
    (True, False)
    """
    same = equal(values, others).all(axis=0)
    if same.all():
        return True
    if len(values) < 4:  # a line goes through two points, and close to three
        return False
    for have, known in zip(values[:, ~same].T, others[:, ~same].T, strict=True):
        finite = np.isfinite(known)
        if (finite != np.isfinite(have)).any():
            return False
        have, known = have[finite], known[finite]
        if np.ptp(known) == 0 or np.ptp(have) == 0:
            return False
        slope, start = np.polyfit(known, have, 1)
        away = np.abs(have - start - slope * known)
        if tolerance is None:
            if away.max() > SAME * np.abs(have).max():
                return False
        elif np.sqrt((away**2).mean()) > tolerance * have.std():
            return False
    return True


def same_order(content: Content, known: Content) -> bool:
    """Whether two tables have the same items, row by row, judged by features alone.

    They must be linear maps of each other, but for rounding that is far below the distance of
    neighbouring values, and one of them must be irregular: values on a grid may be a design that
    other items share.
    """
    rows = len(content.features)
    if rows < _FEW:
        return False
    irregular = [
        column
        for column in np.flatnonzero(~known.levels)
        if not _on_grid(known.features[:, column])
        and len(np.unique(known.features[:, column])) > rows / 2
    ]
    return bool(irregular) and related(content.features, known.features, 0.5 / rows)


def by_features(content: Content, known: Content) -> Coincidences:
    """Find items by features that tell items apart.

    Both tables must have those features once, and one of the values must be irregular and occur
    once: levels, and values on a grid, are shared by different items.
    """
    from scipy.stats import poisson  # takes a while to import

    codes, others = _codes(content.features, known.features)
    rarity = _rarity(known)
    place = pd.Series(np.arange(len(others)), index=others)
    place = place[~place.index.duplicated(keep=False)]
    once = ~pd.Series(codes).duplicated(keep=False).to_numpy()
    rows = np.flatnonzero(once & np.isin(codes, place.index))
    found = place.loc[codes[rows]].to_numpy(dtype=int)
    telling = rarity[found] < 1
    rows, found = rows[telling], found[telling]
    if not len(rows):
        return _NONE
    expected = len(codes) * len(others) * float(rarity[found].max())
    if poisson.sf(len(rows) - 1, expected) > CHANCE:
        return _NONE
    return Coincidences(rows, found, expected)


def by_outcomes(content: Content, known: Content, chances: np.ndarray, skip: Pairs) -> Coincidences:
    """Find items whose features and outcomes equal those of others, if more than chance makes.

    Two items of equal features have equal outcomes with the probability that the forecasts give
    those outcomes. Subjects that succeed and fail together are weaker evidence than independent
    ones: the log probability is divided by the ratio of the variance of the residuals' sum over
    subjects to the sum of their variances. Where nine in ten items of equal features have equal
    outcomes, features are evidence, too: a value that tells items apart multiplies the probability
    with its rarity. The number of items found is held against the Binomial distribution of one and
    a half times the mean of an item's summed probabilities; the half is for forecasts that know too
    little.

    Parameters
    ----------
    content, known : Content
        Two tables, or twice the same one.
    chances : ndarray, shape (items, cells)
        Forecast probability of success on the first table's items.
    skip : callable
        Takes places in both tables, (rows,) and (others,), and returns which pairs, (rows, others),
        are not asked about.
    """
    from scipy.stats import binom  # takes a while to import

    codes, others = _codes(content.features, known.features)
    logs, together = _logs(chances), _together(content, chances)
    often = np.minimum(1, len(others) * _rarity(known, times=2 if content is known else 1))
    first = np.full(len(codes), -1)
    plain, rare = np.zeros(len(codes)), np.zeros(len(codes))
    met = np.zeros(len(codes), dtype=bool)
    groups = pd.Series(np.arange(len(others))).groupby(others).indices
    for code, rows in pd.Series(np.arange(len(codes))).groupby(codes).indices.items():
        if code not in groups:
            continue
        places = np.asarray(groups[code])
        for part in np.array_split(rows, -(-len(rows) * len(places) // _PAIRS)):
            left, right = content.take(part), known.take(places)
            tried = [np.asarray(table.trials > 0, dtype=float) for table in (left, right)]
            both = (tried[0] @ tried[1].T > 0) & ~skip(part, places)
            same = both & (_distance(left, right, tried) == 0)
            passed, failed = right.successes, right.trials - right.successes
            log = tried[0] @ _ways(right).T
            log += (tried[0] * logs[0][part]) @ passed.T + (tried[0] * logs[1][part]) @ failed.T
            chance = np.where(both, np.exp(log / together), 0)
            plain[part], rare[part] = chance.sum(axis=1), (chance * often[places]).sum(axis=1)
            met[part], found = both.any(axis=1), same.any(axis=1)
            first[part[found]] = places[same[found].argmax(axis=1)]
    found = np.flatnonzero(first >= 0)
    chance = np.minimum(1, rare if len(found) >= _AGREE * met.sum() else plain)
    likely = min(1.0, _MARGIN * float(chance.mean())) if len(chance) else 1.0
    if len(found) and binom.sf(len(found) - 1, len(codes), likely) <= CHANCE:
        return Coincidences(found, first[found], float(chance.sum()))
    everywhere = np.arange(len(codes)), np.arange(len(others))
    if len(codes) == len(others) == len(found) and not skip(*everywhere).any():
        return _in_another_order(content, known, logs, together)
    return _NONE


def _in_another_order(
    content: Content, known: Content, logs: tuple[np.ndarray, np.ndarray], together: float
) -> Coincidences:
    """Find a whole table whose rows are those of the other one, if chance hardly arranges that.

    Given the features, the chance is the multinomial probability of the patterns of outcomes.
    """
    features, _ = _codes(content.features, known.features)
    rows, others = _codes(
        *(np.hstack([one.features, one.successes, one.trials]) for one in (content, known))
    )
    mine, theirs = np.argsort(rows, kind="stable"), np.argsort(others, kind="stable")
    if (rows[mine] != others[theirs]).any():
        return _NONE
    passed, failed = content.successes, content.trials - content.successes
    log = (_ways(content) + passed * logs[0] + failed * logs[1]).sum() / together
    log += gammaln(np.bincount(features) + 1).sum() - gammaln(np.bincount(rows) + 1).sum()
    if log > np.log(CHANCE):
        return _NONE
    order = np.argsort(mine)
    return Coincidences(np.arange(len(rows)), theirs[order], float(len(rows) * np.exp(log)))


def same_table(content: Content, known: Content, chances: np.ndarray) -> float | None:
    """Give the probability that outcomes are equal row by row, given the features.

    Returns
    -------
    float or None
        None where features are not those of the other table, or an outcome differs.
    """
    if not related(content.features, known.features):
        return None
    both = (content.trials > 0) & (known.trials > 0)
    same = (content.trials == known.trials) & (content.successes == known.successes)
    if not both.any() or not same[both].all():
        return None
    passes, fails = _logs(chances)
    failed = known.trials - known.successes
    log = _ways(known) + known.successes * passes + failed * fails
    return float(np.exp(log[both].sum() / _together(content, chances)))


def _logs(chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of the probabilities of success and failure, none impossible."""
    inside = np.clip(chances, 1e-9, 1 - 1e-9)
    return np.log(inside), np.log1p(-inside)


def _ways(content: Content) -> np.ndarray:
    """Logarithm of in how many orders the successes may have come."""
    passed, trials = content.successes, content.trials
    return np.asarray(gammaln(trials + 1) - gammaln(passed + 1) - gammaln(trials - passed + 1))


def _distance(left: Content, right: Content, tried: list[np.ndarray]) -> np.ndarray:
    """Sum squared differences of counts over the cells that both tried, (rows, other rows)."""
    mine, theirs = tried
    found = np.zeros((len(mine), len(theirs)))
    for name in ("successes", "trials"):
        own, other = (np.asarray(getattr(table, name), dtype=float) for table in (left, right))
        found += (mine * own**2) @ theirs.T - 2 * (mine * own) @ (theirs * other).T
        found += mine @ (theirs * other**2).T
    return found


def _together(content: Content, chances: np.ndarray) -> float:
    """Variance of an item's summed residuals over the sum of their variances, 1 to all cells."""
    trials = content.trials
    cells = trials.shape[1]
    if (trials.sum(axis=1) > 0).sum() < _FEW:
        return float(cells)
    spread = np.sqrt(np.clip(trials * chances * (1 - chances), 1e-9, None))
    residuals = np.where(trials > 0, (content.successes - trials * chances) / spread, 0)
    total = (residuals**2).sum()
    return float(np.clip((residuals.sum(axis=1) ** 2).sum() / max(total, 1e-9), 1, cells))


def _tolerance(others: np.ndarray) -> np.ndarray:
    """How far features may lie from the known ones and be the same, by column."""
    finite = np.where(np.isfinite(others), np.abs(others), 0)
    return np.asarray(SAME * finite.max(axis=0, initial=0))


def _codes(values: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give rows of two tables numbers that are equal where all features are."""
    whole = np.concatenate([values, others])
    codes = np.zeros(whole.shape, dtype=int)
    for column, tolerance in enumerate(_tolerance(others)):
        codes[:, column] = _clusters(whole[:, column], tolerance)
    _, rows = np.unique(codes, axis=0, return_inverse=True)
    rows = rows.reshape(-1) if codes.shape[1] else np.zeros(len(whole), dtype=int)
    return rows[: len(values)], rows[len(values) :]


def _clusters(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Give values numbers, the same for neighbours within the tolerance and for missing ones."""
    order = np.argsort(values, kind="stable")
    below, above = values[order[:-1]], values[order[1:]]
    with np.errstate(invalid="ignore"):
        new = (above - below > tolerance) | (np.isnan(above) & ~np.isnan(below))
    found = np.zeros(len(values), dtype=int)
    found[order[1:]] = np.cumsum(new)
    return found


def _rarity(known: Content, times: int = 1) -> np.ndarray:
    """How often another item would have an item's values by chance, counting telling values alone.

    A value tells items apart where it occurs once in its column (or so many times, in a table that
    is held against itself), which is irregular. Then it is the
    density of the column's values about it times the width within which values are the same.
    """
    rows = len(known.features)
    found = np.ones(rows)
    for column, tolerance in enumerate(_tolerance(known.features)):
        values = known.features[:, column]
        finite = values[np.isfinite(values)]
        if known.levels[column] or len(finite) < 4 or _on_grid(values):
            continue
        codes = _clusters(values, tolerance)
        once = (np.bincount(codes)[codes] <= times) & np.isfinite(values)
        half = np.ptp(finite) / 50
        ordered = np.sort(finite)
        about = np.searchsorted(ordered, ordered + half, "right")
        about -= np.searchsorted(ordered, ordered - half, "left")
        pairs = len(finite) * (len(finite) - 1)
        near = ((about - 1).sum() + 1) / (pairs + 1)
        width = max(2 * tolerance, _step(ordered, tolerance))
        found[once] *= min(1.0, near * width / (2 * half))
    return found


def _on_grid(values: np.ndarray) -> bool:
    """Whether values are few, or multiples of a step that is no tiny part of their span."""
    ordered = np.unique(values[np.isfinite(values)])
    if len(ordered) < 4:
        return True
    return bool(np.ptp(ordered) / _step(ordered, SAME * np.abs(ordered).max()) <= _GRID)


def _step(ordered: np.ndarray, tolerance: float) -> float:
    """Find the largest step of which all gaps between values are multiples, or the tolerance."""
    gaps = np.diff(ordered)
    step = 0.0
    for gap in gaps[gaps > tolerance]:
        larger, smaller = (gap, step) if gap > step else (step, gap)
        while smaller > tolerance:
            larger, smaller = smaller, abs(larger - smaller * round(larger / smaller))
        step = larger
        if step <= 4 * tolerance:
            return float(tolerance)
    return float(max(step, tolerance))
