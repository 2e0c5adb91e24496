"""The log-density of a layout on a cohort, translated from PyMC's formulas into terms.

It is the density that `to_pymc` has; the outcomes are data of the terms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.replace import graph_replace
from pytensor.scalar.basic import autocast_float_as

from ...layouts import Latent, Layout, MetaFeature, Node
from ...layouts.outcomes.steps import MARK
from ...layouts.outcomes.unseen import Numbers
from ...layouts.plates import SUBJECT, Plate, determines, plate_name
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ..kernel.terms import LogDensity
from .alignment import align
from .cohort import Cohort, plate_feature
from .density_terms import ROW, Translator
from .prior import PLACES, Centring, add_latent, profile_variables

type Degrees = Mapping[str, np.ndarray | None]
"""By latent, the degree of centring of the values of each level, shape (levels...); None for 0."""


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


def log_density(
    cohort: Cohort, centring: Degrees = MappingProxyType({})
) -> tuple[LogDensity, np.ndarray, list[Part]]:
    """Translate the log-density of a layout for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; the outcomes are not used. For a subject that is fitted alone, the terms
        are the same whatever the items and the subject.
    centring : mapping of str to ndarray or None
        Degrees of centring; see `Centring`. Other latents are centred.

    Returns
    -------
    LogDensity
        The terms of the log-density. The levels of plates are the values of the hidden
        meta-features of `plate_feature`.
    ndarray, shape (length,)
        The point at which PyMC would start the sampler.
    list of Part
        Parts of the point, by latent.

    Raises
    ------
    UnsupportedError
        When an operation has no term; the model must then be compiled by PyMC.
    LayoutError
        When PyMC does not accept a prior.
    """
    layout = cohort.layout
    sizes = {dim: len(labels) for dim, labels in layout.dims.items()}
    levels = {plate_name(plate): cohort.size([plate])[0] for plate in plates_of(layout)}
    translation = _Translation(layout, sizes, levels, centring)
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as one_level:
        profile_variables(layout)
    with autocast_float_as("float64"):  # PyTensor takes numbers such as 2.0 in single precision
        start = translation.add_latents(one_level.initial_point())
        probability, *weights = translation.outcome()
    terms = translation.translator.terms
    density = LogDensity(
        terms,
        terms.compute("add", *translation.prior),
        probability,
        tuple(translation.values[latent.name] for latent in layout.latents),
        translation.translator.length,
        weights[0] if weights else None,
    )
    return density, start, translation.parts


def plates_of(layout: Layout) -> tuple[Plate, ...]:
    """Return the plates of a layout's latents; none for subjects that are fitted alone."""
    return layout.plates if layout.joint else ()


