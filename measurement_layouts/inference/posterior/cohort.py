"""Cohort of a joint fit, and what its outcomes say of the levels of measured demands."""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ...evaluations.subject_data import EDGE
from ...layouts.plates import ITEM, SUBJECT
from ...linking import evaluate
from ..model.alignment import Features
from ..model.cells import laid_out, log_chances
from ..model.cohort import Cohort
from .posterior import Posterior, stacked

_KEPT = 2**23  # log-probabilities of all draws, items and places that are kept: 64 MiB
_TOGETHER = 2**20  # probabilities that are computed together: 8 MiB


def cohort_of(fit: Posterior) -> Cohort:
    """Read the levels and outcomes of a joint fit, and the properties of its subjects and items."""
    constants, layout = fit.constants, fit.layout
    kinds = [category.name for category in layout.categories]
    indexes = fit.posterior.indexes
    successes, trials = fit.counts
    subject, item = np.nonzero(trials)
    return Cohort(
        layout,
        {name: list(map(str, indexes[name])) for name in (SUBJECT, ITEM, *kinds)},
        {name: constants[name].to_numpy() for name in kinds},
        {node.name: constants[node.name].to_numpy() for node in layout.meta_features},
        covariates_of(fit),
        subject,
        item,
        successes[subject, item],
        trials[subject, item],
    )


def covariates_of(fit: Posterior) -> Features:
    """Covariates of the subjects of a fit."""
    return {node.name: fit.constants[node.name].to_numpy() for node in fit.layout.covariates}


def log_told(fit: Posterior, items: np.ndarray) -> np.ndarray:
    r"""Compute what all outcomes of a joint fit say of the levels of some items.

    .. math:: \log w_{il} = \log q_{il} + \sum_s \log p(y_{si} \mid l, \theta) + c

    with the probability q of the places l that the annotations give, the outcomes of all subjects,
    and a constant with which the probabilities w of an item add up to 1.

    Parameters
    ----------
    fit : Posterior
        A joint fit of a layout with measured demands.
    items : ndarray of int, shape (items,)
        Positions of the items in the fit.

    Returns
    -------
    ndarray, shape (draws, items, places)
        In nats.
    """
    cohort = cohort_of(fit)
    before = log_chances(fit.layout, cohort.features)
    sizes = fit.posterior.sizes
    if sizes["chain"] * sizes["draw"] * before.size > _KEPT:
        return _computed(fit, cohort, before, items)
    if "told" not in fit.kept:
        fit.kept["told"] = _computed(fit, cohort, before, np.arange(len(before)))
    return np.asarray(fit.kept["told"][:, items])


def _computed(fit: Posterior, cohort: Cohort, before: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Compute `log_told`, given the logarithms of what the annotations say, (items, places)."""
    layout, places = fit.layout, before.shape[1]
    assert layout.shared is not None  # noqa: S101
    draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    values = {one.name: stacked(fit, one, np.arange(draws)) for one in layout.latents}
    found = np.empty((draws, len(items), places))
    dims = tuple(layout.dims)
    for at, item in enumerate(items):
        found[:, at] = before[item]
        cells = np.flatnonzero(cohort.item == item)
        own = replace(cohort, subject=cohort.subject[cells], item=cohort.item[cells])
        hits, lost = cohort.successes[cells], (cohort.trials - cohort.successes)[cells]
        labels = np.prod([len(names) for names in layout.dims.values()], dtype=int)
        step = max(1, _TOGETHER // max(1, len(cells) * int(labels)))
        for start in range(0, draws if len(cells) else 0, step):
            block = slice(start, start + step)
            known = laid_out(own, {name: one[block] for name, one in values.items()}, draws=True)
            each = np.asarray(evaluate(layout.shared.expression, known, dims))
            chance = each.reshape(*each.shape[:2], places).clip(EDGE, 1 - EDGE)
            logs = np.log(chance) * hits[:, None] + np.log1p(-chance) * lost[:, None]
            found[block, at] += np.broadcast_to(logs, (*logs.shape[:1], len(cells), places)).sum(1)
    return np.asarray(found - logsumexp(found, axis=-1, keepdims=True))
