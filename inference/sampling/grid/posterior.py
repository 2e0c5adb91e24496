"""One subject's posterior as a density that can be integrated."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ....common.cache import Recent
from ....common.errors import FitError
from ....common.messages import some
from ....evaluations.evaluation import EDGE, SubjectData
from ....layouts.elements import elements
from ...model.alignment import Features
from ...model.identity import compile_key
from ...model.prior import noncentred
from ..engine import Battery
from ..stopping import stop_if_told
from .chances import Chances
from .lattice import grow, spaced, start
from .quadrature import Boxes, settle
from .unconstrained import Unconstrained, finite, unconstrained

_GAPS = {1: (64, 2048), 2: (16, 256)}  # of the lattice along each of so many axes: fewest, most
_BESIDE = np.array([[-1.0, 0.0, 1.0]])  # where the other coordinate is while one is looked along


class ExactPosterior:
    """Density of one subject's profile over its `Unconstrained` coordinates, up to a factor.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.

    Raises
    ------
    FitError
        When the profile has more than two elements.
    LayoutError
        When PyMC does not take a prior, or it cannot be drawn from.

    Attributes
    ----------
    coordinates : Unconstrained
        What it is a density over.
    ways : float
        Log of the number of orders in which the outcomes can come: the binomial coefficients.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> data = SubjectData(successes=np.array([16]), trials=np.array([24]), constants={})
    >>> mean, variance = ExactPosterior(Battery(coin, {}, items=1), data).boxes().moments()
    >>> float(mean[0].round(6)), round(17 / 26, 6)
    (0.653846, 0.653846)
    """

    def __init__(self, battery: Battery, data: SubjectData) -> None:
        shared = _prepared(battery)
        self.coordinates = shared.coordinates
        self._layout, self._lines = battery.layout, shared.lines
        failures = data.trials - data.successes
        orders = gammaln(data.trials + 1) - gammaln(data.successes + 1) - gammaln(failures + 1)
        self.ways = float(orders.sum())
        right, wrong = (np.bincount(shared.kind, counts) for counts in (data.successes, failures))
        tried = np.flatnonzero(right + wrong)
        # kinds of items always solved come first, those never solved last
        tried = tried[np.lexsort([wrong[tried] > 0, right[tried] == 0])]
        features = {name: values[tried] for name, values in shared.features.items()}
        self._chances = Chances(battery.layout, features, len(tried), data.constants)
        self._last, self._first = np.count_nonzero(right), len(tried) - np.count_nonzero(wrong)
        self._right, self._wrong = right[tried[: self._last]], wrong[tried[self._first :]]

    def __call__(self, points: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Compute the log-density and the profile elements.

        Parameters
        ----------
        points : sequence of ndarray
            Coordinates, an array for each; they broadcast against each other.

        Returns
        -------
        logs : ndarray
            In their common shape, without `ways`.
        values : ndarray
            Profile elements, along one more axis at the end.
        """
        stop_if_told()
        profile, logs, stretch = self.coordinates.profile(points)
        likelihood = np.empty(logs.shape)
        outcome, dims = self._layout.outcome.expression, len(self._layout.dims)
        for chosen, found in self._chances.of(outcome, profile, logs.shape):
            chance = found.reshape(found.shape[: found.ndim - dims])
            chance = np.broadcast_to(chance, (*chance.shape[:-1], self._chances.items))
            chance = np.clip(chance, EDGE, 1 - EDGE)
            likelihood[chosen] = np.vecdot(np.log(chance[..., : self._last]), self._right)
            likelihood[chosen] += np.vecdot(np.log(1 - chance[..., self._first :]), self._wrong)
        values = [
            np.broadcast_to(part, (*logs.shape, part.shape[-1]))
            for latent in self._layout.latents
            for part in [profile[latent.name] if latent.dims else profile[latent.name][..., None]]
        ]
        return finite(logs + stretch + likelihood), np.concatenate(values, axis=-1)

    def lattice(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Compute it on a lattice that holds all that matters; see `grow`.

        Raises
        ------
        FitError
            When it cannot be normalised.
        """
        return grow(self, self._lines, self.coordinates.names, self.coordinates.closed)

    def boxes(self) -> Boxes:
        """Integrate it.

        Raises
        ------
        FitError
            When it cannot be normalised, or has too much detail.
        """
        return settle(self, *start(*self.lattice()))


@dataclass(frozen=True)
class _Shared:
    """What the subjects of a battery have in common."""

    coordinates: Unconstrained
    features: Features  # of the items that differ
    kind: np.ndarray  # of every item, its row in them
    lines: list[np.ndarray]  # of the lattice to start with, by axis


_shared = Recent[object, _Shared](16)  # batteries


def _prepared(battery: Battery) -> _Shared:
    names = [element.name for element in elements(battery.layout)]
    if len(names) > max(_GAPS):
        raise FitError(
            f"layout {battery.layout.name!r} has {len(names)} profile elements ({some(names)}), "
            f"and {max(_GAPS)} at most can be integrated over; use method='nuts'"
        )
    key = compile_key(battery.layout), battery.digest
    return _shared.find(key, lambda: _prepare(battery, len(names)))


def _prepare(battery: Battery, axes: int) -> _Shared:
    layout = battery.layout
    coordinates = unconstrained(layout, noncentred(layout, battery.items))
    features, kind = battery.kinds
    items = int(kind.max()) + 1
    chances = Chances(layout, features, items, {name.name: 0.5 for name in layout.constants})

    def changes(axis: int, places: np.ndarray) -> np.ndarray:
        points = [places[:, None] if other == axis else _BESIDE for other in range(axes)]
        profile, logs, _ = coordinates.profile(points)
        return chances.changes(profile, logs.shape)

    lines = [
        spaced(functools.partial(changes, axis), low, high, *_GAPS[axes])
        for axis, (low, high) in enumerate(coordinates.ends.T)
    ]
    return _Shared(coordinates, features, kind, lines)
