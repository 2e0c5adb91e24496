"""The log-density of a layout on a cohort, from formulas of its priors and of its outcome.

It is the density that `to_pymc` has. The latents' coordinates follow each other in the sampler's
point, and the levels of plates are values of hidden meta-features.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm

from ...common.cache import Recent
from ...layouts import Latent, Layout, Prior
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import plate_name
from ...layouts.priors import ZERO_SUM
from ...linking import Expr
from ..kernel.domains import Domains
from ..kernel.emit import Plan
from ..kernel.gradient import gradient
from ..kernel.outcomes import CONSTANT_TERM, Outcomes
from ..kernel.tracing import Traced, column, trace
from ..kernel.values import Space, Value, Values
from .alignment import leaves
from .cohort import Cohort, plate_feature
from .families import value_and_density
from .pymc_model import compile_key
from .variables import has_latent_scale, named_priors, profile_variables

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


@dataclass(frozen=True)
class _Variable:
    """What has a prior: a latent, or a label with a prior of its own.

    Its degree of centring is 1 or 0, or the name of the hidden meta-feature that has it.
    """

    name: str
    prior: Prior
    offset: int
    plates: tuple[str, ...]
    labels: tuple[str, ...]
    degree: float | str

    @property
    def summed(self) -> tuple[str, ...]:
        """Plates over which the values sum to zero."""
        return self.plates[len(self.plates) - self.prior.zero_sum_axes :]


class LogDensity:
    """Formulas of a layout's log-density, for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; the outcomes are not used. For a subject that is fitted alone, the
        formulas are the same whatever the items and the subject.
    centring : mapping of str to ndarray or None, optional
        Degrees of centring; see `families.value_and_density`. Other latents are centred.

    Attributes
    ----------
    parts : list of Part
        Parts of the point, by latent.
    start : ndarray, shape (length,)
        The point at which PyMC would start the sampler.
    used : frozenset of str
        Meta-features on which the outcome depends; in a joint layout, also those on which the prior
        depends. Those of levels and of centring are hidden meta-features.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """

    def __init__(self, cohort: Cohort, centring: Degrees = MappingProxyType({})) -> None:
        self.layout = layout = cohort.layout
        self.sizes = {dim: len(names) for dim, names in layout.dims.items()}
        plates = layout.plates if layout.joint else ()
        self.levels = {plate_name(plate): cohort.size([plate])[0] for plate in plates}
        self.parts: list[Part] = []
        self.variables: dict[str, list[_Variable]] = {}
        first = _starts.find(compile_key(layout), lambda: _first_values(layout))
        starts = [np.zeros(0)]
        for latent in layout.latents:
            names = tuple(map(plate_name, latent.plates)) if layout.joint else ()
            counts = tuple(self.levels[name] for name in names)
            offset, labels = sum(map(len, starts)), tuple(map(len, latent.dims.values()))
            self.parts.append(Part(latent, offset, counts, labels))
            self.variables[latent.name] = []
            of_prior = () if isinstance(latent.prior, tuple) else latent.label_dims
            for name, prior in named_priors(latent):
                degree: float | str = 1.0
                if latent.name in centring and has_latent_scale(prior):
                    fixed = centring[latent.name] is None
                    degree = 0.0 if fixed else centring_feature(latent.name)
                offset = sum(map(len, starts))
                variable = _Variable(name, prior, offset, names, of_prior, degree)
                self.variables[latent.name].append(variable)
                start = first[name] if degree == 1 else np.zeros(first[name].shape)
                starts.append(np.broadcast_to(start, counts + start.shape).ravel())
        self.start = np.concatenate(starts)
        self.used = self._used()

    def _used(self) -> frozenset[str]:
        layout = self.layout
        unseen = layout.outcome.unseen
        formulas = [layout.outcome.expression, *([] if unseen is None else [unseen.weights])]
        names = {str(node.name) for formula in formulas for node in leaves(formula)}
        names -= {latent.name for latent in layout.latents}
        if layout.joint:
            names |= {str(node.name) for node in (*layout.covariates, *layout.constants)}
            names |= self.features(tuple(self.levels))
            for variable in (one for several in self.variables.values() for one in several):
                names |= set(map(idle_feature, variable.summed))
                names |= {variable.degree} if isinstance(variable.degree, str) else set()
        return frozenset(names)

    def features(self, plates: tuple[str, ...]) -> frozenset[str]:
        """Name the hidden meta-features of plates with several levels."""
        return frozenset(plate_feature(plate) for plate in plates if self.levels[plate] > 1)

    def on(self, domains: Domains) -> "Quantities":
        """Compute the quantities of the log-density on the rows of some domains.

        Raises
        ------
        UntraceableError
            When there is no quantity for a formula; the model must then be compiled by PyMC.
        """
        return Quantities(self, Values(domains, self.sizes))


class Quantities:
    """Quantities of a layout: those of one latent after the other, and those of the outcome."""

    def __init__(self, formulas: LogDensity, values: Values) -> None:
        self.formulas, self.layout, self.values = formulas, formulas.layout, values
        self.points: dict[int, Space] = {}
        self.known: dict[str, Any] = {}
        self.prior: list[Value] = []
        self.like = Traced(values, values.zero)
        layout, unseen = self.layout, self.layout.outcome.unseen
        for node in (*layout.row_features, *layout.covariates):
            if node.name in formulas.used:
                self.known[node.name] = column(values, node.name, node.label_dims)
        for constant in layout.constants:
            self.known[constant.name] = (
                column(values, constant.name, ())
                if layout.joint
                else Traced(values, values.leaf("own", constant.name, Space()))
            )
        for latent in layout.latents:
            variables = formulas.variables[latent.name]
            self.known[latent.name], *further = map(self._add, variables)
            positions = np.arange(1.0 + len(further))
            for label, value in enumerate(further, start=1):
                at = values.data(positions == label, Space(None, latent.label_dims))
                self.known[latent.name] = np.where(
                    Traced(values, at) != 0, value, self.known[latent.name]
                )
        self.probability = self._value(layout.outcome.expression)
        self.weights = None if unseen is None else self._value(unseen.weights)

    def plan(self, outcomes: Outcomes) -> Plan:
        """Add the log-probability of outcomes of a form, and the gradient of the log-density."""
        values = self.values
        rows, everything = Space(values.domains.rows), frozenset(values.domains.features)
        counts = [values.leaf("outcome", name, rows, everything) for name in outcomes.names]
        logs = outcomes.log_probability(values, self.probability, self.weights, *counts)
        coefficients = values.leaf("own", CONSTANT_TERM, Space())
        likelihood = values.fold("sum", logs, rows, Space())
        total = values("add", values("add", *self.prior), likelihood, coefficients)
        latents = tuple(self.like.entry(self.known[one.name]) for one in self.layout.latents)
        return Plan(values, outcomes, total, gradient(values, total), latents, self.points)

    def _computed(self, formula: Expr) -> Any:
        return trace(formula, self.known, tuple(self.layout.dims))

    def _value(self, formula: Expr) -> Value:
        return self.like.entry(self._computed(formula))

    def _add(self, variable: _Variable) -> Any:
        """Add a variable's coordinates and their log-density; returns its value."""
        space = self._space(variable.plates, variable.labels)
        self.points[variable.offset] = space
        features = self.formulas.features(variable.plates)
        at = Traced(self.values, self.values.leaf("point", variable.offset, space, features))
        prior, degree = variable.prior, variable.degree
        weight = column(self.values, degree, ()) if isinstance(degree, str) else degree
        parameters = {name: self._computed(formula) for name, formula in prior.parameters}
        if prior.family == ZERO_SUM:
            value, density = self._zero_sum(variable, at, parameters["sigma"], weight)
        else:
            value, density = value_and_density(prior.family, parameters, at, weight)
        total = self._total(self.like.entry(density), variable.plates, ())
        for dim in variable.labels:
            total = self.values.reduce("sum", total, dim)
        self.prior.append(total)
        return value

    def _zero_sum(
        self, variable: _Variable, at: Traced, spread: Any, weight: Any
    ) -> tuple[Any, Any]:
        """Compute values that sum to zero; coordinates at a plate's last level are unused."""
        last = {plate: column(self.values, idle_feature(plate), ()) for plate in variable.summed}
        free = math.prod(1 - is_last for is_last in last.values())
        normal = {"mu": 0.0, "sigma": spread * free + (1 - free)}
        value, density = value_and_density("Normal", normal, at, weight)
        value = value * free
        for plate, is_last in last.items():
            kept = tuple(name for name in variable.plates if name != plate)
            total = self._total(self.like.entry(value), variable.plates, kept)
            count = self.formulas.levels[plate]
            mean = Traced(self.values, total) / (count**0.5 + count)
            value = value + is_last * (mean - Traced(self.values, total) / count**0.5) - mean
        return value, density

    def _space(self, plates: tuple[str, ...], labels: tuple[str, ...]) -> Space:
        return Space(self.values.domains.of(self.formulas.features(plates), ()), labels)

    def _total(self, value: Value, plates: tuple[str, ...], kept: tuple[str, ...]) -> Value:
        """Sum over the levels of plates, except those that are kept."""
        labels = value.space.labels
        through, target = self._space(plates, labels), self._space(kept, labels)
        return self.values.fold("sum", value, through, target, self.formulas.features(kept))


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
