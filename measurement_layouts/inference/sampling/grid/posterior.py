"""One subject's posterior as a density to integrate, and draws from it."""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....common.cache import Recent
from ....common.errors import FitError
from ....common.messages import some
from ....evaluations.subject_data import EDGE, SubjectData
from ....layouts import Latent, Layout
from ....layouts.elements import elements
from ....linking import Expr, evaluate
from ....linking.evaluation import ancestry
from ....linking.function import Call
from ....linking.interval import UNIT
from ...kernel.inputs import log_ways
from ...model.alignment import Features, align
from ...model.prior import noncentred
from ...model.pymc_model import compile_key
from ..draws import Draws, SamplingOptions
from ..engine import Battery
from ..stopping import stop_if_told
from .lattice import Unconstrained, finite, grow, spaced, start, unconstrained
from .quadrature import Boxes, cubature, draw

_NUMBERS = 2**16  # profiles times items times labels computed at a time, so that they fit the cache


@dataclass(frozen=True)
class Chances:
    """Probabilities of success under a layout on some items.

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

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> chances = Chances(layout, {"smallness": np.array([0.0, 1.0])}, items=2, constants={})
    >>> profile = {"sight": np.array([0.0, 1.0, 2.0])}
    >>> [found.round(2).tolist() for _, found in chances.of(layout.outcome, profile, (3,))]
    [[[0.5, 0.27], [0.73, 0.5], [0.88, 0.73]]]
    >>> chances.changes(profile, (3,)).round(2)
    array([0.23, 0.23])
    """

    layout: Layout
    features: Features
    items: int
    constants: Mapping[str, float]

    def of(
        self, part: Expr, profile: Features, shape: tuple[int, ...]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Compute a part of the layout for blocks of profiles.

        Parameters
        ----------
        part : expression
            The outcome, or an expression that it is computed from.
        profile : dict of str to ndarray
            Values by latent, which broadcast to `shape`, with the labels after it.
        shape : tuple of int
            Shape of the profiles.

        Yields
        ------
        slice
            The profiles of the block, along the first axis.
        ndarray
            Values of shape (*profiles, items, labels, ...), with length one along axes on which
            they do not depend.
        """
        known = dict(self._known)
        labels = math.prod(len(names) for names in self.layout.dims.values())
        step = max(2, _NUMBERS // (self.items * labels * math.prod(shape[1:])))
        dims = tuple(self.layout.dims)
        for first in range(0, shape[0], step):
            some = slice(first, min(first + step, shape[0]))
            for latent in self.layout.latents:
                values = profile[latent.name]
                values = values if len(values) == 1 else values[some]
                known[latent.name] = align(values, latent, dims, leading=len(shape), per_item=False)
            with np.errstate(all="ignore"):  # in the tails of a prior
                yield some, np.asarray(evaluate(part, known, dims))

    def changes(self, profile: Features, shape: tuple[int, ...]) -> np.ndarray:
        """Compute the largest change of a probability from each profile to the next.

        The values of all linking functions between 0 and 1 are compared, including those within
        others, so that the change of a factor is detected even if another factor is 0.

        Parameters
        ----------
        profile, shape
            As in `of`.

        Returns
        -------
        ndarray, shape (profiles - 1,)
            Changes along the first axis, the largest over items, labels and other axes.
        """
        largest = np.zeros(shape[0] - 1)
        for part in self._parts:
            found, before = [], None
            for rows, values in self.of(part, profile, shape):
                values = np.broadcast_to(values, (rows.stop - rows.start, *values.shape[1:]))
                joined = values if before is None else np.concatenate([before, values])
                found.append(np.abs(np.diff(joined, axis=0)).max(axis=tuple(range(1, joined.ndim))))
                before = values[-1:]
            largest = np.fmax(largest, np.concatenate(found))
        return largest

    @cached_property
    def _parts(self) -> list[Expr]:
        """The outcome, and the linking functions in it that are probabilities."""
        outcome = self.layout.outcome.expression
        return [
            part
            for part in ancestry(outcome)
            if part is outcome
            or (
                isinstance(part, Call)
                and part.range in UNIT
                and any(isinstance(node, Latent) for node in ancestry(part))
            )
        ]

    @cached_property
    def _known(self) -> dict[str, object]:
        dims = tuple(self.layout.dims)
        aligned = {
            feature.name: align(self.features[feature.name], feature, dims, per_item=True)
            for feature in self.layout.row_features
        }
        return {**self.constants, **aligned}


_GAPS = {1: (64, 2048), 2: (16, 256)}  # smallest and largest numbers of gaps, by number of axes
_BESIDE = np.array([[-1.0, 0.0, 1.0]])  # values of the other coordinate when one is examined


class ExactPosterior:
    """Unnormalised density of one subject's profile over its `Unconstrained` coordinates.

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
        When PyMC does not accept a prior, or it cannot be drawn from.

    Attributes
    ----------
    coordinates : Unconstrained
        Coordinates of the density.
    ways : float
        Sum of the logarithms of the binomial coefficients.

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
        self.ways = float(log_ways(data.successes, data.trials).sum())
        right, wrong = (np.bincount(shared.kind, counts) for counts in (data.successes, failures))
        tried = np.flatnonzero(right + wrong)
        # kinds of items that are always solved are first, those never solved are last
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
            Coordinates, with one array for each, which are broadcast against each other.

        Returns
        -------
        logs : ndarray
            Log-density in the common shape, without `ways`.
        values : ndarray
            Profile elements, along an additional last axis.
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
        """Compute the log-density on a lattice that contains all of it; see `grow`.

        Raises
        ------
        FitError
            When the density cannot be normalised.
        """
        return grow(self, self._lines, self.coordinates.names, self.coordinates.closed)

    def boxes(self) -> Boxes:
        """Integrate the density.

        Raises
        ------
        FitError
            When the density cannot be normalised, or has too much detail.
        """
        return cubature(self, *start(*self.lattice()))


@dataclass(frozen=True)
class _Shared:
    """Parts that the subjects of a battery share."""

    coordinates: Unconstrained
    features: Features  # of the distinct items
    kind: np.ndarray  # row of each item in these
    lines: list[np.ndarray]  # of the first lattice, by axis


_shared = Recent[object, _Shared](16)  # batteries


def _prepared(battery: Battery) -> _Shared:
    names = [element.name for element in elements(battery.layout)]
    if len(names) > max(_GAPS):
        raise FitError(
            f"layout {battery.layout.name!r} has {len(names)} profile elements ({some(names)}), "
            f"but at most {max(_GAPS)} can be integrated over; use method='nuts'"
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


_GOLDEN = (
    5**0.5 - 1
) / 2  # its multiples, modulo 1, are spread more evenly than those of other numbers


def integrate(battery: Battery, data: SubjectData, options: SamplingOptions, seed: int) -> Draws:
    r"""Draw from one subject's posterior without a Markov chain.

    The posterior of a profile of one or two elements,

    .. math:: p(\theta \mid k) \propto
       p(\theta) \prod_i \mathrm{Binomial}\left(k_i; n_i, P_i(\theta)\right),

    is integrated by adaptive quadrature until the errors of its mass, means and variances are below
    1e-6. The result does not depend on a starting point, and includes distant modes, because the
    density is computed wherever a probability of success changes. Only a change that is reversed
    within 1/2000 of the range can be missed.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        Numbers of draws and chains; other options are ignored.
    seed : int
        Seed of the draws.

    Returns
    -------
    Draws
        Draws that are spread evenly over the posterior and assigned to the chains in random order.
        R-hat is that of independent draws, but the error of the mean is at least ten times smaller.
        The statistics are those of NUTS: ``lp`` is the same log-density, interpolated; no draw
        diverges; ``tree_depth`` is 0; and ``energy``, which is not defined here, is NaN.

    Raises
    ------
    FitError
        When the profile has more than two elements, or the posterior cannot be normalised or has
        too much detail.
    LayoutError
        When PyMC does not accept a prior, or it cannot be drawn from.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> data = SubjectData(successes=np.array([16]), trials=np.array([24]), constants={})
    >>> draws = integrate(Battery(coin, {}, items=1), data, SamplingOptions(), seed=1)
    >>> drawn = draws.posterior["p"]
    >>> drawn.shape, float(drawn.mean().round(4)), round(17 / 26, 4)
    ((4, 1000), 0.6538, 0.6538)
    """
    posterior = ExactPosterior(battery, data)
    boxes = posterior.boxes()
    count = options.chains * options.draws
    rng = np.random.default_rng(seed)
    first = (np.arange(count) + rng.random(count)) / count
    second = (np.arange(count) * _GOLDEN + rng.random()) % 1
    points, logs = draw(boxes, np.stack([first, second][: boxes.axes], axis=1))
    order = rng.permutation(count)
    profile, _, stretch = posterior.coordinates.profile(list(points[order].T))
    shape = (options.chains, options.draws)
    return Draws(
        {name: values.reshape(*shape, *values.shape[1:]) for name, values in profile.items()},
        {
            "diverging": np.zeros(shape, dtype=bool),
            "energy": np.full(shape, np.nan),
            "tree_depth": np.zeros(shape, dtype=np.uint64),
            "lp": (logs[order] - stretch + posterior.ways).reshape(shape),
        },
    )
