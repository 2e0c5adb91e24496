"""Cohorts of some of the subjects, or of some of the items, of a cohort."""

from dataclasses import replace

import numpy as np

from ...layouts.plates import SUBJECT
from ..model.cohort import Cohort


def selected(cohort: Cohort, plate: str, kept: np.ndarray) -> Cohort:
    """Keep some subjects or items, with their outcomes.

    Parameters
    ----------
    cohort : Cohort
        Levels, cells and outcomes.
    plate : {"subject", "item"}
        Whether subjects or items are selected.
    kept : ndarray of int
        Positions of what is kept, ascending.
    """
    number = np.full(len(cohort.levels[plate]), -1)
    number[kept] = np.arange(len(kept))
    cells = np.flatnonzero(number[cohort.codes(plate)] >= 0)
    roots = {category.name: category.root for category in cohort.layout.categories}
    cohort = replace(
        cohort,
        levels={**cohort.levels, plate: [cohort.levels[plate][place] for place in kept]},
        of={
            name: codes[kept] if roots[name] == plate else codes
            for name, codes in cohort.of.items()
        },
        subject=cohort.subject[cells],
        row=cohort.row[cells],
        successes=cohort.successes[cells],
        trials=cohort.trials[cells],
    )
    if plate == SUBJECT:
        covariates = {name: values[kept] for name, values in cohort.covariates.items()}
        return replace(cohort, covariates=covariates, subject=number[cohort.subject])
    items = cohort.item_of_row
    rows = kept if items is None else np.flatnonzero(number[items] >= 0)
    return replace(
        cohort,
        features={name: values[rows] for name, values in cohort.features.items()},
        row=np.searchsorted(rows, cohort.row),
        item_of_row=None if items is None else number[items[rows]],
    )
