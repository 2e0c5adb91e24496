"""Translation of a joint layout's log-density into terms; outcomes are data of the terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
from .cohort import Cohort, plate_feature
from .density_terms import REWRITES, Translator
from .plated import centred, plated_variable
from .prior import PLACES, profile_variables

_ROW = "item"


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
        Number of levels of each plate, and number of labels of each label dimension.
    """

    latent: Latent
    offset: int
    plates: tuple[int, ...]
    labels: tuple[int, ...]


def joint_density(
    cohort: Cohort,
    centring: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> tuple[LogDensity, np.ndarray, list[Part]]:
    """Translate a joint layout for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; the outcomes are not used.
    centring : mapping of str to ndarray
        By latent, the degree of centring of the values of each level, between 0 and 1, shape
        (levels...); see `plated.centred`. Other latents are centred.

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
        When an operation has no term.
    LayoutError
        When PyMC does not accept a prior.
    """
    layout = cohort.layout
    dims = tuple(layout.dims)
    sizes = {dim: len(labels) for dim, labels in layout.dims.items()}
    levels = {plate_name(plate): cohort.size([plate])[0] for plate in layout.plates}
    single = {plate for plate, count in levels.items() if count == 1}
    translator = Translator(sizes, {plate: plate_feature(plate) for plate in levels}, single)
    values: dict[str, int] = {}
    start, parts = list[np.ndarray](), list[Part]()
    prior = [translator.terms.constant(np.array(0.0))]
    coords = {dim: list(labels) for dim, labels in layout.dims.items()}

    def stand_in(node: Latent | MetaFeature, plates: tuple[Plate, ...], dims: Any) -> Any:
        """Return a variable of a node's values for each level of finer plates."""
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

    def weight_of(name: str, own: tuple[str, ...]) -> Any:
        """Return the variable of a latent's degree of centring; None for a centred latent."""
        if name not in centring:
            return None
        roles = [dim if dim in levels else None for dim in own]
        weight = pt.tensor(dtype="float64", shape=_shape(roles, levels))
        translator.lay(weight, roles, translator.feature_term(centring_feature(name), ()))
        return weight

    def sum_to_zero(name: str, spread: Any, axes: int, own: tuple[str, ...]) -> Any:
        """Write a variable that sums to zero; coordinates at a plate's last level are unused."""
        plates = [dim for dim in own if dim in levels]
        summed = plates[len(plates) - axes :]
        free: Any = 1.0
        masks = {}
        for plate in summed:
            roles = [dim if dim == plate else None for dim in own]
            masks[plate] = pt.tensor(dtype="float64", shape=_shape(roles, levels))
            translator.lay(masks[plate], roles, translator.feature_term(idle_feature(plate), ()))
            free = free * (1 - masks[plate])
        shape, weight = [(levels | sizes)[dim] for dim in own], weight_of(name, own)
        scale = spread * free + (1 - free)
        if weight is None:
            found = pm.Normal(name, 0.0, scale, shape=shape) * free
        else:
            raw = pm.Normal(name, 0.0, pt.exp(weight * pt.log(scale)), shape=shape)
            found = centred(raw, 0.0, scale, weight) * free
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
            known = len(model.free_RVs)
            own_labels = () if isinstance(latent.prior, tuple) else latent.label_dims
            weight = weight_of(latent.name, (*names, *own_labels))
            variable = plated_variable(latent, stand_in, dims, sum_to_zero, weight, levels | sizes)
            for dim in latent.label_dims:
                if (own := f"{dim}{PLACES}") in model and model[own] not in translator.laid:
                    translator.numbers(model[own], np.arange(float(sizes[dim])), (dim,))
            free = model.free_RVs[known:]
            for random in free:
                translator.point(model.rvs_to_values[random], own_labels, names)
            logp = model.logp(vars=free, jacobian=True)
            (value,) = model.replace_rvs_by_values([variable])
            found = translator.run(rewrite_graph([logp, value], include=REWRITES))
            prior.append(found[0])
            values[latent.name] = found[1]
            for random in free:
                value = model.rvs_to_values[random]
                one = 0.0 if latent.name in centring else first[value.name]
                start.append(np.broadcast_to(one, value.type.shape).ravel())
    density = _with_outcome(cohort, translator, values, prior)
    return density, np.concatenate(start), parts


def _with_outcome(
    cohort: Cohort, translator: Translator, values: dict[str, int], prior: list[int]
) -> LogDensity:
    """Translate the probability of success of a row, and collect all terms."""
    layout = cohort.layout
    dims, known = tuple(layout.dims), dict[str, Any]()
    for feature in (*layout.row_features, *layout.covariates, *layout.latents):
        shape = (None, *map(len, feature.dims.values()))
        variable = pt.tensor(feature.name, dtype="float64", shape=shape)
        if feature.name not in values:
            values[feature.name] = translator.feature_term(feature.name, feature.label_dims)
        translator.lay(variable, (_ROW, *feature.label_dims), values[feature.name])
        known[feature.name] = align(variable, feature, dims, per_item=True)
    chance = pt.as_tensor(evaluate(layout.outcome.expression, known, dims))
    (probability,) = translator.run(rewrite_graph([chance], include=REWRITES))
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


def centring_feature(latent: str) -> str:
    """Name the hidden meta-feature whose values are a latent's degrees of centring."""
    return f"{MARK}{latent} {MARK}centring"


def idle_feature(plate: str) -> str:
    """Name the hidden meta-feature that is 1 at the last level of a plate."""
    return f"{MARK}{plate} {MARK}last"
