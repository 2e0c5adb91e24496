"""Log-likelihoods of subjects along the range of a layout's only latent."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..evaluations.evaluation import Evaluation
from ..evaluations.subject_data import EDGE, SubjectData
from ..inference.model.alignment import Features, align
from ..inference.model.bands import ends, find_bands
from ..inference.model.prior import draw_prior
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from ..linking import evaluate

_NUMBERS = 2**16  # places times items times labels computed at a time, so that they fit the cache
UNDEFINED = -1e10  # log-likelihood, in nats, where it is not defined


@dataclass(frozen=True)
class Chances:
    """Probabilities of success on some items under a layout with one latent without labels.

    Attributes
    ----------
    layout : Layout
        Layout with the formulas.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.
    constants : mapping of str to float
        Values by subject constant.
    """

    layout: Layout
    features: Features
    items: int
    constants: Mapping[str, float]

    def at(self, places: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Compute the probabilities, clipped off 0 and 1, in blocks of shape (places, items)."""
        (latent,), dims = self.layout.latents, tuple(self.layout.dims)
        values: dict[str, object] = dict(self.constants)
        for feature in self.layout.row_features:
            column = self.features[feature.name]
            values[feature.name] = align(column, feature, dims, per_item=True)
        labels = math.prod(len(names) for names in self.layout.dims.values())
        step = max(2, _NUMBERS // (self.items * labels))
        for first in range(0, len(places), step):
            rows = slice(first, min(first + step, len(places)))
            values[latent.name] = align(places[rows], latent, dims, leading=1, per_item=False)
            with np.errstate(all="ignore"):  # in the tails of a prior
                chance = np.asarray(evaluate(self.layout.outcome.expression, values, dims))
            chance = chance.reshape(chance.shape[: chance.ndim - len(dims)])
            chance = np.broadcast_to(chance, (rows.stop - first, self.items))
            yield rows, np.clip(chance, EDGE, 1 - EDGE)


class Curves:
    r"""Log-likelihoods of subjects' outcomes as functions of the only latent.

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    Probabilities stay 1e-12 away from 0 and 1, as in `fit`. Identical items are counted together.

    Parameters
    ----------
    battery : Battery
        A layout with one latent without labels, and its items.
    evaluation : Evaluation
        Outcomes of the subjects.

    Attributes
    ----------
    latent : Latent
        The layout's only latent.
    subjects : list of str
        Names of the subjects; a subject's number is its position in this list.
    chances : Chances
        Success probabilities of the distinct items, with placeholder values (0.5) for the
        constants of subjects.

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
        tables = [values.reshape(battery.items, -1) for values in battery.features.values()]
        columns = np.concatenate([*tables, np.zeros((battery.items, 1))], axis=1)
        _, first, kind = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        features = {name: values[first] for name, values in battery.features.items()}
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
        """Compute log-likelihoods of subjects (default: all) at the same values of the latent.

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
            for some, chance in self._chances[number].at(places):
                found[mine, some] = right @ np.log(chance).T + wrong @ np.log1p(-chance).T
        return defined(found)

    def at(self, places: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Compute one log-likelihood for each pair of a value of the latent and a subject.

        Parameters
        ----------
        places, who : ndarray, shape (places,)
            Values of the latent, and the number of the subject of each.

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
            for some, chance in self._chances[number].at(places[mine]):
                rows = who[mine[some]]
                found[mine[some]] = np.vecdot(np.log(chance), self._right[rows])
                found[mine[some]] += np.vecdot(np.log1p(-chance), self._wrong[rows])
        return defined(found)

    def among(self, some: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Return `at` for a selection of subjects, numbered by their position in it."""
        return lambda places, rows: self.at(places, some[rows])

    def of(self, number: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return one subject's curve: a function from values of any shape to log-likelihoods."""

        def curve(values: np.ndarray) -> np.ndarray:
            places = np.asarray(values, dtype=float)
            found = self.at(places.ravel(), np.full(places.size, number))
            return found.reshape(places.shape)

        return curve


def defined(logs: np.ndarray) -> np.ndarray:
    """Replace values that are not finite by `UNDEFINED`."""
    return np.where(np.isfinite(logs), logs, UNDEFINED)


_EVEN = 1025  # points of the first grid
_BETWEEN = 4  # gaps between two neighbouring ends of bands
_BESIDE = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])  # distances from an end, in 1 / a'
_CHANGE = 2.0  # largest change of the log-odds of any item from one grid point to the next
_HALVINGS = 60
_FARTHEST = 40  # number of times that the prior's spread is doubled in the search for an end
_SETTLED = 1e-9


@dataclass(frozen=True)
class Line:
    """Grid of values of the latent at which likelihoods are computed.

    Attributes
    ----------
    places : ndarray
        Grid points, in ascending order.
    low, high : float
        Ends of the latent's range. Where an end is infinite, no probability changes beyond the
        outermost grid point.
    scale : float
        The prior's spread, to which tolerances are relative.
    """

    places: np.ndarray
    low: float
    high: float
    scale: float


def line(layout: Layout, features: Features, chances: Chances) -> Line:
    """Make a grid along the range of a layout's only latent.

    The grid is even at first. Points are added at all ends of bands, between them and close to both
    sides of them. Then gaps are halved
    until the log-odds of no item change by more than 2 from one point to the next, so that a step
    that is 1e-9 wide gets as many points as a gentle slope.

    Parameters
    ----------
    layout : Layout
        A layout with one latent.
    features : dict of str to ndarray
        Meta-features of all items.
    chances : Chances
        Success probabilities of the distinct items.

    Returns
    -------
    Line
        The grid. In a range without ends it reaches to where no probability changes any more.
    """
    (latent,) = layout.latents
    support = latent.range
    drawn = draw_prior(layout)[latent.name]
    lower, centre, upper = np.quantile(drawn, [0.25, 0.5, 0.75])
    scale = float(upper - lower) / 1.349
    marks, width = _marks(layout, features)
    first = support.low if np.isfinite(support.low) else _far(chances, centre, -scale)
    last = support.high if np.isfinite(support.high) else _far(chances, centre, scale)
    # the grid is even in a coordinate that grows like the logarithm far from the centre
    stretch = scale if not support.is_finite else 1e3 * (last - first)

    def value(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(centre + stretch * np.sinh(at), first, last))

    low, high = np.arcsinh((np.array([first, last]) - centre) / stretch)
    even = value(np.linspace(low, high, _EVEN))
    edges = np.unique(np.concatenate([marks, [first, last]]))
    parts = np.arange(_BETWEEN) / _BETWEEN
    between = edges[:-1, None] + np.diff(edges)[:, None] * parts
    near = marks[:, None] + width[:, None] * _BESIDE
    places = np.unique(np.concatenate([even, between.ravel(), near.ravel(), [first, last]]))
    places = places[(places >= first) & (places <= last)]
    return Line(_refined(chances, places), support.low, support.high, scale)


def _marks(layout: Layout, features: Features) -> tuple[np.ndarray, np.ndarray]:
    """List the ends and midpoints of all bands, and the approximate width of each band's edge."""
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


def _refined(chances: Chances, places: np.ndarray) -> np.ndarray:
    """Halve gaps in which the log-odds of an item change by more than 2."""
    change = _changes(chances, places)
    for _ in range(_HALVINGS):
        middle = (places[:-1] + places[1:]) / 2
        apart = (middle > places[:-1]) & (middle < places[1:])
        steep = np.flatnonzero((change > _CHANGE) & apart)
        if not len(steep):
            break
        triples = np.stack([places[steep], middle[steep], places[steep + 1]], axis=1)
        halves = np.append(_changes(chances, triples.ravel()), 0.0).reshape(-1, 3)
        places = np.insert(places, steep + 1, middle[steep])
        change[steep] = halves[:, 0]
        change = np.insert(change, steep + 1, halves[:, 1])
    return places


def _far(chances: Chances, centre: float, spread: float) -> float:
    """Find the value, on one side of the centre, beyond which probabilities no longer change."""
    places = centre + spread * 2.0 ** np.arange(_FARTHEST)
    odds = np.concatenate([found for _, found in _log_odds(chances, places)])
    odds = odds[: np.argmin(np.append(np.isfinite(odds).all(axis=1), False))]
    if not len(odds):
        return float(places[0])
    moved = np.flatnonzero((np.abs(odds - odds[-1]) > _SETTLED).any(axis=1))
    return float(places[min(moved[-1] + 1, len(odds) - 1) if len(moved) else 0])


def _changes(chances: Chances, places: np.ndarray) -> np.ndarray:
    """Compute the largest change of the log-odds of any item from each point to the next."""
    largest, before = [], None
    for _, odds in _log_odds(chances, places):
        joined = odds if before is None else np.concatenate([before, odds])
        largest.append(np.abs(np.diff(joined, axis=0)).max(axis=1))
        before = odds[-1:]
    return np.asarray(np.nan_to_num(np.concatenate(largest), nan=0.0))


def _log_odds(chances: Chances, places: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    for some, chance in chances.at(places):
        yield some, np.log(chance) - np.log1p(-chance)
