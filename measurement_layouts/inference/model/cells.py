"""Values of all nodes by cell of a cohort, and what is computed from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...evaluations.subject_data import EDGE
from ...layouts import Layout, Node
from ...linking import evaluate
from .alignment import align
from .cohort import Cohort


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
    nodes = [(node, cohort.features, cohort.row) for node in layout.row_features]
    nodes += [(node, cohort.covariates, cohort.subject) for node in layout.covariates]
    values_of = {
        node.name: by_cell(layout, node, arrays[node.name][(None,) * draws], (at,), draws)
        for node, arrays, at in nodes
    }
    for constant in layout.constants:
        values = cohort.covariates[constant.name][cohort.subject]
        values_of[constant.name] = values[(*[None] * draws, ..., *[None] * len(layout.dims))]
    return values_of


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
        Success probabilities, averaged over what is unseen. An axis along which all values are
        equal may have length one.
    """
    outcome, dims = cohort.layout.outcome, tuple(cohort.layout.dims)
    formula = outcome.expression if outcome.unseen is None else outcome
    chances: Any = np.asarray(evaluate(formula, known, dims))
    return np.asarray(chances[(..., *[0] * len(dims))]) if chances.ndim else chances[None]


def bounded(cohort: Cohort, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute success probabilities as `evaluate_cells` does, within the bounds of likelihoods."""
    return evaluate_cells(cohort, known).clip(EDGE, 1 - EDGE)


def chances_given(cohort: Cohort, known: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Compute success probabilities at each place of what is unseen, and the places' weights.

    Returns
    -------
    ndarray, ndarray
        Both of shape (..., cells, places); a single place where nothing is unseen.
    """
    outcome, dims = cohort.layout.outcome, tuple(cohort.layout.dims)
    unseen = outcome.unseen
    if unseen is None:
        chance = evaluate_cells(cohort, known)[..., None]
        return chance, np.ones_like(chance)
    places = (..., *(slice(None) if dim == unseen.dim else 0 for dim in dims))
    values = (np.asarray(evaluate(of, known, dims)) for of in (outcome.expression, unseen.weights))
    chance, weights = np.broadcast_arrays(*values)
    return chance[places], weights[places]


def log_likelihoods(cohort: Cohort, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute the log-probability of each cell's outcomes, without binomial coefficients.

    Parameters
    ----------
    cohort : Cohort
        Cells, levels and outcomes.
    known : mapping of str to ndarray
        Values that `laid_out` returned.

    Returns
    -------
    ndarray, shape (cells,) or (draws, cells)
        Log-probabilities, in nats.
    """
    chance, weights = chances_given(cohort, known)
    chance = chance.clip(EDGE, 1 - EDGE)
    won, lost = cohort.successes[:, None], (cohort.trials - cohort.successes)[:, None]
    each = won * np.log(chance) + lost * np.log1p(-chance)
    if cohort.layout.outcome.unseen is None:
        return np.asarray(each[..., 0])
    return np.asarray(logsumexp(each, axis=-1, b=weights))
