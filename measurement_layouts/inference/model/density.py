"""The log-density of a layout on a cohort, from formulas of its priors and of its outcome.

It is the density that `to_pymc` has. The latents' coordinates follow each other in the sampler's
point, and the levels of plates are values of hidden meta-features.
"""

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm

from ...common.cache import Recent
from ...layouts import Latent, Layout, Prior
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import Plate, plate_name
from ...layouts.priors import ZERO_SUM
from ..kernel.domains import Domains
from ..kernel.plan import Density
from ..kernel.tracing import Traced, column, trace
from ..kernel.values import Space, Value, Values
from .alignment import leaves
from .cohort import Cohort, plate_feature
from .families import value_and_density
from .prior import has_latent_scale, profile_variables
from .pymc_model import compile_key

type Degrees = Mapping[str, np.ndarray | None]
"""By latent, the degree of centring of the values of each level, shape (levels...); None for 0."""

_starts = Recent[object, dict[str, np.ndarray]](64)


@dataclass(frozen=True)
class Part:
    """A latent's part of the sampler's point.

    Attributes
    ----------
    latent : Latent
        The latent.
    offset : int
        Position in the point at which the part begins.
    plates, labels : tuple of int
        Number of levels of each plate, and number of labels of each label dimension. A subject that
        is fitted alone is no plate.
    """

    latent: Latent
    offset: int
    plates: tuple[int, ...]
    labels: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return math.prod(self.plates + self.labels)


class LogDensity:
    """Formulas of a layout's log-density, for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; the outcomes are not used. For a subject that is fitted alone, the
        formulas are the same whatever the items and the subject.
    centring : mapping of str to ndarray or None, optional
        Degrees of centring; see `prior.Centring`. Other latents are centred.

    Attributes
    ----------
    parts : list of Part
        Parts of the point, by latent.
    start : ndarray, shape (length,)
        The point at which PyMC would start the sampler.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """

    def __init__(self, cohort: Cohort, centring: Degrees = MappingProxyType({})) -> None:
        layout = cohort.layout
        self.layout, self._centring = layout, centring
        self._sizes = {dim: len(names) for dim, names in layout.dims.items()}
        self._levels = {plate_name(plate): cohort.size([plate])[0] for plate in plates_of(layout)}
        self.parts: list[Part] = []
        end = 0
        for latent in layout.latents:
            counts = tuple(self._levels[name] for name in self._plates(latent))
            labels = tuple(map(len, latent.dims.values()))
            self.parts.append(Part(latent, end, counts, labels))
            end += self.parts[-1].size
        first = _starts.find(compile_key(layout), lambda: _first_values(layout))
        self.start = np.concatenate(
            [self._start(part, prior, first[name]) for part, name, prior in self._variables()]
        )

    def _plates(self, latent: Latent) -> tuple[str, ...]:
        """Name the plates of a latent; none for subjects that are fitted alone."""
        return tuple(map(plate_name, latent.plates)) if self.layout.joint else ()

    def _variables(self) -> Iterator[tuple[Part, str, Prior]]:
        """Yield what has a prior: latents, or labels with priors of their own."""
        for part in self.parts:
            for name, prior in named_priors(part.latent):
                yield part, name, prior

    def _start(self, part: Part, prior: Prior, value: np.ndarray) -> np.ndarray:
        """Return the start of a variable: PyMC's if it is centred, else 0."""
        if part.latent.name in self._centring and has_latent_scale(prior):
            value = np.zeros(value.shape)
        return np.broadcast_to(value, part.plates + value.shape).ravel()

    @functools.cached_property
    def used(self) -> frozenset[str]:
        """Names of meta-features on which the outcome depends; in a joint layout, also the prior.

        Those of levels and of centring are hidden meta-features.
        """
        layout = self.layout
        unseen = layout.outcome.unseen
        formulas = [layout.outcome.expression, *([] if unseen is None else [unseen.weights])]
        names = {node.name for formula in formulas for node in leaves(formula)}
        names -= {latent.name for latent in layout.latents}
        if not layout.joint:
            return frozenset(names)
        names |= {node.name for node in (*layout.covariates, *layout.constants)}
        names |= {plate_feature(plate) for plate, count in self._levels.items() if count > 1}
        for part, _, prior in self._variables():
            names |= set(map(idle_feature, self._summed(part.latent, prior)))
            if self._centring.get(part.latent.name) is not None and has_latent_scale(prior):
                names.add(centring_feature(part.latent.name))
        return frozenset(names)

    def _summed(self, latent: Latent, prior: Prior) -> tuple[str, ...]:
        """Name the plates over which the values sum to zero."""
        plates = self._plates(latent)
        return plates[len(plates) - prior.zero_sum_axes :]

    def on(self, domains: Domains) -> Density:
        """Compute the quantities of the log-density on the rows of some domains.

        Raises
        ------
        UntraceableError
            When there is no quantity for a formula; the model must then be compiled by PyMC.
        """
        return _Quantities(self, Values(domains, self._sizes)).density()


