"""Ridges of joint layouts: locations of latents that no outcome tells apart."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...common.findings import Finding
from ...inference.model.cohort import Cohort
from ...inference.model.families import LOCATION_SCALE
from ...inference.model.new_levels import parents
from ...layouts.elements import Element

_ROUNDING = 1e-7  # largest eigenvalue of correlated slopes that counts as 0
_WIDE = 0.4  # least share of a ridge in the variance of a mean of levels


class _Location(NamedTuple):
    """Common location of all values of a latent, which outcomes know in a sum only.

    Attributes
    ----------
    element : Element
        The latent, or a label of it.
    name : str
        Name of the latent that is its location, or its own.
    free, chance : float
        Prior standard deviations of its location, and of the mean of its levels about it.
    """

    element: Element
    name: str
    free: float
    chance: float


def about_ridges(
    cohort: Cohort, choice: Sequence[Element], fisher: np.ndarray, prior_sd: np.ndarray
) -> list[Finding]:
    r"""Report latents whose values can all change together without a change of any chance.

    The columns of the Jacobian of all chances by a common change of all values of each latent are
    linearly dependent on a ridge, along which only priors determine the posterior: an eigenvalue of
    their correlations is 0. A ridge is reported if the location of one of the latents is
    estimated, and if it is so long that it matters: :math:`r^2 \ge 0.4 (r^2 + s^2)` with the prior
    standard deviation r along the ridge and that of a mean of the levels, s. Values that sum to
    zero cannot all change together.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels.
    choice : sequence of Element
        All latents and labels.
    fisher : ndarray, shape (elements, elements)
        Products of the Jacobian's columns, summed over rows at draws from the prior.
    prior_sd : ndarray, shape (elements,)
        Standard deviations of a single value.
    """
    summed = [any(p.family == "ZeroSumNormal" for p in one.latent.priors) for one in choice]
    moving = np.flatnonzero((np.diag(fisher) > 0) & ~np.array(summed))
    if not len(moving):
        return []
    size = np.sqrt(np.diag(fisher)[moving])
    values, vectors = np.linalg.eigh(fisher[np.ix_(moving, moving)] / np.outer(size, size))
    ridge = vectors[:, values < _ROUNDING]
    _, group = connected_components(np.abs(ridge @ ridge.T) > _ROUNDING**0.5)
    findings = dict[tuple[str, str], Finding]()  # of labels, the first
    for number in np.flatnonzero(np.bincount(group) > 1):
        together = [_location(cohort, choice, at, prior_sd) for at in moving[group == number]]
        wide, narrow = sorted(together, key=lambda one: -np.hypot(one.free, one.chance))[:2]
        along = narrow.free**2 + narrow.chance**2
        if any(one.free for one in together) and along >= _WIDE * (along + wide.chance**2):
            first, second = (one for one in together if one in (wide, narrow))
            nodes = first.element.latent.name, second.element.latent.name
            findings.setdefault(nodes, _finding(first, second))
    return list(findings.values())


def _location(
    cohort: Cohort, choice: Sequence[Element], at: int, prior_sd: np.ndarray
) -> _Location:
    """Find the location of a latent's values, and how far priors let it move."""
    element = choice[at]
    if not element.latent.plates:
        return _Location(element, element.name, prior_sd[at], 0.0)
    parameter = LOCATION_SCALE.get(element.prior.family, ("mu", ""))[0]
    location = dict(element.prior.parameters).get(parameter)
    above = [] if location is None else parents(location)
    parents_at = [position for position, one in enumerate(choice) if one.latent in above]
    free = float(np.linalg.norm(prior_sd[parents_at]))
    levels = np.prod(cohort.size(element.latent.plates))
    chance = np.sqrt(max(prior_sd[at] ** 2 - free**2, 0) / levels)
    return _Location(
        element, choice[parents_at[0]].name if parents_at else element.name, free, chance
    )


def _finding(first: _Location, second: _Location) -> Finding:
    """Describe the ridge of two latents."""
    effect = second if second.element.latent.plates else first
    remedy = f"let {effect.element.name} sum to zero, as in Prior('ZeroSumNormal', sigma=...)"
    if effect.element.latent.is_profile:
        remedy = f"give {second.name} a number instead"
    text = (
        f"{first.name} and {second.name}: no outcome tells them apart, because a change of every "
        f"{first.element.name} can be cancelled by a change of every {second.element.name}; only "
        "their priors determine them"
    )
    where = f"{first.element.name} and {second.element.name}"
    return Finding(where, "ridge", text, remedy)
