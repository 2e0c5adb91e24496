"""A joint layout and a cohort as one ordinary PyMC model."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from ...evaluations.evaluation import EDGE
from ...layouts import Latent, MetaFeature
from ...layouts.plates import SUBJECT, Plate
from ...linking import evaluate
from .alignment import align
from .cohort import Cohort
from .derived import keep_derived
from .plated import indices, lay_out, plated_variable
from .prior import draw_variables


def joint_model(cohort: Cohort, derived: bool = False) -> pm.Model:
    """Write the model of all subjects.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.
    derived : bool
        Whether derived nodes are variables of the model, one value per cell.

    Returns
    -------
    pymc.Model
        Variables bear the nodes' names; dimensions are ``subject``, ``item``, the categories, the
        labels, and ``cell`` for what was attempted.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    """
    layout = cohort.layout
    dims = tuple(layout.dims)
    cells = zip(cohort.subject, cohort.item, strict=True)
    who, what = cohort.levels["subject"], cohort.levels["item"]
    each = {"cell": [f"{who[s]}, {what[i]}" for s, i in cells]}
    with pm.Model(coords=_coords(cohort) | each) as model:
        found: dict[str, Any] = {}
        for feature in layout.meta_features:
            values = cohort.features[feature.name]
            found[feature.name] = pm.Data(feature.name, values, dims=("item", *feature.label_dims))
        found |= _latents(cohort)
        known = {}
        nodes: list[Latent | MetaFeature] = [*layout.meta_features, *layout.covariates]
        for node in [*nodes, *layout.latents]:
            at = _levels(cohort, node)
            value = found[node.name][at] if at else found[node.name]
            known[node.name] = align(value, node, dims, per_item=bool(at))
        named: dict[str, Any] = {}
        probability = evaluate(layout.outcome.expression, known, dims, named=named)
        if derived:
            keep_derived(layout, named, ("cell", len(cohort.trials)))
        bounded = pt.clip(probability, EDGE, 1 - EDGE)
        chance = bounded[(slice(None), *[0] * len(dims))] if dims else bounded
        trials = pm.Data(f"{layout.outcome.name}_trials", cohort.trials, dims="cell")
        counts = pm.Data(f"{layout.outcome.name}_successes", cohort.successes, dims="cell")
        pm.Binomial(layout.outcome.name, n=trials, p=chance, observed=counts, dims="cell")
    return model


def draw_values(cohort: Cohort, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw all latents from their priors, given the levels that a cohort has.

    Parameters
    ----------
    cohort : Cohort
        Layout and levels; its outcomes do not matter.
    draws : int
        How many.
    seed : int
        Of the draws.

    Returns
    -------
    dict of str to ndarray
        By latent, shape (draws, levels..., labels...).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, or a parameter is out of range.
    """
    with pm.Model(coords=_coords(cohort)):
        found = _latents(cohort)
    latents = [latent.name for latent in cohort.layout.latents]
    return draw_variables(cohort.layout, {name: found[name] for name in latents}, draws, seed)


def _coords(cohort: Cohort) -> dict[str, Any]:
    return {dim: list(labels) for dim, labels in cohort.layout.labels.items()} | dict(cohort.levels)


def _latents(cohort: Cohort) -> dict[str, Any]:
    """Write covariates and latents as parts of the current model."""
    found: dict[str, Any] = {}
    for covariate in cohort.layout.covariates:
        values, own = cohort.covariates[covariate.name], ("subject", *covariate.label_dims)
        found[covariate.name] = pm.Data(covariate.name, values, dims=own)

    def parent(node: Latent | MetaFeature, plates: tuple[Plate, ...], dims: Any) -> Any:
        at = indices(cohort, node, plates)
        return lay_out(found[str(node.name)], node, at, len(plates), dims)

    for latent in cohort.layout.latents:
        found[latent.name] = plated_variable(latent, parent, tuple(cohort.layout.dims), _zero_sum)
    return found


def _levels(cohort: Cohort, node: Latent | MetaFeature) -> tuple[np.ndarray, ...]:
    """Levels of each cell on a node's plates."""
    if isinstance(node, Latent):
        return tuple(cohort.codes(plate) for plate in node.plates)
    return (cohort.subject if node.per == SUBJECT else cohort.item,)


def _zero_sum(name: str, spread: Any, axes: int, own: tuple[str, ...]) -> Any:
    """Write a variable that sums to zero along its last plates."""
    return pm.ZeroSumNormal(name, sigma=spread, n_zerosum_axes=axes, dims=own)
