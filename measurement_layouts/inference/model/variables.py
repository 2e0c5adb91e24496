"""Latents and derived nodes as variables of a PyMC model."""

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import transforms

from ...common.cache import check_pytensor_folder
from ...common.messages import some
from ...layouts import Derived, Latent, Layout, Node, Prior
from ...layouts.outcomes.averaging import averaged
from ...layouts.plates import Plate, plate_name
from ...layouts.priors import ZERO_SUM
from ...linking import Expr, LayoutError, evaluate
from ...linking.evaluation import ancestry
from ...linking.expression import Constant
from .alignment import lay_out
from .families import LOCATION_SCALE

_OUTCOMES_PER_VALUE = 10

type Levels = Callable[[Node, tuple[Plate, ...]], tuple[np.ndarray, ...]]
"""Function that returns a node's levels for each level of finer plates, as `cohort.indices`."""


class Deviations(transforms.Transform):  # type: ignore[misc]
    """Transformation of a latent into deviations from its location, in units of its scale.

    The latent's name, prior and posterior are the same without it; NUTS samples the deviations.
    """

    name = "noncentred"

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return the deviation of a value."""
        return (value - inputs[-2]) / inputs[-1]

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return the value of a deviation."""
        return inputs[-2] + inputs[-1] * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the logarithm of the derivative of the value by its deviation."""
        return pt.broadcast_to(pt.log(inputs[-1]), value.shape)


def noncentred(
    layout: Layout, outcomes: int, levels: Mapping[str, int] = MappingProxyType({})
) -> frozenset[str]:
    """Name the latents that are sampled as deviations from their location; see `Deviations`.

    These are the latents whose prior has a location and a scale, of which the scale depends on
    another latent, if there are fewer than 10 outcomes for each of their values. With few outcomes,
    the values and the scale have a funnel-shaped posterior, for which no single step size is
    suitable, whereas the deviations are almost independent of the scale. With many outcomes, the
    values are well determined, and it is the deviations that depend on location and scale.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    outcomes : int
        Number of outcomes; of a subject that is fitted alone, number of items of the battery.
    levels : mapping of str to int, optional
        Number of levels by plate (default: one level of each).

    Returns
    -------
    frozenset of str
        Names of the latents.

    References
    ----------
    Betancourt and Girolami (2015), Hamiltonian Monte Carlo for hierarchical models.

    Examples
    --------
    >>> from measurement_layouts.scenarios.adele import capability_layout
    >>> noncentred(capability_layout(), outcomes=100), noncentred(capability_layout(), 1000)
    (frozenset({'ability'}), frozenset())
    """

    def values(latent: Latent) -> int:
        counts = [levels.get(plate_name(plate), 1) for plate in latent.plates]
        return math.prod([*counts, *map(len, latent.dims.values())])

    return frozenset(
        latent.name
        for latent in layout.latents
        if is_scaled(latent) and outcomes < _OUTCOMES_PER_VALUE * values(latent)
    )


def is_scaled(latent: Latent) -> bool:
    """Return whether values have a location and a scale that depends on a latent."""
    return any(map(has_latent_scale, latent.priors))


def has_latent_scale(prior: Prior) -> bool:
    """Return whether a prior has a location and a scale, and its scale depends on a latent."""
    names = LOCATION_SCALE.get(prior.family)
    return names is not None and any(
        not isinstance(value, Constant)
        for name, value in prior.parameters
        if name not in (names[0], "nu")
    )


def named_priors(latent: Latent) -> list[tuple[str, Prior]]:
    """Return the priors of a latent: its own, or that of each label."""
    if not isinstance(latent.prior, tuple):
        return [(latent.name, latent.priors[0])]
    labels = latent.labels or ()
    return [(f"{latent.name}[{x}]", prior) for x, prior in zip(labels, latent.priors, strict=True)]


def profile_variables(layout: Layout) -> dict[str, Any]:
    """Add a layout's latents to the current PyMC model, each with a single, new level.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.

    Returns
    -------
    dict of str to variable
        Variables by latent, shape () or (labels,).

    Raises
    ------
    LayoutError
        When PyMC has no such family, does not accept its parameters, or its values are integers or
        vectors.
    FitError
        When PyTensor has no folder to compile in.
    """
    check_pytensor_folder()
    values = {
        node.name: np.full([*map(len, node.dims.values())], node.stand_in)
        for node in layout.covariates
    }
    variables = add_nodes(layout, values, (), ())
    return {name: variable for name, variable in variables.items() if name not in values}


def add_nodes(
    layout: Layout,
    values: Mapping[str, Any],
    kept: Collection[str],
    deviations: Collection[str],
    levels: Levels | None = None,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Add latents and derived nodes to the current PyMC model.

    Parameters
    ----------
    layout : Layout
        Layout with the nodes.
    values : mapping of str to array
        Values of the meta-features that they depend on, (levels..., labels...).
    kept : collection of str
        Derived nodes to add.
    deviations : collection of str
        Latents that are sampled as deviations from their location; see `Deviations`.
    levels : callable, optional
        See `Levels`; nodes have an axis for each of their plates. By default, they have none, and
        one level of each plate, which is a new one.
    sizes : mapping of str to int
        Number of levels by plate.

    Returns
    -------
    dict of str to variable
        The given values and the variables, by node.
    """
    by_node, dims = dict(values), tuple(layout.dims)

    def computed(formula: Expr, plates: tuple[Plate, ...]) -> Any:
        """Compute a formula of nodes that have values, of shape (*plates, *dims)."""
        above = {}
        for parent in ancestry(formula, stop_at=lambda parent: parent.name in by_node):
            if isinstance(parent, Node) and parent.name in by_node:
                at = levels(parent, plates) if levels else ()
                above[parent.name] = lay_out(by_node[parent.name], parent, at, len(plates), dims)
        return evaluate(formula, above, dims)

    for node in layout.nodes.values():
        plates = () if levels is None else layout.plates_of_nodes[node.name]
        names = tuple(map(plate_name, plates))
        if isinstance(node, Latent):
            labels = () if isinstance(node.prior, tuple) else node.label_dims
            absent = [len(plates) + axis for axis, dim in enumerate(dims) if dim not in labels]
            variables = []
            for name, prior in named_priors(node):
                values_of = {key: computed(formula, plates) for key, formula in prior.parameters}
                parameters = {key: _without(value, absent) for key, value in values_of.items()}
                moved = node.name in deviations
                variables.append(write_variable(name, prior, parameters, names, labels, moved))
            by_node[node.name] = variables[0]
            if isinstance(node.prior, tuple):
                stacked = pt.stack(variables, axis=-1)
                named = (*names, *node.label_dims)
                by_node[node.name] = pm.Deterministic(node.name, stacked, dims=named)
        elif isinstance(node, Derived) and node.name in kept:
            counts = {name: sizes[name] for name in names}
            value = computed(averaged(node), plates)
            by_node[node.name] = keep_derived(node, value, counts, dims)
    return by_node


