"""Modes of a subject's posterior, and chains that start near them."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter
from scipy.optimize import minimize

from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ..model.prior import draw_prior, noncentred
from .convergence import rhat_ess
from .draws import Draws, SamplingOptions
from .engine import Battery, compile_sampler
from .grid.posterior import ExactPosterior
from .nuts import Start, sample
from .unbounded import LogDensity, points

_FEW = 2  # largest number of profile elements whose posterior is searched on a lattice
_CLIMBS = 32  # number of local searches from the prior, for more profile elements ...
_POINTS = 1000  # ... which start at some of this many draws
_CALLS = 1000  # largest number of evaluations of the log-density in a local search
_DIP = 1.0  # nats: peaks with a smaller dip between them are one mode, since chains cross it
_BETWEEN = np.linspace(0, 1, 35)[1:-1]  # points between two peaks at which the dip is searched
_LIGHTEST = np.log(1e-4)  # smallest mass of a mode, as the log of its part of the heaviest one's
_FARTHEST = 60.0  # nats: peaks that are further below the highest one are ignored
_BEST = 8  # number of draws from the prior where local searches start if a chain may be lost
_APART = 1.1  # R-hat of the log-density above which chains are examined
_SEEN = 100  # number of draws of a chain by which its location is estimated
_FALL = 0.5  # nats below a mode where its width is measured: the sd of a normal density
_SHORTEST, _LONGEST = 2.0**-33, 2.0**10  # smallest and largest widths that are measured
_HALVINGS = 40  # largest number of halvings of the distance of a start from its mode


@dataclass(frozen=True, eq=False)
class Mode:
    """Local maximum of the log-density on PyMC's unbounded scale, on which NUTS samples.

    Attributes
    ----------
    at : ndarray, shape (elements,)
        Location of the maximum, in the order of the layout's profile elements.
    height : float
        Log-density at the maximum.
    widths : ndarray, shape (elements,)
        By axis, the distance from the maximum at which the log-density is half a nat smaller, as
        the mean of both sides, with the other profile elements fixed. For a normal density, this is
        the conditional standard deviation.
    """

    at: np.ndarray
    height: float
    widths: np.ndarray

    @property
    def mass(self) -> float:
        """Logarithm of the mode's probability up to a constant, without correlations."""
        return float(self.height + np.log(self.widths).sum())


def find_modes(battery: Battery, data: SubjectData, most: int, seed: int) -> list[Mode]:
    r"""Find the modes of one subject's posterior.

    For profiles of one or two elements, the log-density :math:`\ell` is computed on the lattice of
    ``method="grid"``, and a local search starts at each of its local maxima, bounded by the
    neighbouring lines. For larger profiles, and for layouts with unseen or measured properties of
    items, local searches start at the prior's initial point and at 32 draws from the prior. Two
    peaks :math:`a, b` are one mode if

    .. math:: \min_{0 < t < 1} \ell(a + t (b - a)) \ge \min(\ell(a), \ell(b)) - 1.

    A mode is left out if its mass (computed from height and widths, see `Mode.mass`) is less than
    1e-4 of that of the heaviest mode, since ten thousand independent draws would hardly show it.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    most : int
        Largest number of modes to return.
    seed : int
        Seed of the choice among draws from the prior.

    Returns
    -------
    list of Mode
        Modes, the heaviest first. A mode of a large profile is missed if no local search ends in
        it.

    Raises
    ------
    FitError
        When a posterior of one or two elements cannot be normalised.

    Examples
    --------
    >>> from measurement_layouts import MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band
    >>> mood = Propensity("mood", low=-6, high=6)
    >>> low, high = MetaFeature("low", low=-6, high=6), MetaFeature("high", low=-6, high=6)
    >>> layout = Layout("calm", Success("answered", band(mood, low, high)))
    >>> battery = Battery(layout, {"low": np.array([-2.0]), "high": np.array([2.0])}, items=1)
    >>> data = SubjectData(successes=np.array([5]), trials=np.array([10]), constants={})
    >>> modes = find_modes(battery, data, most=4, seed=1)
    >>> sorted(float((12 / (1 + np.exp(-mode.at[0])) - 6).round(1)) for mode in modes)
    [-2.1, 2.1]
    """
    battery = battery.tried(data.trials)
    model = compile_sampler(battery).on(data)
    density = LogDensity(model)
    if density.size <= _FEW and battery.layout.outcome.unseen is None:
        peaks = _from_lattice(density, ExactPosterior(battery, data))
    else:
        rng = np.random.default_rng(seed)
        drawn = rng.choice(_prior_points(battery), _CLIMBS, replace=False)
        peaks = [_climbed(density, at) for at in [model.initial_point_func(seed), *drawn]]
    return _heaviest(density, peaks)[:most]


