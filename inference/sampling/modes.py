"""Modes of a subject's posterior; chains that start there, at once or because they were lost."""

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

_FEW = 2  # profile elements whose posterior is looked at all over
_CLIMBS = 32  # local searches from the prior, for more profile elements ...
_POINTS = 1000  # ... from some of so many draws
_CALLS = 1000  # of the log-density in a climb
_DIP = 1.0  # nats that chains cross at ease: peaks with less between them are one mode
_BETWEEN = np.linspace(0, 1, 35)[1:-1]  # where the way from one peak to another is looked at
_LIGHTEST = np.log(1e-4)  # log of a mode's mass over the heaviest one's
_FARTHEST = 60.0  # nats below the highest peak at which no peak is worth a climb
_BEST = 8  # draws from the prior that are climbed from where a chain may be lost
_APART = 1.1  # R-hat of the log-density from which chains are looked at
_SEEN = 100  # draws of a chain that tell where it was
_FALL = 0.5  # nats from a mode at which its width is read: one standard deviation of a normal
_SHORTEST, _LONGEST = 2.0**-33, 2.0**10  # widths that are told apart
_HALVINGS = 40  # of the distance of a chain's start from its mode


@dataclass(frozen=True, eq=False)
class Mode:
    """A local maximum of the log-density on PyMC's unbounded scale, where NUTS runs.

    Attributes
    ----------
    at : ndarray, shape (elements,)
        Where, in the order of the layout's profile elements.
    height : float
        Log-density there.
    widths : ndarray, shape (elements,)
        By axis, how far from it the log-density has fallen by half a nat: the mean of both sides,
        each profile element on its own. A standard deviation, where the rest of the profile is
        known and the mode is a normal one.
    """

    at: np.ndarray
    height: float
    widths: np.ndarray

    @property
    def mass(self) -> float:
        """Log of the probability in it, up to a constant, as if it had no correlations."""
        return float(self.height + np.log(self.widths).sum())


def find_modes(battery: Battery, data: SubjectData, most: int, seed: int) -> list[Mode]:
    r"""Find the modes of one subject's posterior.

    Profiles of one or two elements are looked at all over, on the lattice from which
    ``method="grid"`` starts; from every local maximum the log-density :math:`\ell` is climbed
    between the neighbouring lines. For larger ones, and where something is unseen of the items, it
    is climbed from the layout's middle and 32 draws from the prior. Two peaks :math:`a, b` are one
    mode where

    .. math:: \min_{0 < t < 1} \ell(a + t (b - a)) \ge \min(\ell(a), \ell(b)) - 1.

    A mode is left out when it has less than 1e-4 of the heaviest one's mass (height and widths, see
    `Mode`): ten thousand independent draws would hardly show it.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    most : int
        How many to return at most.
    seed : int
        Of the draws from the prior.

    Returns
    -------
    list of Mode
        The heaviest first. Of a large profile a mode may be missed that no climb ends in.

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
    """Make modes of peaks, without those of next to no mass; the heaviest first."""
    best = max(height for _, height in peaks)
    peaks = [(at, height) for at, height in peaks if height > best - _FARTHEST]
    modes = [Mode(*peak, _widths(density, *peak)) for peak in _different(density, peaks)]
    modes.sort(key=lambda mode: -mode.mass)
    return [mode for mode in modes if mode.mass > modes[0].mass + _LIGHTEST]


def _from_lattice(density: LogDensity, posterior: ExactPosterior) -> list[_Peak]:
    """Climb from every local maximum of the lattice, no farther than to the next lines."""
    lines, logs = posterior.lattice()
    coordinates = posterior.coordinates
    for axis, line in enumerate(lines):  # per unit of PyMC's scale
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
    """Climb to a local maximum; up to a cliff's edge at least, where gradients lead no further."""

    def depth(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = density.with_gradient(at)
        return -value, -gradient

    found = minimize(depth, start, method="TNC", jac=True, bounds=box, options={"maxfun": _CALLS})
    return np.asarray(found.x), -float(found.fun)


def _different(density: LogDensity, peaks: Sequence[_Peak]) -> list[_Peak]:
    """Keep the highest peak of each mode."""
    kept: list[_Peak] = []
    for at, height in sorted(peaks, key=lambda peak: -peak[1]):
        ways = (at + part * (other - at) for other, _ in kept for part in [_BETWEEN[:, None]])
        dips = [height - min(map(density, way)) for way in ways]
        if all(dip > _DIP for dip in dips):
            kept.append((at, height))
    return kept


def _widths(density: LogDensity, at: np.ndarray, height: float) -> np.ndarray:
    """Measure how far along each axis, on average of both sides, it falls by half a nat."""

    def reach(way: np.ndarray) -> float:
        return _reach(lambda far: height - density(at + far * way) < _FALL)

    return np.mean([[reach(axis), reach(-axis)] for axis in np.eye(len(at))], axis=1)


def _reach(near: Callable[[float], bool]) -> float:
    """Find how far it is near, to 2 %: from the mode outwards, or a step leaps to another mode."""
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
    """Draw from one subject's posterior by chains that start beside its modes.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        How long and how carefully; as many modes are started from as there are chains.
    seed : int
        Of modes and chains.
    cores : int
        Chains at a time; the draws do not depend on it.

    Returns
    -------
    Draws
        Chain c starts beside mode c modulo their number, the heaviest being mode 0. It may leave
        while it tunes, by a long step: of two sharp modes, about one chain in fifty did.
    """
    sampler = compile_sampler(battery)
    modes = find_modes(battery, data, options.chains, seed)
    starts = [starting_beside(sampler.on(data), mode) for mode in modes]
    return sample(sampler, data, options, seed, cores, starts)


def starting_beside(model: Any, mode: Mode) -> Start:
    """Make the function from a chain's seed to its start.

    A fifth to half of a width away from the mode along every axis: the gradient there tells the
    sampler how wide the mode is, and at the mode itself nothing. Nearer where the log-density falls
    by more than a nat for each axis, as it does beyond a cliff.
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
    r"""Sample chains again that sit where there is next to no mass; the others stay as they are.

    Far from the data a log-density is flat, and a chain that starts there may find a maximum of the
    prior's own, or hardly move. Chains are looked at when R-hat of their log-densities is above
    1.1. Then the log-density is climbed from the ends of all chains and from the best of 1,000
    draws from the prior. A chain of k profile elements is lost when the mass of where it was,

    .. math:: \operatorname{median} \ell + \frac{k}{2} + \sum_{i=1}^k \log s_i

    with its standard deviations s on PyMC's unbounded scale, is less than 1e-4 of that of the
    heaviest mode found; of a normal density, both are the same (see `Mode.mass`).

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    draws : Draws
        Of all chains.
    options : SamplingOptions
        How they were drawn.
    seed : int
        Of the attempt.
    cores : int
        Chains at a time; the draws do not depend on it.

    Returns
    -------
    Draws
        With chains in place of the lost ones that start beside the heaviest modes; `draws` itself
        where no chain is lost.
    """
    levels = draws.statistics["lp"]
    if len(levels) < 2 or not rhat_ess(levels[None]).rhat[0] > _APART:
        return draws
    sampler = compile_sampler(battery)
    density = LogDensity(sampler.on(data))
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
        [starting_beside(sampler.on(data), mode) for mode in modes[: len(lost)]],
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