class _Translation:
    """Terms of a layout: those of one latent after the other, and those of the outcome."""

    def __init__(
        self, layout: Layout, sizes: dict[str, int], levels: dict[str, int], centring: Degrees
    ) -> None:
        single = {plate for plate, count in levels.items() if count == 1}
        self.layout, self.levels, self.centring = layout, levels, centring
        self.lengths, self.dims = levels | sizes, tuple(layout.dims)
        plates = {plate: plate_feature(plate) for plate in levels}
        self.translator = Translator(sizes, plates, single)
        self.values: dict[str, int] = {}
        self.parts: list[Part] = []
        self.prior = [self.translator.terms.constant(np.array(0.0))]

    def add_latents(self, first: Mapping[str, np.ndarray]) -> np.ndarray:
        """Translate the priors; returns the point at which the sampler starts.

        Parameters
        ----------
        first : mapping of str to ndarray
            Starting values of centred latents; those of others are 0.
        """
        translator, start = self.translator, list[np.ndarray]()
        with pm.Model() as model:
            for latent in self.layout.latents:
                plates = latent.plates if self.layout.joint else ()
                names = tuple(map(plate_name, plates))
                counts = tuple(self.levels[plate] for plate in names)
                labels = tuple(map(len, latent.dims.values()))
                self.parts.append(Part(latent, translator.length, counts, labels))
                before = len(model.free_RVs)
                of_labels = () if isinstance(latent.prior, tuple) else latent.label_dims
                variable = add_latent(
                    latent,
                    plates,
                    partial(self._stand_in, plates),
                    self.dims,
                    partial(self._zero_sum, latent),
                    self._transform(latent, (*names, *of_labels)),
                    self.lengths,
                )
                self._add_places(latent, model)
                free = model.free_RVs[before:]
                for random in free:
                    point = model.rvs_to_values[random]
                    translator.point(point, of_labels, names)
                    value = np.broadcast_to(first.get(point.name, 0.0), point.type.shape)
                    start.append(np.ravel(value))
                logp, value = _by_coordinates(model, free, variable)
                prior, self.values[latent.name] = translator.run([logp, value])
                self.prior.append(prior)
        return np.concatenate(start).astype(float)

    def outcome(self) -> list[int]:
        """Translate a row's probability of success, and the weights of what is unseen."""
        layout, by_node = self.layout, dict[str, Any]()
        constants = layout.constants
        nodes: list[Latent | MetaFeature] = [*layout.row_features, *layout.covariates]
        for node in (*nodes, *layout.latents):
            shape = (None, *map(len, node.dims.values()))
            variable = pt.tensor(node.name, dtype="float64", shape=shape)
            self.translator.place(variable, (ROW, *node.label_dims), self._term(node))
            by_node[node.name] = align(variable, node, self.dims, per_item=True)
        for constant in constants:
            if layout.joint:
                variable = pt.tensor(constant.name, dtype="float64", shape=(None,))
                term = self.translator.feature(constant.name)
                self.translator.place(variable, (ROW,), term)
                by_node[constant.name] = variable[(slice(None), *[None] * len(self.dims))]
            else:
                by_node[constant.name] = pt.dscalar(constant.name)
                self.translator.number(by_node[constant.name], constant.name)
        for numbers in ancestry(layout.outcome):
            if isinstance(numbers, Numbers) and numbers.dims:
                by_node[numbers.name] = self._numbers(numbers)
        unseen = layout.outcome.unseen
        formulas = [layout.outcome.expression, *([] if unseen is None else [unseen.weights])]
        computed = [pt.as_tensor(evaluate(formula, by_node, self.dims)) for formula in formulas]
        return self.translator.run(computed)

    def _term(self, node: Latent | MetaFeature) -> int:
        """Return the place of a node's values."""
        if node.name not in self.values:
            self.values[node.name] = self.translator.feature(node.name, node.label_dims)
        return self.values[node.name]

    def _stand_in(self, plates: tuple[Plate, ...], node: Node) -> Any:
        """Return a variable of a node's values for each level of finer plates."""
        assert isinstance(node, Latent | MetaFeature)  # noqa: S101
        coarser = node.plates if isinstance(node, Latent) else (SUBJECT,)
        axes = [
            plate_name(fine) if any(determines([fine], [coarse]) for coarse in coarser) else None
            for fine in plates
        ]
        roles = [*axes, *(dim if dim in node.label_dims else None for dim in self.dims)]
        return self._variable(roles, self._term(node))

    def _variable(self, roles: list[str | None], term: int) -> Any:
        shape = [1 if role is None else self.lengths[role] for role in roles]
        made = pt.tensor(dtype="float64", shape=shape)
        self.translator.place(made, roles, term)
        return made

    def _transform(self, latent: Latent, named: tuple[str, ...]) -> Centring | None:
        """Return the coordinates of a latent's values; None where it is centred."""
        if latent.name not in self.centring:
            return None
        if self.centring[latent.name] is None:
            return Centring()
        roles = [dim if dim in self.levels else None for dim in named]
        term = self.translator.feature(centring_feature(latent.name))
        return Centring(self._variable(roles, term))

    def _zero_sum(
        self, latent: Latent, name: str, spread: Any, axes: int, named: tuple[str, ...]
    ) -> Any:
        """Write a variable that sums to zero; coordinates at a plate's last level are unused."""
        plates = [dim for dim in named if dim in self.levels]
        summed = plates[len(plates) - axes :]
        free: Any = 1.0
        last = {}
        for plate in summed:
            roles = [dim if dim == plate else None for dim in named]
            last[plate] = self._variable(roles, self.translator.feature(idle_feature(plate)))
            free = free * (1 - last[plate])
        shape = [self.lengths[dim] for dim in named]
        moves = (
            {} if (own := self._transform(latent, named)) is None else {"default_transform": own}
        )
        values = pm.Normal(name, 0.0, spread * free + (1 - free), shape=shape, **moves) * free
        for plate in summed:
            axis, count = named.index(plate), self.levels[plate]
            total = pt.sum(values, axis=axis, keepdims=True)
            mean = total / (count**0.5 + count)
            values = values + last[plate] * (mean - total / count**0.5) - mean
        return values

    def _add_places(self, latent: Latent, model: pm.Model) -> None:
        """Add the positions of labels, by which labels with priors of their own are joined."""
        for dim in latent.label_dims:
            name = f"{dim}{PLACES}"
            if name in model and model[name] not in self.translator.axes:
                self.translator.numbers(model[name], np.arange(float(self.lengths[dim])), (dim,))

    def _numbers(self, part: Numbers) -> Any:
        """Add numbers along dimensions that an outcome uses; returns their aligned variable."""
        shape = tuple(map(len, part.dims.values()))
        numbers = pt.tensor(part.name, dtype="float64", shape=shape)
        self.translator.numbers(numbers, np.reshape(part.values, shape), tuple(part.dims))
        return numbers[tuple(slice(None) if dim in part.dims else None for dim in self.dims)]


def _by_coordinates(model: pm.Model, free: list[Any], variable: Any) -> tuple[Any, Any]:
    """Return the log-density of random variables, and what is computed of them, by coordinates."""
    values, logs = {}, []
    for random in free:
        coordinate, transform = model.rvs_to_values[random], model.rvs_to_transforms[random]
        if transform is None:
            values[random] = coordinate
            logs.append(pt.sum(pm.logp(random, coordinate)))
        else:
            values[random] = transform.backward(coordinate, *random.owner.inputs)
            change = transform.log_jac_det(coordinate, *random.owner.inputs)
            logs.append(pt.sum(pm.logp(random, values[random]) + change))
    return pt.add(*logs) if len(logs) > 1 else logs[0], graph_replace(variable, values)


def centring_feature(latent: str) -> str:
    """Name the hidden meta-feature whose values are a latent's degrees of centring."""
    return f"{MARK}{latent} {MARK}centring"


def idle_feature(plate: str) -> str:
    """Name the hidden meta-feature that is 1 at the last level of a plate."""
    return f"{MARK}{plate} {MARK}last"
