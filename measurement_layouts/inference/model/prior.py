"""Priors: the latents as random variables of a PyMC model, and draws from the prior."""

import functools
import inspect
import io
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import Transform

from ...common.cache import cached, check_pytensor_folder
from ...common.messages import some
from ...layouts import Derived, Latent, Layout, MetaFeature, Node, Prior
from ...layouts.elements import Element
from ...layouts.outcomes.averaging import averaged
from ...layouts.plates import Plate, plate_name
from ...layouts.priors import ZERO_SUM
from ...linking import Expr, LayoutError, evaluate
from ...linking.evaluation import ancestry
from ...linking.expression import Constant
from .alignment import lay_out
from .families import LOCATION_SCALE

_DRAWS = 4000
_SEED = 20231
_OUTCOMES_PER_VALUE = 10
PLACES = (
    "[]"  # suffix of a dimension: data with its labels' positions; names of nodes cannot have it
)


class Centring(Transform):  # type: ignore[misc]
    r"""Transformation of a latent into coordinates that are centred to a degree w.

    .. math:: x = \mu + \sigma^{1 - w} (z - w \mu), \qquad z \sim (w \mu, \sigma^w)

    For w = 1, the coordinate z is the value itself, and for w = 0 its deviation from the location
    :math:`\mu`, in units of the scale :math:`\sigma`. The latent's name, prior and posterior are
    the same for all w; NUTS samples z.

    Parameters
    ----------
    weight : variable, optional
        The degree w of each value (default: 0 for all).

    References
    ----------
    Gorinova, Moore and Hoffman (2020), Automatic reparameterisation of probabilistic programs.
    """

    name = "noncentred"

    def __init__(self, weight: Any = None) -> None:
        self.weight = weight

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return the coordinate of a value."""
        *_, location, scale = inputs
        shift = 0.0 if self.weight is None else self.weight * location
        return (value - location) / self._stretch(scale) + shift

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return the value of a coordinate."""
        *_, location, scale = inputs
        shift = 0.0 if self.weight is None else self.weight * location
        return location + self._stretch(scale) * (value - shift)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the logarithm of the derivative of the value by its coordinate."""
        logs = pt.log(inputs[-1])
        return pt.broadcast_to(
            logs * (1.0 if self.weight is None else 1 - self.weight), value.shape
        )

    def _stretch(self, scale: Any) -> Any:
        return scale if self.weight is None else pt.exp((1 - self.weight) * pt.log(scale))


class LogCentring(Centring):
    r"""Transformation of a positive latent, whose logarithm has the coordinates of `Centring`."""

    name = "lognoncentred"

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return the coordinate of a value."""
        return super().forward(pt.log(value), *inputs)

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return the value of a coordinate."""
        return pt.exp(super().backward(value, *inputs))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the logarithm of the derivative of the value by its coordinate."""
        return super().log_jac_det(value, *inputs) + super().backward(value, *inputs)


def noncentred(
    layout: Layout, outcomes: int, levels: Mapping[str, int] = MappingProxyType({})
) -> frozenset[str]:
    """Name the latents that are sampled as deviations from their location; see `Centring`.

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


type Levels = Callable[[Node, tuple[Plate, ...]], tuple[np.ndarray, ...]]
"""Function that returns a node's levels for each level of finer plates, as `cohort.indices`."""


