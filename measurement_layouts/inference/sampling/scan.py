"""Starting points of NUTS's chains in the modes that bands cause."""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.signal import find_peaks

from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ...layouts.elements import elements
from ..model.bands import find_bands
from ..model.prior import draw_prior
from ..model.variables import noncentred
from .draws import Draws
from .engine import Battery, compile_sampler
from .nuts import Start
from .unbounded import LogDensity, points

_PLACES = 512  # number of places along a propensity, evenly spread over its prior
_SWEEPS = 3  # number of scans along each propensity, if there are several
_MOST = 256  # largest number of combinations of maxima that are compared
_LIGHT = 10.0  # nats: maxima that are further below the highest one get no chain
_DIP = 1.0  # nats: maxima with a smaller dip between them are one, since chains cross it
_BETWEEN = np.linspace(0, 1, 35)[1:-1, None]  # points between two maxima at which it is searched


@dataclass(frozen=True, eq=False)
class Maxima:
    """Maxima of a posterior along the propensities that are in bands.

    Attributes
    ----------
    layout : Layout
        The layout.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `noncentred`.
    at : ndarray, shape (maxima, elements)
        Places on PyMC's unbounded scale; empty if there are too many combinations.
    axes : list of int
        Elements of the propensities.
    starts : list of callable
        Functions that return a starting point beside each maximum, given a chain's seed.
    """

    layout: Layout
    deviations: frozenset[str]
    at: np.ndarray
    axes: list[int]
    starts: list[Start]

    def entered(self, draws: Draws) -> bool:
        """Whether every chain was nearest to each maximum at least once."""
        chains = len(next(iter(draws.posterior.values())))
        for chain in range(chains):
            profile = {name: values[chain] for name, values in draws.posterior.items()}
            places = points(self.layout, self.deviations, profile)[:, self.axes]
            far = np.linalg.norm(places[:, None] - self.at[:, self.axes], axis=-1)
            if not len(self.at) or len(np.unique(far.argmin(axis=1))) < len(self.at):
                return False
        return True


def scan(battery: Battery, data: SubjectData) -> Maxima:
    r"""Search the maxima of a posterior along each propensity that is in a band.

    The log-density is computed at 512 places along one propensity, with all other coordinates at
    the highest place so far (at first at the prior's medians). Of the combinations of the maxima of
    all propensities, those at most 10 nats below the highest one are kept, without those that are
    not separated from a higher one by a dip of 1 nat.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.

    Returns
    -------
    Maxima
        The maxima, the highest one first, and starting points beside them.

    Examples
    --------
    >>> from measurement_layouts import Layout, MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band
    >>> mood = Propensity("mood", low=-6, high=6)
    >>> low, high = MetaFeature("low", low=-6, high=6), MetaFeature("high", low=-6, high=6)
    >>> layout = Layout("calm", Success("answered", band(mood, low, high)))
    >>> battery = Battery(layout, {"low": np.array([-2.0]), "high": np.array([2.0])}, items=1)
    >>> data = SubjectData(successes=np.array([5]), trials=np.array([10]), constants={})
    >>> maxima = scan(battery, data)
    >>> sorted((12 / (1 + np.exp(-maxima.at[:, 0])) - 6).round().tolist())
    [-2.0, 2.0]
    """
    layout, deviations = battery.layout, noncentred(battery.layout, battery.items)
    density = LogDensity(compile_sampler(battery).on(data))
    in_bands = {latent.name for band in find_bands(layout) for latent in band.latents}
    axes = [axis for axis, each in enumerate(elements(layout)) if each.latent.name in in_bands]
    drawn = points(layout, deviations, draw_prior(layout))
    base = np.median(drawn, axis=0)
    lines = {
        axis: np.unique(np.quantile(drawn[:, axis], np.linspace(0, 1, _PLACES))) for axis in axes
    }
    for _ in range(_SWEEPS if len(axes) > 1 else 1):
        peaks = []
        for axis in axes:
            along = np.repeat(base[None], len(lines[axis]), axis=0)
            along[:, axis] = lines[axis]
            logs, _ = density.at_all(along)
            padded = np.concatenate([[-np.inf], logs, [-np.inf]])
            maxima = find_peaks(padded)[0] - 1
            peaks.append(maxima[logs[maxima] > logs.max() - _LIGHT])
            base[axis] = lines[axis][logs.argmax()]
    if np.prod([len(maxima) for maxima in peaks], dtype=float) > _MOST:
        return Maxima(layout, deviations, np.empty((0, len(base))), axes, [])
    combined = list(itertools.product(*peaks))
    at = np.repeat(base[None], len(combined), axis=0)
    for number, combination in enumerate(combined):
        at[number, axes] = [lines[a][k] for a, k in zip(axes, combination, strict=True)]
    heights, _ = density.at_all(at)
    kept: list[int] = []
    for number in np.argsort(-heights):
        ways = (at[number] + _BETWEEN * (at[other] - at[number]) for other in kept)
        dips = (heights[number] - density.at_all(way)[0].min() for way in ways)
        if heights[number] > heights.max() - _LIGHT and all(dip > _DIP for dip in dips):
            kept.append(int(number))
    steps = np.ones(len(base))
    for axis in axes:
        steps[axis] = np.median(np.diff(lines[axis]))
    starts = [_beside(density, at[number], steps, heights[number]) for number in kept]
    return Maxima(layout, deviations, at[kept], axes, starts)


def _beside(density: LogDensity, at: np.ndarray, steps: np.ndarray, height: float) -> Start:
    """Return a starting point beside a maximum, where the gradient is not zero."""

    def start(seed: int) -> np.ndarray:
        far = steps * np.random.default_rng(seed).uniform(-1, 1, len(at))
        while density(at + far) < height - len(at) and np.abs(far).max() > 0:
            far = far / 2
        return np.asarray(at + far)

    return start
