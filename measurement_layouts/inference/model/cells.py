"""Values of all nodes by cell of a cohort, and what is computed from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...layouts import Layout, Node
from ...linking import evaluate
from .alignment import align
from .cohort import Cohort


def cell_chances(cohort: Cohort, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute the success probability of each cell of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Cells, and levels.
    values : mapping of str to ndarray
        By latent, shape (plates..., labels...).

    Returns
    -------
    ndarray, shape (cells,)
        Success probabilities, in [0, 1].
    """
    found = evaluate_cells(cohort, laid_out(cohort, values))
    return np.broadcast_to(found, len(cohort.subject))


def laid_out(
    cohort: Cohort, values: Mapping[str, np.ndarray], draws: bool = False
) -> dict[str, np.ndarray]:
    """Arrange the values of all nodes by cell, for `evaluate_cells`.

    Parameters
    ----------
    cohort : Cohort
        Cells, and levels.
    values : mapping of str to ndarray
        By latent, shape (plates..., labels...).
    draws : bool
        Whether the values, and so the results, have draws as their first axis.

    Returns
    -------
    dict of str to ndarray
        By meta-feature, covariate and latent: shape (cells or 1, *label dimensions).
    """
    layout = cohort.layout
    return features_by_cell(cohort, draws) | {
        latent.name: by_cell(
            layout, latent, values[latent.name], tuple(map(cohort.codes, latent.plates)), draws
        )
        for latent in layout.latents
    }


def features_by_cell(cohort: Cohort, draws: bool = False) -> dict[str, np.ndarray]:
    """Arrange meta-features and covariates by cell; with an axis of one draw if there are draws."""
    layout = cohort.layout
    nodes = [(node, cohort.features, cohort.item) for node in layout.row_features]
    nodes += [(node, cohort.covariates, cohort.subject) for node in layout.covariates]
    return {
        node.name: by_cell(layout, node, own[node.name][(None,) * draws], (at,), draws)
        for node, own, at in nodes
    }


def by_cell(
    layout: Layout, node: Node, value: np.ndarray, at: tuple[np.ndarray, ...], draws: bool
) -> np.ndarray:
    """Arrange a node's values by cell, given its level on each of its plates in each cell."""
    places: tuple[Any, ...] = (*[slice(None)] * draws, *at)
    dims, leading = tuple(layout.dims), int(draws)
    return np.asarray(align(value[places], node, dims, leading=leading, per_item=bool(at)))


def evaluate_cells(cohort: Cohort, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute success probabilities from values that `laid_out` returned.

    Returns
    -------
    ndarray, shape (cells,) or (draws, cells)
        Success probabilities. An axis along which all values are equal may have length one.
    """
    dims = tuple(cohort.layout.dims)
    found: Any = np.asarray(evaluate(cohort.layout.outcome.expression, known, dims))
    return np.asarray(found[(..., *[0] * len(dims))]) if found.ndim else found[None]