class _Quantities:
    """Quantities of a layout: those of one latent after the other, and those of the outcome."""

    def __init__(self, formulas: LogDensity, values: Values) -> None:
        self.formulas, self.layout, self.values = formulas, formulas.layout, values
        self.dims = tuple(self.layout.dims)
        self.points: dict[int, Space] = {}
        self.known: dict[str, Any] = {}
        self.prior: list[Value] = []
        self.like = Traced(values, values.zero)

    def density(self) -> Density:
        """Compute all quantities."""
        layout = self.layout
        for node in (*layout.row_features, *layout.covariates):
            if node.name in self.values.domains.features:
                self.known[node.name] = column(self.values, node.name, node.label_dims)
        for constant in layout.constants:
            self.known[constant.name] = (
                column(self.values, constant.name, ())
                if layout.joint
                else Traced(self.values, self.values.leaf("own", constant.name, Space()))
            )
        for part in self.formulas.parts:
            self.known[part.latent.name] = self._latent(part)
        unseen = layout.outcome.unseen
        return Density(
            self.values,
            self.values("add", *self.prior),
            self._value(layout.outcome.expression),
            None if unseen is None else self._value(unseen.weights),
            tuple(self.like.entry(self.known[latent.name]) for latent in layout.latents),
            self.points,
            len(self.formulas.start),
        )

    def _value(self, formula: Any) -> Value:
        return self.like.entry(trace(formula, self.known, self.dims))

    def _latent(self, part: Part) -> Any:
        """Add a latent's coordinates and their log-density; returns its value."""
        latent, offset = part.latent, part.offset
        if not isinstance(latent.prior, tuple):
            return self._variable(part, offset, latent.priors[0], latent.label_dims)
        step = math.prod(part.plates)
        each = [
            self._variable(part, offset + label * step, prior, ())
            for label, prior in enumerate(latent.priors)
        ]
        positions = self.values.data(np.arange(float(len(each))), Space(None, latent.label_dims))
        joined = each[0]
        for label, value in enumerate(each[1:], start=1):
            joined = np.where(Traced(self.values, positions) == label, value, joined)
        return joined

    def _variable(self, part: Part, offset: int, prior: Prior, labels: tuple[str, ...]) -> Any:
        plates = self.formulas._plates(part.latent)
        space = self._space(plates, labels)
        point = self.values.leaf("point", offset, space, self._features(plates))
        self.points[offset] = space
        parameters = {
            name: trace(formula, self.known, self.dims) for name, formula in prior.parameters
        }
        compute = self._zero_sum if prior.family == ZERO_SUM else self._independent
        value, density = compute(part, prior, Traced(self.values, point), parameters)
        total = self._total(self.like.entry(density), plates, ())
        for dim in labels:
            total = self.values.reduce("sum", total, dim)
        self.prior.append(total)
        return value

    def _independent(
        self, part: Part, prior: Prior, at: Traced, parameters: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Compute values that are independent given the parameters."""
        return value_and_density(prior.family, parameters, at, self._degree(part.latent, prior))

    def _zero_sum(
        self, part: Part, prior: Prior, at: Traced, parameters: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Compute values that sum to zero; coordinates at a plate's last level are unused."""
        plates, summed = (
            self.formulas._plates(part.latent),
            self.formulas._summed(part.latent, prior),
        )
        last = {plate: column(self.values, idle_feature(plate), ()) for plate in summed}
        free: Any = 1.0
        for at_last in last.values():
            free = free * (1 - at_last)
        normal = {"mu": 0.0, "sigma": parameters["sigma"] * free + (1 - free)}
        value, density = value_and_density("Normal", normal, at, self._degree(part.latent, prior))
        value = value * free
        for plate in summed:
            others = tuple(name for name in plates if name != plate)
            total = Traced(self.values, self._total(self.like.entry(value), plates, others))
            count = self.formulas._levels[plate]
            mean = total / (count**0.5 + count)
            value = value + last[plate] * (mean - total / count**0.5) - mean
        return value, density

    def _degree(self, latent: Latent, prior: Prior) -> Any:
        """Return the degree of centring of a variable."""
        centring = self.formulas._centring
        if latent.name not in centring or not has_latent_scale(prior):
            return 1.0
        if centring[latent.name] is None:
            return 0.0
        return column(self.values, centring_feature(latent.name), ())

    def _features(self, plates: tuple[str, ...]) -> frozenset[str]:
        """Name the hidden meta-features of plates with several levels."""
        levels = self.formulas._levels
        return frozenset(plate_feature(plate) for plate in plates if levels[plate] > 1)

    def _space(self, plates: tuple[str, ...], labels: tuple[str, ...]) -> Space:
        return Space(self.values.domains.of(self._features(plates), ()), labels)

    def _total(self, value: Value, plates: tuple[str, ...], kept: tuple[str, ...]) -> Value:
        """Sum over the levels of plates, except those that are kept."""
        labels = value.space.labels
        through, target = self._space(plates, labels), self._space(kept, labels)
        return self.values.fold("sum", value, through, target, self._features(kept))


def plates_of(layout: Layout) -> tuple[Plate, ...]:
    """Return the plates of a layout's latents; none for subjects that are fitted alone."""
    return layout.plates if layout.joint else ()


def named_priors(latent: Latent) -> list[tuple[str, Prior]]:
    """Return the priors of a latent: of the latent, or of each label with a prior of its own."""
    if not isinstance(latent.prior, tuple):
        return [(latent.name, latent.priors[0])]
    labels = latent.labels or ()
    return [(f"{latent.name}[{x}]", prior) for x, prior in zip(labels, latent.priors, strict=True)]


def _first_values(layout: Layout) -> dict[str, np.ndarray]:
    """Return PyMC's first coordinate of each variable, with a single level of each plate."""
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
        profile_variables(layout)
    point = model.initial_point()
    return {
        variable.name: np.asarray(point[model.rvs_to_values[variable].name], dtype=float)
        for variable in model.free_RVs
    }


def centring_feature(latent: str) -> str:
    """Name the hidden meta-feature whose values are a latent's degrees of centring."""
    return f"{MARK}{latent} {MARK}centring"


def idle_feature(plate: str) -> str:
    """Name the hidden meta-feature that is 1 at the last level of a plate."""
    return f"{MARK}{plate} {MARK}last"
