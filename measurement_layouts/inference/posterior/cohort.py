"""Cohort of a joint fit."""

import numpy as np

from ...evaluations.steps import Rows
from ...layouts.plates import ITEM, SUBJECT
from ..model.alignment import Features
from ..model.cohort import Cohort
from .posterior import Posterior


def cohort_of(fit: Posterior) -> Cohort:
    """Read the levels and outcomes of a joint fit, and the properties of its subjects and items."""
    constants, layout = fit.constants, fit.layout
    indexes = fit.posterior.indexes
    rows = None if layout.steps is None else Rows.read(map(str, constants.indexes[ITEM])).places
    first = slice(None) if rows is None else np.unique(rows, return_index=True)[1]
    levels = (SUBJECT, ITEM, *(category.name for category in layout.categories))
    cells = fit.coded
    return Cohort(
        layout,
        {name: list(map(str, indexes[name])) for name in levels},
        {
            category.name: constants[category.name].to_numpy()[
                first if category.root == ITEM else slice(None)
            ]
            for category in layout.categories
        },
        {node.name: constants[node.name].to_numpy() for node in layout.row_features},
        covariates_of(fit),
        cells.subject.astype(int),
        cells.item.astype(int),
        cells.successes,
        cells.trials,
        rows,
    )


def covariates_of(fit: Posterior) -> Features:
    """Covariates of the subjects of a fit, and their constants."""
    nodes = (*fit.layout.covariates, *fit.layout.constants)
    return {str(node.name): fit.constants[node.name].to_numpy() for node in nodes}
