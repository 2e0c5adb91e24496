"""Log-likelihoods of subjects along the range of a layout's only latent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..evaluations.evaluation import EDGE, Evaluation, SubjectData
from ..inference.model.alignment import Features
from ..inference.model.bands import ends, find_bands
from ..inference.model.prior import draw_prior
from ..inference.sampling.engine import Battery
from ..inference.sampling.grid.lattice import spaced
from ..inference.sampling.grid.posterior import Chances
from ..layouts import Latent, Layout

UNDEFINED = -1e10  # nats of a likelihood that has no value


class Curves:
    r"""Log-likelihoods of outcomes, in the order in which they came.

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    Probabilities stay 1e-12 away from 0 and 1, as in `fit`. Items alike are one.

    Parameters
    ----------
    battery : Battery
        A layout of one latent without labels, and items.
    evaluation : Evaluation
        Outcomes of the subjects.

    Attributes
    ----------
    latent : Latent
        Whose values are the places.
    subjects : list of str
        Numbered in this order.
    chances : Chances
        Of the items that differ, with constants that stand for any subject's.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> counts = [pd.DataFrame({"toss": [number]}, index=["Ann"]) for number in (3, 4)]
    >>> tosses = Evaluation(pd.DataFrame(index=["toss"]), *counts)
    >>> curves = Curves(Battery.of(coin, tosses), tosses)
    >>> curves.over(np.array([0.5, 0.75])).round(2)
    array([[-2.77, -2.25]])
    """

    def __init__(self, battery: Battery, evaluation: Evaluation) -> None:
        layout = battery.layout
        (self.latent,) = layout.latents
        self.subjects = evaluation.subjects
        features, kind = battery.kinds
        everybody = [SubjectData.of(evaluation, subject) for subject in self.subjects]
        right = [np.bincount(kind, one.successes) for one in everybody]
        wrong = [np.bincount(kind, one.trials - one.successes) for one in everybody]
        self._right, self._wrong = np.stack(right).astype(float), np.stack(wrong).astype(float)
        size = int(kind.max()) + 1
        own = [tuple(one.constants[name.name] for name in layout.constants) for one in everybody]
        known = list(dict.fromkeys(own))
        self._group = np.array([known.index(constants) for constants in own])
        names = [constant.name for constant in layout.constants]
        self._chances = [
            Chances(layout, features, size, dict(zip(names, constants, strict=True)))
            for constants in known
        ]
        self.chances = Chances(layout, features, size, dict.fromkeys(names, 0.5))

    def over(self, places: np.ndarray, who: np.ndarray | None = None) -> np.ndarray:
        """Compute log-likelihoods of subjects, all by default, at the same places.

        Returns
        -------
        ndarray, shape (subjects, places)
            In nats.
        """
        rows = np.arange(len(self.subjects)) if who is None else who
        found = np.empty((len(rows), len(places)))
        for number in np.unique(self._group[rows]):
            mine = np.flatnonzero(self._group[rows] == number)
            right, wrong = self._right[rows[mine]], self._wrong[rows[mine]]
            for some, chance in bounded(self._chances[number], self.latent, places):
                found[mine, some] = right @ np.log(chance).T + wrong @ np.log1p(-chance).T
        return defined(found)

    def at(self, places: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Compute log-likelihoods, each at a place and of a subject of its own.

        Parameters
        ----------
        places, who : ndarray, shape (places,)
            Values of the latent, and numbers of subjects.

        Returns
        -------
        ndarray, shape (places,)
            In nats.
        """
        found = np.empty(len(places))
        who = np.asarray(who, dtype=int)
        groups = self._group[who]
        for number in np.unique(groups):
            mine = np.flatnonzero(groups == number)
            for some, chance in bounded(self._chances[number], self.latent, places[mine]):
                rows = who[mine[some]]
                found[mine[some]] = np.vecdot(np.log(chance), self._right[rows])
                found[mine[some]] += np.vecdot(np.log1p(-chance), self._wrong[rows])
        return defined(found)

    def among(self, some: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Give `at` with subjects numbered as they are in a part of all."""
        return lambda places, rows: self.at(places, some[rows])

    def of(self, number: int) -> Callable[[np.ndarray], np.ndarray]:
        """Give one subject's curve, from values of any shape to log-likelihoods."""

        def curve(values: np.ndarray) -> np.ndarray:
            places = np.asarray(values, dtype=float)
            found = self.at(places.ravel(), np.full(places.size, number))
            return found.reshape(places.shape)

        return curve


def bounded(
    chances: Chances, latent: Latent, places: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Compute success probabilities away from 0 and 1; some places at a time, (places, items)."""
    outcome, dims = chances.layout.outcome.expression, len(chances.layout.dims)
    for some, found in chances.of(outcome, {latent.name: places}, places.shape):
        chance = found.reshape(found.shape[: found.ndim - dims])
        chance = np.broadcast_to(chance, (some.stop - some.start, chances.items))
        yield some, np.clip(chance, EDGE, 1 - EDGE)


def defined(logs: np.ndarray) -> np.ndarray:
    """Put next to nothing where a logarithm has no value."""
    return np.where(np.isfinite(logs), logs, UNDEFINED)


_FEWEST, _MOST = 512, 4096  # gaps to start with
_BETWEEN = 4  # places from one end of a band to the next
_BESIDE = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])  # of an end, in 1 / a'
_CHANGE = 2.0  # of the log-odds of any item, from one place to the next, at most
_HALVINGS = 60
_FARTHEST = 40  # doublings of the prior's spread that are looked at
_SETTLED = 1e-9


@dataclass(frozen=True)
class Line:
    """Where likelihoods are looked at.

    Attributes
    ----------
    places : ndarray
        Ascending.
    low, high : float
        Ends of the latent's range. Beyond the last place before an infinite one no probability
        changes.
    scale : float
        The prior's spread: what is small beside it is small.
    """

    places: np.ndarray
    low: float
    high: float
    scale: float


def line(layout: Layout, features: Features, chances: Chances) -> Line:
    """Lay places along the range of a layout's only latent.

    Evenly at first and closer together where a probability changes, by `lattice.spaced`; at,
    between and close to both sides of all ends of bands; then halfway between neighbours until the
    log-odds of no item change by more than 2 from each to the next: a cliff that is 1e-9 wide has
    as many places as a gentle slope.

    Parameters
    ----------
    layout : Layout
        With one latent.
    features : dict of str to ndarray
        Of all items.
    chances : Chances
        Of the items that differ.

    Returns
    -------
    Line
        Out to where nothing changes any more, in a range without ends.
    """
    (latent,) = layout.latents
    support = latent.range
    drawn = draw_prior(layout)[latent.name]
    lower, centre, upper = np.quantile(drawn, [0.25, 0.5, 0.75])
    scale = float(upper - lower) / 1.349
    marks, width = _marks(layout, features)
    first = support.low if np.isfinite(support.low) else _far(chances, latent, centre, -scale)
    last = support.high if np.isfinite(support.high) else _far(chances, latent, centre, scale)
    # evenly in a coordinate that grows like the logarithm far out
    stretch = scale if not support.is_finite else 1e3 * (last - first)

    def value(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(centre + stretch * np.sinh(at), first, last))

    def changes(at: np.ndarray) -> np.ndarray:
        return chances.changes({latent.name: value(at)}, at.shape)

    low, high = np.arcsinh((np.array([first, last]) - centre) / stretch)
    even = value(spaced(changes, low, high, _FEWEST, _MOST))
    edges = np.unique(np.concatenate([marks, [first, last]]))
    parts = np.arange(_BETWEEN) / _BETWEEN
    between = edges[:-1, None] + np.diff(edges)[:, None] * parts
    near = marks[:, None] + width[:, None] * _BESIDE
    places = np.unique(np.concatenate([even, between.ravel(), near.ravel(), [first, last]]))
    places = places[(places >= first) & (places <= last)]
    return Line(_refined(chances, latent, places), support.low, support.high, scale)


def _marks(layout: Layout, features: Features) -> tuple[np.ndarray, np.ndarray]:
    """List ends and midpoints of all bands, and about how wide each band's edge is."""
    places, widths = [], []
    for band in find_bands(layout):
        found = ends(band, features, layout) if band.latent is not None else None
        if found is not None:
            low, high = (end.ravel() for end in np.broadcast_arrays(*found))
            with np.errstate(invalid="ignore"):
                places += [low, high, (low + high) / 2]
                half = np.maximum(high - low, band.min_width or 2.0) / 2
            widths += [1 / np.exp(1 / half)] * 3
    every, width = np.concatenate([[], *places]), np.concatenate([[], *widths])
    finite = np.isfinite(every)
    every, first = np.unique(every[finite], return_index=True)
    return every, width[finite][first]


def _refined(chances: Chances, latent: Latent, places: np.ndarray) -> np.ndarray:
    """Halve gaps in which the log-odds of an item change by more than 2."""
    change = _changes(chances, latent, places)
    for _ in range(_HALVINGS):
        middle = (places[:-1] + places[1:]) / 2
        apart = (middle > places[:-1]) & (middle < places[1:])
        steep = np.flatnonzero((change > _CHANGE) & apart)
        if not len(steep):
            break
        triples = np.stack([places[steep], middle[steep], places[steep + 1]], axis=1)
        halves = np.append(_changes(chances, latent, triples.ravel()), 0.0).reshape(-1, 3)
        places = np.insert(places, steep + 1, middle[steep])
        change[steep] = halves[:, 0]
        change = np.insert(change, steep + 1, halves[:, 1])
    return places


def _far(chances: Chances, latent: Latent, centre: float, spread: float) -> float:
    """Find where, on one side, the probabilities have settled."""
    places = centre + spread * 2.0 ** np.arange(_FARTHEST)
    odds = np.concatenate([found for _, found in _log_odds(chances, latent, places)])
    odds = odds[: np.argmin(np.append(np.isfinite(odds).all(axis=1), False))]
    if not len(odds):
        return float(places[0])
    moved = np.flatnonzero((np.abs(odds - odds[-1]) > _SETTLED).any(axis=1))
    return float(places[min(moved[-1] + 1, len(odds) - 1) if len(moved) else 0])


def _changes(chances: Chances, latent: Latent, places: np.ndarray) -> np.ndarray:
    """How much the log-odds of an item change, at most, from each place to the next."""
    largest, before = [], None
    for _, odds in _log_odds(chances, latent, places):
        joined = odds if before is None else np.concatenate([before, odds])
        largest.append(np.abs(np.diff(joined, axis=0)).max(axis=1))
        before = odds[-1:]
    return np.asarray(np.nan_to_num(np.concatenate(largest), nan=0.0))


def _log_odds(
    chances: Chances, latent: Latent, places: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    for some, chance in bounded(chances, latent, places):
        yield some, np.log(chance) - np.log1p(-chance)