def _without(value: Any, axes: Sequence[int]) -> Any:
    """Return a parameter of a prior without the axes of labels that the prior lacks."""
    if isinstance(value, int | float):  # PyTensor would take an integer in single precision
        return np.float64(value)
    return pt.squeeze(value, axis=axes) if axes else value


def keep_derived(
    node: Derived, value: Any, plates: Mapping[str, int], dims: tuple[str, ...]
) -> Any:
    """Add a derived node to the current model as a variable of the same name.

    Nodes that use the derived node must be computed from this variable. The model's graph then has
    the arrows of the layout's diagram, and a value that `pymc.do` gives to the node changes the
    outcome.

    Parameters
    ----------
    node : Derived
        The derived node.
    value : tensor
        Its value, aligned as ``(*plates, *dims)``; see `averaged`.
    plates : mapping of str to int
        Dimensions before the labels, with their lengths; empty if the value is the same for all
        items.
    dims : tuple of str
        The layout's label dimensions.

    Returns
    -------
    variable
        The variable, of shape (plates..., labels), with the labels of the node.
    """
    value = pt.as_tensor_variable(value)
    shape = [*plates.values(), *(value.shape[len(plates) + at] for at in range(len(dims)))]
    labels = (slice(None) if dim in node.label_dims else 0 for dim in dims)
    spread = pt.broadcast_to(value, shape)[(..., *labels)]
    return pm.Deterministic(node.name, spread, dims=(*plates, *node.label_dims))


def write_variable(
    name: str,
    prior: Prior,
    parameters: Mapping[str, Any],
    plates: tuple[str, ...],
    labels: tuple[str, ...],
    deviations: bool = False,
) -> Any:
    """Add a random variable to the current PyMC model.

    Parameters
    ----------
    name : str
        Name of the variable.
    prior : Prior
        Prior with the family.
    parameters : dict of str to array
        Values of the prior's parameters.
    plates, labels : tuple of str
        Dimensions of the variable.
    deviations : bool
        Whether NUTS samples deviations from the location, if the scale depends on a latent.

    Raises
    ------
    LayoutError
        When PyMC has no univariate, continuous distribution of that name, or does not accept the
        parameters.
    """
    dims = (*plates, *labels) or None
    family: Any = getattr(pm, prior.family, None)
    if prior.family == ZERO_SUM:
        if not plates:  # a new level
            return pm.Normal(name, 0.0, parameters["sigma"], dims=dims)
        axes = prior.zero_sum_axes
        return family(name, sigma=parameters["sigma"], n_zerosum_axes=axes, dims=dims)
    if not (isinstance(family, type) and hasattr(family, "dist")):
        raise LayoutError(
            f"{name}: PyMC has no distribution {prior.family!r}; give a name from PyMC, such as "
            "'Normal', 'Beta' or 'HalfNormal'"
        )
    if not issubclass(family, pm.Continuous | pm.LogitNormal):
        raise LayoutError(f"{name}: {_not_for_nuts(prior.family)}")
    accepted = inspect.signature(family.dist).parameters.values()
    names = [one.name for one in accepted if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    unknown = [parameter for parameter, _ in prior.parameters if parameter not in names]
    if unknown:  # PyMC would ignore them
        raise LayoutError(
            f"{name}: pymc.{prior.family} has no parameter {some(unknown)}; it has "
            f"{some(names, 12) or 'none'}"
        )
    try:
        moved = deviations and has_latent_scale(prior)
        options = {"default_transform": _transformation(prior)} if moved else {}
        variable = family(name, **parameters, **options, dims=dims)
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise LayoutError(
            f"{name}: PyMC does not accept the prior {prior} ({error}); its parameters are "
            f"{some(names, 12)}, as numbers or other latents"
        ) from error
    if variable.owner.op.ndim_supp:
        raise LayoutError(f"{name}: {_not_for_nuts(prior.family)}")
    return variable


def _transformation(prior: Prior) -> transforms.Transform:
    """Return the transformation by which NUTS samples deviations; of logarithms for LogNormal."""
    if prior.family != "LogNormal":
        return Deviations()
    both = transforms.Chain([transforms.log, Deviations()])
    both.name = "lognoncentred"
    return both


def _not_for_nuts(family: str) -> str:
    return (
        f"{family} is not a univariate, continuous distribution, as NUTS requires; choose another "
        "one, such as 'Normal' or 'Beta'"
    )