type _Peak = tuple[np.ndarray, float]


def _heaviest(density: LogDensity, peaks: Sequence[_Peak]) -> list[Mode]:
    """Return the modes of peaks, without those of negligible mass; the heaviest first."""
    best = max(height for _, height in peaks)
    peaks = [(at, height) for at, height in peaks if height > best - _FARTHEST]
    modes = [Mode(*peak, _widths(density, *peak)) for peak in _different(density, peaks)]
    modes.sort(key=lambda mode: -mode.mass)
    return [mode for mode in modes if mode.mass > modes[0].mass + _LIGHTEST]


def _from_lattice(density: LogDensity, posterior: ExactPosterior) -> list[_Peak]:
    """Search from each local maximum of the lattice, bounded by the neighbouring lines."""
    lines, logs = posterior.lattice()
    coordinates = posterior.coordinates
    for axis, line in enumerate(lines):  # densities per unit of PyMC's scale
        logs = logs - np.log(np.cosh(line)).reshape([-1, *[1] * (logs.ndim - axis - 1)])
    scales = [
        centre + spread * np.sinh(line)
        for line, centre, spread in zip(lines, coordinates.centre, coordinates.spread, strict=True)
    ]
    highest = (logs == maximum_filter(logs, size=3)) & (logs > logs.max() - _FARTHEST)
    found = []
    for place in np.argwhere(highest):
        at = np.array([scale[k] for scale, k in zip(scales, place, strict=True)])
        box = [
            (scale[max(k - 1, 0)], scale[min(k + 1, len(scale) - 1)])
            for scale, k in zip(scales, place, strict=True)
        ]
        found.append(_climbed(density, at, box))
    return found


