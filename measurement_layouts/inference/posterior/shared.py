"""Latents with values per subject in a fit, and latents that subjects share."""

import itertools
from typing import NamedTuple

import numpy as np

from ...common.errors import FitError
from ...layouts import Latent, Layout
from ...layouts.plates import SUBJECT, plate_name
from ..sampling.convergence import ESS_PER_CHAIN, RHAT_LIMIT, RhatEss, by_element, rhat_ess, worst
from .posterior import Posterior


def shared_latents(layout: Layout) -> list[Latent]:
    """List the latents without a value per subject."""
    return [latent for latent in layout.latents if SUBJECT not in latent.plates]


def draws_by_level(fit: Posterior, latent: Latent) -> np.ndarray:
    """Arrange a shared latent's draws by its levels: (levels, labels, chain, draw)."""
    plates = [plate_name(plate) for plate in latent.plates]
    variable = fit.posterior.variables[latent.name]
    values = variable.transpose(*plates, "chain", "draw", *latent.label_dims).to_numpy()
    return by_element(values.reshape(-1, *values.shape[len(plates) :]))


def levels_of(fit: Posterior, latent: Latent) -> list[tuple[str, ...]]:
    """Return a shared latent's levels, in the order of `draws_by_level`: a name for each plate."""
    known = fit.posterior.indexes
    return list(itertools.product(*(known[plate_name(plate)].map(str) for plate in latent.plates)))


def own_latents(layout: Layout) -> list[Latent]:
    """List the latents with values per subject: the profile, and those per subject and item."""
    return [latent for latent in layout.latents if SUBJECT in latent.plates]


def own_names(fit: Posterior) -> list[tuple[str, str]]:
    """Return node and label of each value per subject; for a value per task, the task is the label.

    Raises
    ------
    FitError
        When no latent has values per subject.
    """
    found = []
    if not own_latents(fit.layout):
        raise FitError(
            f"layout {fit.layout.name!r} has no value of a subject's own, so there are no profiles "
            "and no diagnostics of subjects; see items() and population(), or give the layout a "
            "node per='subject'"
        )
    for latent in own_latents(fit.layout):
        known = fit.posterior.indexes
        plates = [plate_name(plate) for plate in latent.plates if plate != SUBJECT]
        axes = [known[name].map(str) for name in (*plates, *latent.label_dims)]
        found += [(latent.name, ", ".join(place)) for place in itertools.product(*axes)]
    return found


class Slowest(NamedTuple):
    """Convergence of all values that subjects share.

    Attributes
    ----------
    rhat, ess : float
        Largest R-hat and smallest effective sample size; NaN if one is unknown.
    remark : str
        The values that did not converge; empty if all converged.
    """

    rhat: float
    ess: float
    remark: str


def slowest_shared(fit: Posterior) -> Slowest | None:
    """Assess the convergence of shared values; None if subjects share none."""
    if "shared" not in fit.kept:
        fit.kept["shared"] = _slowest(fit)
    found: Slowest | None = fit.kept["shared"]
    return found


def _slowest(fit: Posterior) -> Slowest | None:
    names, parts = list[str](), list[RhatEss]()
    for latent in shared_latents(fit.layout):
        labels = [label for own in latent.dims.values() for label in own] or [""]
        for level, label in itertools.product(levels_of(fit, latent), labels):
            place = ", ".join([*level, label] if label else level)
            names.append(f"{latent.name}[{place}]" if place else latent.name)
        measured = rhat_ess(draws_by_level(fit, latent))
        parts.append(RhatEss(*(values.ravel() for values in measured)))
    if not parts:
        return None
    every = RhatEss(*map(np.concatenate, zip(*parts, strict=True)))
    rhat, ess = worst(every)
    least = ESS_PER_CHAIN * fit.posterior.sizes["chain"]
    each = np.minimum(every.ess_bulk, every.ess_tail)
    bad = np.flatnonzero(~((every.rhat <= RHAT_LIMIT) & (each >= least)))
    remark = ""
    if len(bad):
        first = bad[np.argsort(np.nan_to_num(each[bad], nan=0.0), kind="stable")][:3]
        told = [f"{names[at]} (R-hat {every.rhat[at]:.3f}, ESS {each[at]:.0f})" for at in first]
        more = [f"{len(bad) - len(first)} more"] if len(bad) > len(first) else []
        remark = f"shared values did not converge: {', '.join([*told, *more])}"
    return Slowest(float(rhat), float(ess), remark)
