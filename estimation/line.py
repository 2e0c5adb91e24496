"""Places along a latent's range, so close together that no maximum lies between them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..inference.model.alignment import Features
from ..inference.model.bands import ends, find_bands
from ..inference.model.prior import draw_prior
from ..inference.sampling.grid.lattice import spaced
from ..inference.sampling.grid.posterior import Chances
from ..layouts import Latent, Layout
from .curves import bounded

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