def profile_variables(layout: Layout, deviations: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Add a layout's latents to the current PyMC model, each with a single, new level.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `noncentred`.

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
    found = add_nodes(layout, values, (), deviations)
    return {name: variable for name, variable in found.items() if name not in values}


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
        Latents that are sampled as deviations from their location; see `Centring`.
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
    found, dims = dict(values), tuple(layout.dims)

    def zero_sum(name: str, spread: Any, axes: int, named: tuple[str, ...]) -> Any:
        if levels is None:
            return pm.Normal(name, 0.0, spread, dims=named or None)
        return pm.ZeroSumNormal(name, sigma=spread, n_zerosum_axes=axes, dims=named)

    def parent(node: Node, plates: tuple[Plate, ...]) -> Any:
        at = () if levels is None else levels(node, plates)
        return lay_out(found[str(node.name)], node, at, len(plates), dims)

    for node in layout.nodes.values():
        plates = () if levels is None else layout.plates_of_nodes[node.name]
        if isinstance(node, Latent):
            of = functools.partial(parent, plates=plates)
            transform = Centring() if node.name in deviations else None
            found[node.name] = add_latent(node, plates, of, dims, zero_sum, transform, kept=kept)
        elif isinstance(node, Derived) and node.name in kept:
            above = [part for part in ancestry(node.expression) if part.name in found]
            known = {part.name: parent(part, plates) for part in above if isinstance(part, Node)}
            counts = {plate_name(plate): sizes[plate_name(plate)] for plate in plates}
            found[node.name] = keep_derived(node, known, counts, dims)
    return found


def add_latent(
    latent: Latent,
    plates: tuple[Plate, ...],
    parent: Callable[[Node], Any],
    dims: tuple[str, ...],
    zero_sum: Callable[..., Any],
    transform: Centring | None = None,
    sizes: Mapping[str, int] | None = None,
    kept: Collection[str] = (),
) -> Any:
    """Add a latent to the current PyMC model: one variable, or one for each label, joined.

    Parameters
    ----------
    latent : Latent
        The latent.
    plates : tuple of Plate
        Axes before the labels.
    parent : callable
        Function that returns the value of a node that the prior depends on, (*plates, *dims).
    dims : tuple of str
        The layout's label dimensions.
    zero_sum : callable
        Function that adds a variable that sums to zero, given its name, its standard deviation, the
        number of plates that it sums over and its dimensions.
    transform : Centring, optional
        Coordinates of values whose scale is a latent.
    sizes : dict of str to int, optional
        Lengths of the dimensions, for a variable of static shape without named dimensions.
    kept : collection of str
        Derived nodes that are variables of the model, whose values `parent` returns.

    Returns
    -------
    variable
        The variable, of shape (*plates, *labels).
    """
    names = tuple(map(plate_name, plates))

    def has_value(part: Expr) -> bool:
        return isinstance(part, Latent | MetaFeature) or part.name in kept

    def add(name: str, prior: Prior, labels: tuple[str, ...]) -> Any:
        known = {
            part.name: parent(part)
            for value in prior.parents
            for part in ancestry(value, stop_at=has_value)
            if isinstance(part, Node) and has_value(part)
        }
        given, named = parameter_values(prior, known, len(plates), labels, dims), (*names, *labels)
        if prior.family == ZERO_SUM:
            return zero_sum(name, given["sigma"], prior.zero_sum_axes, named)
        moves = transform if has_latent_scale(prior) else None
        if moves is not None and prior.family == "LogNormal":
            moves = LogCentring(moves.weight)
        return write_variable(name, prior, given, named, moves, sizes)

    if not isinstance(latent.prior, tuple):
        return add(latent.name, latent.priors[0], latent.label_dims)
    each = zip(latent.labels or (), latent.priors, strict=True)
    values = [add(f"{latent.name}[{label}]", prior, ())[..., None] for label, prior in each]
    joined = _join_labels(values, latent.dim)
    if sizes is not None:
        return joined
    return pm.Deterministic(latent.name, joined, dims=(*names, *latent.label_dims))


def keep_derived(
    node: Derived, known: Mapping[str, Any], plates: Mapping[str, int], dims: tuple[str, ...]
) -> Any:
    """Add a derived node to the current model as a variable of the same name.

    Nodes that use the derived node must be computed from this variable. The model's graph then has
    the arrows of the layout's diagram, and a value that `pymc.do` gives to the node changes the
    outcome.

    Parameters
    ----------
    node : Derived
        The derived node.
    known : mapping of str to tensor
        Values of the nodes that it is computed from, aligned as ``(*plates, *labels)``.
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
    value = pt.as_tensor_variable(evaluate(averaged(node), known, dims))
    shape = [*plates.values(), *(value.shape[len(plates) + at] for at in range(len(dims)))]
    own = (slice(None) if dim in node.label_dims else 0 for dim in dims)
    laid = pt.broadcast_to(value, shape)[(..., *own)]
    return pm.Deterministic(node.name, laid, dims=(*plates, *node.label_dims))


def _join_labels(values: Sequence[Any], dim: str) -> Any:
    """Join values along a label dimension by its positions, because a stack has no named axis."""
    model = pm.modelcontext(None)
    name = f"{dim}{PLACES}"
    places = model[name] if name in model else pm.Data(name, np.arange(len(values)), dims=dim)
    found = values[0]
    for place, value in enumerate(values[1:], start=1):
        found = pt.where(pt.eq(places, place), value, found)
    return found


def outward(model: pm.Model) -> list[Any]:
    """Return the free variables on the unbounded scale on which NUTS samples."""
    transforms = [model.rvs_to_transforms[variable] for variable in model.free_RVs]
    return [
        variable if transform is None else transform.forward(variable, *variable.owner.inputs)
        for variable, transform in zip(model.free_RVs, transforms, strict=True)
    ]


def free_values(layout: Layout, profile: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return profiles by free variable of the model: a latent, or a label with its own prior.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    profile : dict of str to ndarray
        Values by latent, shape (...) or (..., labels).
    """
    return [
        part
        for latent in layout.latents
        for part in (
            np.moveaxis(profile[latent.name], -1, 0)
            if isinstance(latent.prior, tuple)
            else [profile[latent.name]]
        )
    ]


@functools.lru_cache(maxsize=32)
def draw_prior(layout: Layout) -> dict[str, np.ndarray]:
    """Draw profiles from the prior, with which posteriors are compared.

    The draws are cached, and are the same whenever the layout is the same.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (4000,) or (4000, labels). The arrays are read-only.

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, a parameter is out of range, or the draws
        are infinite or all the same.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> draws = draw_prior(layout)["p"]
    >>> draws.shape, bool(abs(draws.mean() - 0.5) < 0.02)
    ((4000,), True)
    """
    versions = [f"{name} {version(name)}" for name in ("numpy", "pymc", "pytensor")]
    key = "\n".join(["prior", layout.fingerprint, str(_DRAWS), str(_SEED), *versions])
    drawn = np.load(io.BytesIO(cached(key, ".npz", lambda: _draw(layout))))
    found = {latent.name: drawn[str(place)] for place, latent in enumerate(layout.latents)}
    for values in found.values():
        values.setflags(write=False)
    return found


def prior_profiles(layout: Layout, choice: Sequence[Element]) -> np.ndarray:
    """Return the draws of `draw_prior` for elements of a profile, shape (4000, elements)."""
    drawn = draw_prior(layout)
    flat = {name: values.reshape(len(values), -1) for name, values in drawn.items()}
    return np.stack([flat[one.latent.name][:, one.label_index] for one in choice], axis=1)


def _draw(layout: Layout) -> bytes:
    """Draw profiles from the prior; returns an archive of arrays by the latents' positions."""
    archive = io.BytesIO()
    drawn = sample_prior(layout, _DRAWS, _SEED).values()
    numbered = {f"{place}": values for place, values in enumerate(drawn)}
    np.savez(archive, **numbered)  # type: ignore[arg-type]
    return archive.getvalue()


def sample_prior(layout: Layout, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw profiles from the prior with a given seed.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    draws : int
        Number of draws; at least 2, so that a prior without spread is detected.
    seed : int
        Seed of the draws.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (draws,) or (draws, labels).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, a parameter is out of range, or the draws
        are infinite or all the same.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> sample_prior(layout, 3, seed=1)["p"].shape
    (3,)
    """
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}):
        variables = profile_variables(layout)
    found = draw_variables(layout, variables, draws, seed)
    for latent in layout.latents:
        values = found[latent.name]
        if not (np.isfinite(values).all() and (np.ptp(values, axis=0) > 0).all()):
            raise LayoutError(
                f"{latent.name}: draws of the prior {some(latent.priors)} are infinite or all the "
                "same; give it a positive, finite width"
            )
    return found


def draw_variables(
    layout: Layout, variables: Mapping[str, Any], draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Draw random variables of a layout together; the first axis is that of the draws.

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from.
    """
    try:  # with NumPy's generators, because Numba's accept parameters out of range
        drawn = pm.draw(
            list(variables.values()), draws=draws, random_seed=seed, mode="FAST_COMPILE"
        )
    except (ValueError, NotImplementedError) as error:
        priors = ", ".join(_stated(latent) for latent in layout.latents)
        raise LayoutError(
            f"layout {layout.name!r}: its priors cannot be drawn from ({error}); give each a "
            f"proper distribution with parameters in their range: {priors}"
        ) from error
    values = [np.asarray(value) if draws > 1 else np.asarray(value)[None] for value in drawn]
    return dict(zip(variables, values, strict=True))


def _stated(latent: Latent) -> str:
    """Format a latent with its prior."""
    return f"{latent.name} ~ {some(latent.priors)}"


def write_variable(
    name: str,
    prior: Prior,
    parameters: Mapping[str, Any],
    dims: tuple[str, ...],
    transform: Transform | None = None,
    sizes: Mapping[str, int] | None = None,
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
    dims : tuple of str
        Dimensions of the variable.
    transform : Transform, optional
        Transformation to the scale on which NUTS samples (default: PyMC's).
    sizes : dict of str to int, optional
        Lengths of the dimensions, for a variable of static shape without named dimensions.

    Raises
    ------
    LayoutError
        When PyMC has no univariate, continuous distribution of that name, or does not accept the
        parameters.
    """
    family: Any = getattr(pm, prior.family, None)
    if not (isinstance(family, type) and hasattr(family, "dist")):
        raise LayoutError(
            f"{name}: PyMC has no distribution {prior.family!r}; give a name from PyMC, such as "
            "'Normal', 'Beta' or 'HalfNormal'"
        )
    if not issubclass(family, pm.Continuous | pm.LogitNormal):
        raise LayoutError(f"{name}: {_not_for_nuts(prior.family)}")
    taken = inspect.signature(family.dist).parameters.values()
    names = [
        part.name for part in taken if part.kind not in (part.VAR_POSITIONAL, part.VAR_KEYWORD)
    ]
    unknown = [parameter for parameter, _ in prior.parameters if parameter not in names]
    if unknown:  # PyMC would ignore them
        raise LayoutError(
            f"{name}: pymc.{prior.family} has no parameter {some(unknown)}; it has "
            f"{some(names, 12) or 'none'}"
        )
    try:
        moved = {} if transform is None else {"default_transform": transform}
        laid: dict[str, Any] = (
            {"dims": dims or None} if sizes is None else {"shape": [sizes[dim] for dim in dims]}
        )
        variable = family(name, **parameters, **moved, **laid)
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise LayoutError(
            f"{name}: PyMC does not accept the prior {prior} ({error}); its parameters are "
            f"{some(names, 12)}, as numbers or other latents"
        ) from error
    if variable.owner.op.ndim_supp:
        raise LayoutError(f"{name}: {_not_for_nuts(prior.family)}")
    return variable


def parameter_values(
    prior: Prior,
    known: Mapping[str, Any],
    plates: int,
    labels: tuple[str, ...],
    dims: tuple[str, ...],
) -> dict[str, Any]:
    """Compute the parameters of a prior, each of shape ``(*plates, *labels)``.

    Parameters
    ----------
    prior : Prior
        Prior with the parameters.
    known : mapping of str to variable
        Values of the nodes that it depends on, of shape ``(*plates, *dims)``.
    plates : int
        Number of plates.
    labels : tuple of str
        Label dimensions of the prior; empty for the prior of one label.
    dims : tuple of str
        The layout's label dimensions.
    """
    absent = [plates + axis for axis, dim in enumerate(dims) if dim not in labels]

    def value(parameter: Expr) -> Any:
        found = evaluate(parameter, known, dims)
        if isinstance(found, int | float):  # as an integer, PyTensor takes it in single precision
            return np.float64(found)
        return pt.squeeze(found, axis=absent) if absent else found

    return {name: value(parameter) for name, parameter in prior.parameters}


def _not_for_nuts(family: str) -> str:
    return (
        f"{family} is not a univariate, continuous distribution, as NUTS requires; choose another "
        "one, such as 'Normal' or 'Beta'"
    )
