"""Latents with plates as variables of a PyMC model, for the levels of a cohort."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytensor.tensor as pt

from ...layouts import Latent, MetaFeature, Node, Prior
from ...layouts.plates import Plate, plate_name
from ...linking import Expr
from ...linking.evaluation import ancestry
from .prior import add_latent, location_and_scale, parameter_values, write_variable

type Parent = Callable[[Any, tuple[Plate, ...], tuple[str, ...]], Any]
"""Function that returns a node's value, given plates and label dimensions: (*plates, *labels)."""


def plated_variable(
    latent: Latent,
    parent: Parent,
    dims: tuple[str, ...],
    sum_to_zero: Callable[..., Any],
    weight: Any = None,
    sizes: Mapping[str, int] | None = None,
    kept: Collection[str] = (),
) -> Any:
    """Add a latent to the current PyMC model as a random variable.

    Parameters
    ----------
    latent : Latent
        The latent.
    parent : callable
        Function that returns the values that the prior depends on; see `Parent`.
    dims : tuple of str
        The layout's label dimensions.
    sum_to_zero : callable
        Function that adds a variable that sums to zero, given its name, its standard deviation, the
        number of plates that it sums over and its dimensions.
    weight : variable, optional
        Degree of centring of each value; see `centred`. By default, the variable is centred.
    sizes : dict of str to int, optional
        Lengths of the dimensions, for a variable of static shape without named dimensions.
    kept : collection of str
        Derived nodes that are variables of the model, whose values `parent` returns.

    Returns
    -------
    variable
        The variable, of shape (*plates, *labels).
    """
    plates = tuple(map(plate_name, latent.plates))

    def has_value(part: Expr) -> bool:
        return isinstance(part, Latent | MetaFeature) or part.name in kept

    def add(name: str, prior: Prior, labels: tuple[str, ...]) -> Any:
        known = dict[str, Any]()
        for value in prior.parents:
            for part in ancestry(value, stop_at=has_value):
                if has_value(part) and isinstance(part, Node):
                    known[part.name] = parent(part, latent.plates, dims)
        own = (*plates, *labels)
        given = parameter_values(prior, known, len(plates), labels, dims)
        if prior.zero_sum_axes:
            return sum_to_zero(name, given["sigma"], prior.zero_sum_axes, own)
        pair = location_and_scale(prior)
        if weight is None or pair is None:
            return write_variable(name, prior, given, own, sizes=sizes)
        location, scale = given.get(pair[0], 0.0), given[pair[1]]
        given |= {pair[0]: weight * location, pair[1]: pt.exp(weight * pt.log(scale))}
        positive = prior.family == "LogNormal"
        coordinate = Prior("Normal", mu=0, sigma=1) if positive else prior
        raw = write_variable(name, coordinate, given, own, sizes=sizes)
        value = centred(raw, location, scale, weight)
        return pt.exp(value) if positive else value

    return add_latent(latent, add, plates, named=sizes is None)


def centred(coordinate: Any, location: Any, scale: Any, weight: Any) -> Any:
    r"""Transform partly centred coordinates into values.

    .. math:: x = \mu + \sigma^{1 - w} (z - w \mu)

    where the coordinate z has the location :math:`w \mu` and the scale :math:`\sigma^w`. For w = 1,
    z is the value itself, and for w = 0 its deviation from the location, in units of the scale. Of
    a LogNormal, x is the logarithm.

    References
    ----------
    Gorinova, Moore and Hoffman (2020), Automatic reparameterisation of probabilistic programs.
    """
    return location + pt.exp((1 - weight) * pt.log(scale)) * (coordinate - weight * location)
