"""Cohort of a joint fit."""

from ...layouts.plates import ITEM, SUBJECT
from ..model.alignment import Features
from ..model.cohort import Cohort
from .posterior import Posterior

_KEPT = 2**23  # log-probabilities of all draws, items and places that are kept: 64 MiB
_TOGETHER = 2**20  # probabilities that are computed together: 8 MiB


def cohort_of(fit: Posterior) -> Cohort:
    """Read the levels and outcomes of a joint fit, and the properties of its subjects and items."""
    constants, layout = fit.constants, fit.layout
    kinds = [category.name for category in layout.categories]
    indexes = fit.posterior.indexes
    cells = fit.coded
    return Cohort(
        layout,
        {name: list(map(str, indexes[name])) for name in (SUBJECT, ITEM, *kinds)},
        {name: constants[name].to_numpy() for name in kinds},
        {node.name: constants[node.name].to_numpy() for node in layout.meta_features},
        covariates_of(fit),
        cells.subject.astype(int),
        cells.item.astype(int),
        cells.successes,
        cells.trials,
    )


def covariates_of(fit: Posterior) -> Features:
    """Covariates of the subjects of a fit."""
    return {node.name: fit.constants[node.name].to_numpy() for node in fit.layout.covariates}
