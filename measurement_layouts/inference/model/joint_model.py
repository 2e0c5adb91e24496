"""PyMC model of a joint layout and a cohort."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from ...evaluations.subject_data import EDGE
from ...layouts import Derived, Latent, Node, Success
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name
from ...linking import evaluate
from .alignment import align, lay_out
from .cohort import Cohort, indices
from .derived import keep_derived
from .plated import plated_variable
from .prior import draw_variables


def joint_model(cohort: Cohort, derived: bool = False) -> pm.Model:
    """Build the PyMC model of all subjects.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.
    derived : bool
        Whether derived nodes are variables of the model; see `to_pymc`.

    Returns
    -------
    pymc.Model
        Model whose variables have the names of the nodes. The dimensions are ``subject``, ``item``,
        the categories, the labels, and ``cell`` for the attempted pairs of subject and item.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
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
        found = _variables(cohort, found, derived)
        known = {}
        for node in layout.nodes.values():
            if node.name in found:
                at = tuple(cohort.codes(plate) for plate in layout.plates_of_nodes[node.name])
                value = found[node.name][at] if at else found[node.name]
                known[node.name] = align(value, node, dims, per_item=bool(at))
            elif derived and isinstance(node, Derived) and not isinstance(node, Success):
                kept = keep_derived(node, known, {"cell": len(cohort.trials)}, dims)
                known[node.name] = align(kept, node, dims, per_item=True)
        trials = pm.Data(f"{layout.outcome.name}_trials", cohort.trials, dims="cell")
        counts = pm.Data(f"{layout.outcome.name}_successes", cohort.successes, dims="cell")
        bounded = pt.clip(evaluate(layout.outcome.expression, known, dims), EDGE, 1 - EDGE)
        chance = bounded[(slice(None), *[0] * len(dims))] if dims else bounded
        pm.Binomial(layout.outcome.name, n=trials, p=chance, observed=counts, dims="cell")
    return model


def draw_values(cohort: Cohort, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw all latents from their priors, for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and covariates; the outcomes are not used.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (draws, levels..., labels...).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, or a parameter is out of range.
    """
    with pm.Model(coords=_coords(cohort)):
        found = _variables(cohort, {}, derived=False)
    latents = [latent.name for latent in cohort.layout.latents]
    return draw_variables(cohort.layout, {name: found[name] for name in latents}, draws, seed)


def _coords(cohort: Cohort) -> dict[str, Any]:
    return {dim: list(labels) for dim, labels in cohort.layout.labels.items()} | dict(cohort.levels)


def _variables(cohort: Cohort, features: Mapping[str, Any], derived: bool) -> dict[str, Any]:
    """Add covariates, latents and optionally derived nodes to the current model.

    Derived nodes that vary along both subjects and items are left out, because they are computed
    for the attempted cells.
    """
    layout, found = cohort.layout, dict(features)
    dims = tuple(layout.dims)
    for covariate in layout.covariates:
        values, own = cohort.covariates[covariate.name], ("subject", *covariate.label_dims)
        found[covariate.name] = pm.Data(covariate.name, values, dims=own)

    def parent(node: Node, plates: tuple[Plate, ...], dims: tuple[str, ...]) -> Any:
        at = indices(cohort, node, plates)
        return lay_out(found[str(node.name)], node, at, len(plates), dims)

    kept = [
        node.name
        for node in layout.derived
        if derived and not {SUBJECT, ITEM} <= set(layout.plates_of_nodes[node.name])
    ]
    for node in layout.nodes.values():
        plates = layout.plates_of_nodes[node.name]
        if isinstance(node, Latent):
            found[node.name] = plated_variable(node, parent, dims, _zero_sum, kept=kept)
        elif isinstance(node, Derived) and node.name in kept:
            above = layout.graph.predecessors(node.name)
            laid = {name: parent(layout.nodes[name], plates, dims) for name in above}
            sizes = dict(zip(map(plate_name, plates), cohort.size(plates), strict=True))
            found[node.name] = keep_derived(node, laid, sizes, dims)
    return found


def _zero_sum(name: str, spread: Any, axes: int, own: tuple[str, ...]) -> Any:
    """Add a variable that sums to zero along its last plates."""
    return pm.ZeroSumNormal(name, sigma=spread, n_zerosum_axes=axes, dims=own)