def _climbed(
    density: LogDensity, start: np.ndarray, box: Sequence[tuple[float, float]] | None = None
) -> _Peak:
    """Search for a local maximum; at a discontinuity, the search ends at its edge."""

    def depth(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = density.with_gradient(at)
        return -value, -gradient

    found = minimize(depth, start, method="TNC", jac=True, bounds=box, options={"maxfun": _CALLS})
    return np.asarray(found.x), -float(found.fun)


def _different(density: LogDensity, peaks: Sequence[_Peak]) -> list[_Peak]:
    """Keep the highest peak of each mode."""
    kept: list[_Peak] = []
    for at, height in sorted(peaks, key=lambda peak: -peak[1]):
        ways = (at + _BETWEEN[:, None] * (other - at) for other, _ in kept)
        if all(any(height - density(place) > _DIP for place in way) for way in ways):
            kept.append((at, height))
    return kept


def _widths(density: LogDensity, at: np.ndarray, height: float) -> np.ndarray:
    """Measure the widths of a mode; see `Mode`."""

    def reach(way: np.ndarray) -> float:
        return _reach(lambda far: height - density(at + far * way) < _FALL)

    return np.mean([[reach(axis), reach(-axis)] for axis in np.eye(len(at))], axis=1)


def _reach(near: Callable[[float], bool]) -> float:
    """Find the distance up to which `near` is true, to 2 %, in growing steps from the mode."""
    step = _SHORTEST
    while step < _LONGEST and near(2 * step):
        step *= 2
    low, high = step, 2 * step
    for _ in range(5):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if near(middle) else (low, middle)
    return low


def _prior_points(battery: Battery) -> np.ndarray:
    """Draw profiles from the prior, on PyMC's unbounded scale; shape (draws, elements)."""
    return _drawn_points(battery.layout, noncentred(battery.layout, battery.items))


@functools.lru_cache(maxsize=32)
def _drawn_points(layout: Layout, deviations: frozenset[str]) -> np.ndarray:
    drawn = {name: part[:_POINTS] for name, part in draw_prior(layout).items()}
    return points(layout, deviations, drawn)


def sample_modes(
    battery: Battery, data: SubjectData, options: SamplingOptions, seed: int, cores: int = 1
) -> Draws:
    """Draw from one subject's posterior with chains that start near its modes.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        Options of sampling; at most as many modes are used as there are chains.
    seed : int
        Seed of modes and chains.
    cores : int
        Number of chains at a time; the draws do not depend on it.

    Returns
    -------
    Draws
        Draws of all chains. The number of the mode at which a chain starts is the number of the
        chain modulo the number of modes; the heaviest mode is 0. A long step of the tuning phase
        may leave the mode, which about one of fifty chains did with two sharp modes.
    """
    sampler = compile_sampler(battery)
    modes = find_modes(battery, data, options.chains, seed)
    model = sampler.on(data)
    starts = [starting_beside(model, mode) for mode in modes]
    return sample(sampler, data, options, seed, cores, starts)


def starting_beside(model: Any, mode: Mode) -> Start:
    """Return a function of a chain's seed that returns a starting point near a mode.

    The distance from the mode is 0.2 to 0.5 widths along each axis, because the sampler estimates
    scales from the gradient at the start, which is zero at the mode itself. The distance is halved
    while the log-density there is more than one nat per axis below that of the mode, as it is
    beyond a discontinuity.
    """
    density = LogDensity(model)

    def start(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        step = mode.widths * rng.uniform(0.2, 0.5, density.size) * rng.choice([-1, 1], density.size)
        for _ in range(_HALVINGS):
            if density(mode.at + step) > mode.height - density.size:
                break
            step /= 2
        return np.asarray(mode.at + step)

    return start


def without_lost_chains(
    battery: Battery,
    data: SubjectData,
    draws: Draws,
    options: SamplingOptions,
    seed: int,
    cores: int = 1,
) -> Draws:
    r"""Replace chains in regions of negligible mass by new chains; other chains are kept.

    Where the log-density is flat, a chain may hardly move, or find a local maximum of negligible
    mass. Chains are examined if R-hat of their log-densities :math:`\ell` is above 1.1. Local
    searches for modes then start at the ends of all chains and at the 8 draws with the largest
    density of 1,000 draws from the prior. A chain of k profile elements is lost if the logarithm of
    the mass of its region,

    .. math:: \operatorname{median} \ell + \frac{k}{2} + \sum_{i=1}^k \log s_i

    where the s are its standard deviations on PyMC's unbounded scale, is below that of the heaviest
    mode by more than :math:`\log 10^4`. For a normal density, it is the mass of the mode (see
    `Mode.mass`).

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    draws : Draws
        Draws of all chains.
    options : SamplingOptions
        Options with which they were drawn.
    seed : int
        Seed of the attempt.
    cores : int
        Number of chains at a time; the draws do not depend on it.

    Returns
    -------
    Draws
        Draws in which lost chains are replaced by chains that start near the heaviest modes;
        `draws` itself if no chain is lost.
    """
    levels = draws.statistics["lp"]
    if len(levels) < 2 or not rhat_ess(levels[None]).rhat[0] > _APART:
        return draws
    sampler = compile_sampler(battery)
    model = sampler.on(data)
    density = LogDensity(model)
    every = max(1, levels.shape[1] // _SEEN)
    drawn = _prior_points(battery)
    deviations = noncentred(battery.layout, battery.items)
    seen = [
        points(
            battery.layout,
            deviations,
            {name: part[chain, ::-every] for name, part in draws.posterior.items()},
        )
        for chain in range(len(levels))
    ]
    best = drawn[np.argsort([density(at) for at in drawn])[-_BEST:]]
    starts = [*(chain[0] for chain in seen), *best]
    modes = _heaviest(density, [_climbed(density, at) for at in starts])
    widths = np.array([chain.std(axis=0).clip(_SHORTEST) for chain in seen])
    masses = np.median(levels, axis=1) + (0.5 + np.log(widths)).sum(axis=1)
    (lost,) = np.nonzero(masses < modes[0].mass + _LIGHTEST)
    if not lost.size:
        return draws
    again = sample(
        sampler,
        data,
        dataclasses.replace(options, chains=len(lost)),
        subject_seed(seed, "lost chains"),
        cores,
        [starting_beside(model, mode) for mode in modes[: len(lost)]],
    )

    def joined(
        kept: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        found = {name: values.copy() for name, values in kept.items()}
        for name, values in found.items():
            values[lost] = new[name]
        return found

    return Draws(
        joined(draws.posterior, again.posterior), joined(draws.statistics, again.statistics)
    )
