"""A joint layout's log-density as terms, whatever the outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph import rewrite_graph

from ...layouts import Latent, MetaFeature
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import Plate, determines, plate_name
from ...linking import evaluate
from ..kernel.terms import LogDensity
from .alignment import align
from .cohort import Cohort
from .density_terms import REWRITES, Translator
from .plated import plated_variable
from .prior import PLACES, NonCentred, profile_variables

_ROW = "item"


@dataclass(frozen=True)
class Part:
    """A latent's part of the sampler's point.

    Attributes
    ----------
    latent : Latent
        Whose.
    offset : int
        Where it begins.
    plates, labels : tuple of int
        How many levels and labels there are, of each.
    """

    latent: Latent
    offset: int
    plates: tuple[int, ...]
    labels: tuple[int, ...]


def joint_density(
    cohort: Cohort, deviations: frozenset[str] = frozenset(), given: frozenset[str] = frozenset()
) -> tuple[LogDensity, np.ndarray, list[Part]]:
    """Translate a joint layout for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; its outcomes do not matter.
    deviations : frozenset of str
        Latents sampled as deviations from their location; see `NonCentred`.
    given : frozenset of str
        Latents whose values are parts of the point as they are, without a prior.

    Returns
    -------
    LogDensity
        Its terms; levels of plates are told apart by the hidden meta-features of `plate_feature`.
    ndarray, shape (length,)
        Where PyMC would start the sampler.
    list of Part
        The latents' parts of the point.

    Raises
    ------
    UnsupportedError
        When an operation has no term.
    LayoutError
        When PyMC does not take a prior.
    """
    layout = cohort.layout
    dims = tuple(layout.dims)
    sizes = {dim: len(labels) for dim, labels in layout.dims.items()}
    levels = {plate_name(plate): cohort.size([plate])[0] for plate in layout.plates}
    translator = Translator(sizes, {plate: plate_feature(plate) for plate in levels})
    values: dict[str, int] = {}
    start, parts = list[np.ndarray](), list[Part]()
    prior = [translator.terms.constant(np.array(0.0))]
    coords = {dim: list(labels) for dim, labels in layout.dims.items()}

    def stand_in(node: Latent | MetaFeature, plates: tuple[Plate, ...], dims: Any) -> Any:
        """Make a variable for a node's value at each level of finer plates."""
        own = node.plates if isinstance(node, Latent) else ("subject",)
        axes = [
            plate_name(fine) if any(determines([fine], [coarse]) for coarse in own) else None
            for fine in plates
        ]
        roles = [*axes, *(dim if dim in node.label_dims else None for dim in dims)]
        made = pt.tensor(dtype="float64", shape=_shape(roles, levels | sizes))
        if node.name not in values:
            values[node.name] = translator.feature_term(node.name, node.label_dims)
        translator.lay(made, roles, values[node.name])
        return made

    def sum_to_zero(name: str, spread: Any, axes: int, own: tuple[str, ...]) -> Any:
        """Write a variable that sums to zero as coordinates of which the last of a plate idle."""
        plates = [dim for dim in own if dim in levels]
        summed = plates[len(plates) - axes :]
        free: Any = 1.0
        masks = {}
        for plate in summed:
            roles = [dim if dim == plate else None for dim in own]
            masks[plate] = pt.tensor(dtype="float64", shape=_shape(roles, levels))
            translator.lay(masks[plate], roles, translator.feature_term(idle_feature(plate), ()))
            free = free * (1 - masks[plate])
        moved = {"default_transform": NonCentred()} if name in deviations else {}
        shape = [(levels | sizes)[dim] for dim in own]
        raw = pm.Normal(name, 0.0, spread * free + (1 - free), shape=shape, **moved)
        found = raw * free
        for plate in summed:
            axis, count = own.index(plate), levels[plate]
            total = pt.sum(found, axis=axis, keepdims=True)
            mean = total / (count**0.5 + count)
            found = found + masks[plate] * (mean - total / count**0.5) - mean
        return found

    with pm.Model(coords=coords) as single:
        profile_variables(layout)
    first = single.initial_point()
    with pm.Model() as model:
        for latent in layout.latents:
            names = tuple(map(plate_name, latent.plates))
            counts = tuple(levels[plate] for plate in names)
            labels = tuple(sizes[dim] for dim in latent.label_dims)
            parts.append(Part(latent, translator.length, counts, labels))
            if latent.name in given:
                roles = (*names, *latent.label_dims)
                value = pt.tensor(dtype="float64", shape=_shape(roles, levels | sizes))
                translator.point(value, latent.label_dims, names)
                values[latent.name] = translator.laid[value].content
                start.append(np.zeros(int(np.prod(counts + labels, dtype=int))))
                continue
            known = len(model.free_RVs)
            transform = NonCentred() if latent.name in deviations else None
            variable = plated_variable(
                latent, stand_in, dims, sum_to_zero, transform, levels | sizes
            )
            for dim in latent.label_dims:
                if (own := f"{dim}{PLACES}") in model and model[own] not in translator.laid:
                    translator.numbers(model[own], np.arange(float(sizes[dim])), dim)
            free = model.free_RVs[known:]
            own_labels = () if isinstance(latent.prior, tuple) else latent.label_dims
            for random in free:
                translator.point(model.rvs_to_values[random], own_labels, names)
            logp = model.logp(vars=free, jacobian=True)
            (value,) = model.replace_rvs_by_values([variable])
            found = translator.run(rewrite_graph([logp, value], include=REWRITES))
            prior.append(found[0])
            values[latent.name] = found[1]
            for random in free:
                value = model.rvs_to_values[random]
                one = 0.0 if latent.name in deviations else first[value.name]
                start.append(np.broadcast_to(one, value.type.shape).ravel())
    return _with_outcome(cohort, translator, values, prior), np.concatenate(start), parts


def _with_outcome(
    cohort: Cohort, translator: Translator, values: dict[str, int], prior: list[int]
) -> LogDensity:
    """Translate the probability of success of a row."""
    layout = cohort.layout
    dims, known = tuple(layout.dims), dict[str, Any]()
    for feature in (*layout.row_features, *layout.covariates, *layout.latents):
        shape = (None, *map(len, feature.dims.values()))
        variable = pt.tensor(feature.name, dtype="float64", shape=shape)
        if feature.name not in values:
            values[feature.name] = translator.feature_term(feature.name, feature.label_dims)
        translator.lay(variable, (_ROW, *feature.label_dims), values[feature.name])
        known[feature.name] = align(variable, feature, dims, per_item=True)
    outcome = pt.as_tensor(evaluate(layout.outcome.expression, known, dims))
    (probability,) = translator.run(rewrite_graph([outcome], include=REWRITES))
    terms = translator.terms
    return LogDensity(
        terms,
        terms.compute("add", *prior),
        probability,
        tuple(values[latent.name] for latent in layout.latents),
        translator.length,
    )


def _shape(roles: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(1 if role is None else sizes[role] for role in roles)


def plate_feature(plate: str) -> str:
    """Name the hidden meta-feature that tells the levels of a plate apart."""
    return f"{MARK}{plate}"


def idle_feature(plate: str) -> str:
    """Name the hidden meta-feature that is 1 at the last level of a plate."""
    return f"{MARK}{plate} {MARK}last"
