"""Search of a posterior along single coordinates: places of a grid, and starts of NUTS in modes."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import find_peaks

from ...layouts.elements import elements
from ..model.bands import find_bands
from ..model.prior import prior_profiles
from .engine import Battery
from .unbounded import LogDensity

_PLACES = 512  # number of places along a propensity, evenly spread over its prior
FARTHEST = 1e17  # place on the unbounded scale; a tail like that of a Cauchy has fallen by 78 nats
_SWEEPS = 3  # number of scans along each propensity, if there are several
_MOST = 256  # largest number of combinations of maxima that are compared
_LIGHT = 10.0  # nats: maxima that are further below the highest one get no chain
_DIP = 1.0  # nats: maxima with a smaller dip between them are one, since chains cross it
_BETWEEN = np.linspace(0, 1, 35)[1:-1, None]  # points between two maxima at which it is searched
_WIDEST, _HALVINGS = 40.0, 64  # coordinates are searched up to sinh(40), beyond the farthest

type Start = Callable[[int], np.ndarray]
"""Function that returns a chain's starting point on PyMC's unbounded scale, given its seed."""


def places(
    battery: Battery, density: LogDensity, axis: int, count: int, base: np.ndarray
) -> np.ndarray:
    """Return places along a coordinate of a profile on PyMC's unbounded scale.

    `count` of them are evenly spread over the prior's draws; others lie beyond them at distances
    that grow ever faster, up to 1e17. On a circle, all are evenly spread over one turn. Coordinates
    on which the element also depends are those of `base`.
    """
    element = elements(battery.layout)[axis]
    if element.prior.family == "VonMises":
        return np.linspace(-np.pi, np.pi, count + 1)
    drawn = prior_profiles(battery.layout, [element])
    low, high = np.sort(coordinates(battery, density, axis, [drawn.min(), drawn.max()], base))
    beyond = (high - low) / 8 * 2.0 ** np.cumsum(np.arange(12))
    every = np.concatenate([low - beyond, np.linspace(low, high, count), high + beyond])
    return np.unique(every.clip(-FARTHEST, FARTHEST))


def coordinates(
    battery: Battery,
    density: LogDensity,
    axis: int,
    values: Sequence[float] | np.ndarray,
    base: np.ndarray,
) -> np.ndarray:
    """Find the coordinates at which an element has some values, by bisection; see `places`."""
    element = elements(battery.layout)[axis]

    def reached(areas: np.ndarray) -> np.ndarray:
        at = np.repeat(base[None], len(areas), axis=0)
        at[:, axis] = np.sinh(areas)
        drawn = density.profiles(at)[element.latent.name]
        return np.asarray(drawn.reshape(len(at), -1)[:, element.index])

    low, high = np.repeat([[-_WIDEST], [_WIDEST]], len(values), axis=1)
    falling = np.subtract(*reached(np.array([1.0, -1.0]))) < 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = (reached(middle) > values) != falling
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(np.sinh((low + high) / 2))


def banded_axes(battery: Battery) -> list[int]:
    """Return the coordinates of the latents that must be within a band."""
    names = {latent.name for band in find_bands(battery.layout) for latent in band.latents}
    listed = elements(battery.layout)
    return [axis for axis, element in enumerate(listed) if element.latent.name in names]


@dataclass(frozen=True, eq=False)
class Maxima:
    """Maxima of a posterior along the propensities that are in bands.

    Attributes
    ----------
    at : ndarray, shape (maxima, elements)
        Places on PyMC's unbounded scale; empty if there are too many combinations.
    axes : list of int
        Elements of the propensities.
    starts : list of callable
        Functions that return a starting point beside each maximum, given a chain's seed.
    """

    at: np.ndarray
    axes: list[int]
    starts: list[Start]

    def entered(self, drawn: np.ndarray) -> bool:
        """Whether every chain was nearest to each maximum at least once.

        `drawn` are the sampler's points, shape (chain, draw, elements).
        """
        if not len(self.at):
            return False
        far = drawn[:, :, None, self.axes] - self.at[:, self.axes]
        nearest = np.linalg.norm(far, axis=-1).argmin(axis=-1)
        return all(len(np.unique(chain)) == len(self.at) for chain in nearest)


def scan(battery: Battery, density: LogDensity) -> Maxima:
    r"""Search the maxima of a posterior along each propensity that is in a band.

    The log-density is computed at `places` along one propensity, with all other coordinates at the
    highest place so far (at first at the prior's medians). Of the combinations of the maxima of all
    propensities, those at most 10 nats below the highest one are kept, without those that are not
    separated from a higher one by a dip of 1 nat.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    density : LogDensity
        Log-density of the subject.

    Returns
    -------
    Maxima
        The maxima, the highest one first, and starting points beside them.

    Examples
    --------
    >>> from measurement_layouts import Layout, MetaFeature, Propensity, Success
    >>> from measurement_layouts.evaluations.subject_data import SubjectData
    >>> from measurement_layouts.inference.sampling.engine import compile_sampler
    >>> from measurement_layouts.linking import band
    >>> mood = Propensity("mood", low=-6, high=6)
    >>> low, high = MetaFeature("low", low=-6, high=6), MetaFeature("high", low=-6, high=6)
    >>> layout = Layout("calm", Success("answered", band(mood, low, high)))
    >>> battery = Battery(layout, {"low": np.array([-2.0]), "high": np.array([2.0])}, items=1)
    >>> data = SubjectData(successes=np.array([5]), trials=np.array([10]), constants={})
    >>> maxima = scan(battery, LogDensity(compile_sampler(battery).on(data)))
    >>> sorted((12 / (1 + np.exp(-maxima.at[:, 0])) - 6).round().tolist())
    [-2.0, 2.0]
    """
    axes = banded_axes(battery)
    base = np.zeros(density.size)
    for axis, element in enumerate(elements(battery.layout)):
        median = np.median(prior_profiles(battery.layout, [element]))
        base[axis] = coordinates(battery, density, axis, [median], base)[0]
    lines = {axis: places(battery, density, axis, _PLACES, base) for axis in axes}
    for _ in range(_SWEEPS if len(axes) > 1 else 1):
        peaks = []
        for axis in axes:
            along = np.repeat(base[None], len(lines[axis]), axis=0)
            along[:, axis] = lines[axis]
            logs, _ = density.at_all(along)
            maxima = find_peaks(np.concatenate([[-np.inf], logs, [-np.inf]]))[0] - 1
            peaks.append(lines[axis][maxima[logs[maxima] > logs.max() - _LIGHT]])
            base[axis] = lines[axis][logs.argmax()]
    if np.prod([len(maxima) for maxima in peaks], dtype=float) > _MOST:
        return Maxima(np.empty((0, len(base))), axes, [])
    combined = np.array(list(itertools.product(*peaks)))
    at = np.repeat(base[None], len(combined), axis=0)
    at[:, axes] = combined
    heights, _ = density.at_all(at)
    kept: list[int] = []
    for number in np.argsort(-heights):
        ways = (at[number] + _BETWEEN * (at[other] - at[number]) for other in kept)
        dips = (heights[number] - density.at_all(way)[0].min() for way in ways)
        if heights[number] > heights.max() - _LIGHT and all(dip > _DIP for dip in dips):
            kept.append(int(number))
    steps = np.ones(len(base))
    steps[axes] = [np.median(np.diff(lines[axis])) for axis in axes]
    starts = [_beside(density, at[number], steps, heights[number]) for number in kept]
    return Maxima(at[kept], axes, starts)


def _beside(density: LogDensity, at: np.ndarray, steps: np.ndarray, height: float) -> Start:
    """Return a starting point beside a maximum, where the gradient is not zero."""

    def start(seed: int) -> np.ndarray:
        far = steps * np.random.default_rng(seed).uniform(-1, 1, len(at))
        while density(at + far) < height - len(at) and np.abs(far).max() > 0:
            far = far / 2
        return np.asarray(at + far)

    return start
