"""Locations and scales of priors that depend on other latents, computed with NumPy."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...layouts import Latent, Prior
from ...linking import Expr, evaluate
from ...linking.expression import Constant
from ..model.alignment import lay_out, leaves
from ..model.cohort import Cohort, indices
from ..model.families import LOCATION_SCALE

_SCALES = LOCATION_SCALE | {"TruncatedNormal": ("mu", "sigma"), "LogNormal": ("", "")}


class Around(NamedTuple):
    """Location and scale of a prior of a location-scale family.

    Attributes
    ----------
    location, scale : Expr
        Location and scale of the value of one level.
    axes : int
        Number of plates along which values sum to zero.
    """

    location: Expr
    scale: Expr
    axes: int = 0


def around(prior: Prior) -> Around | None:
    """Read the location and scale of a prior; None for other families.

    Examples
    --------
    >>> around(Prior("Normal", mu=0, sigma=2)).scale
    <2>
    >>> around(Prior("Beta", alpha=1, beta=2)) is None
    True
    """
    parameters = dict(prior.parameters)
    if prior.zero_sum_axes:
        return Around(Constant(0), parameters["sigma"], prior.zero_sum_axes)
    location, scale = _SCALES.get(prior.family, ("", ""))
    if location not in parameters or scale not in parameters:
        return None
    return Around(parameters[location], parameters[scale])


def by_label(latent: Latent) -> list[tuple[tuple[int, ...] | None, Prior]]:
    """List a latent's priors with positions of labels: one for all (None), or one per label."""
    if isinstance(latent.prior, tuple):
        return [((place,), prior) for place, prior in enumerate(latent.prior)]
    return [(None, latent.priors[0])]


def parents(expression: Expr) -> list[Latent]:
    """Return the latents that a prior's expression depends on directly."""
    return [part for part in leaves(expression) if isinstance(part, Latent)]


def at_levels(
    cohort: Cohort,
    latent: Latent,
    labels: Sequence[str],
    expression: Expr,
    values: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Compute an expression of a latent's prior for each of its levels.

    Parameters
    ----------
    cohort : Cohort
        Levels, and the subjects' covariates.
    latent : Latent
        The latent with the prior.
    labels : sequence of str
        Label dimensions of the latent; empty for the prior of one label.
    expression : Expr
        A parameter of the prior.
    values : mapping of str to ndarray
        By latent, shape (plates..., labels...).

    Returns
    -------
    ndarray
        Values of the expression, shape (plates..., labels...).
    """
    dims = tuple(cohort.layout.dims)
    known = dict[str, np.ndarray]()
    for part in leaves(expression):
        own = values if isinstance(part, Latent) else cohort.covariates
        at = indices(cohort, part, latent.plates)
        known[part.name] = lay_out(own[part.name], part, at, len(latent.plates), dims)
    found = np.asarray(evaluate(expression, known, dims), dtype=float)
    sizes = [len(cohort.layout.dims[dim]) if dim in labels else 1 for dim in dims]
    whole = np.broadcast_to(found, (*cohort.size(latent.plates), *sizes))
    absent = tuple(len(latent.plates) + at for at, dim in enumerate(dims) if dim not in labels)
    return whole.squeeze(axis=absent)
