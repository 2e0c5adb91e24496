"""Attempts of subjects at usable items, and the rows of the formula that they depend on."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import rows_per_item
from ...inference.model.alignment import Features
from ...inference.model.cohort import Cohort
from ...layouts import Latent, Layout


@dataclass(frozen=True, eq=False)
class Attempts:
    """Attempts at items, each with all steps of its outcome.

    Attributes
    ----------
    cohort : Cohort
        Cells of the attempts, also those of steps that were not reached.
    features : dict of str to ndarray
        Values by meta-feature and covariate of subjects, shape (rows,) or (rows, labels). A row is
        an item or, with covariates, an attempted pair of a subject and an item; or a step of it.
    row : ndarray of int, shape (cells,)
        Row of each cell.
    begins : ndarray of int
        Positions of the cells that are the first step of an outcome.
    rows : int
        Number of rows.
    """

    cohort: Cohort
    features: Features
    row: np.ndarray
    begins: np.ndarray
    rows: int

    @classmethod
    def of(cls, layout: Layout, evaluation: Evaluation, items: np.ndarray) -> "Attempts":
        """Read the attempts at some items, given by a mask."""
        steps, cells, rows = rows_per_item(layout), evaluation.coded, evaluation.rows
        tables = evaluation.item_table[items], evaluation.subject_table
        cohort = Cohort.of_tables(layout, *tables)
        cells = cells.select(items=np.flatnonzero(np.repeat(items, steps)))
        first, sizes = np.arange(len(cells)), np.ones(len(cells), dtype=int)
        if rows is not None:
            tops = rows.tops[np.repeat(items, steps)]
            starts = rows.first == np.arange(len(rows.first))
            first = np.flatnonzero(starts[np.repeat(items, steps)][cells.item])
            sizes = tops[cells.item[first]]
        begins = np.cumsum(sizes) - sizes
        subject, row, trials = (
            np.repeat(values[first], sizes).astype(int)
            for values in (cells.subject, cells.item, cells.trials)
        )
        row += np.arange(len(row)) - np.repeat(begins, sizes)
        cohort = replace(cohort, subject=subject, row=row, successes=0 * row, trials=trials)
        if not (layout.covariates or (layout.joint and layout.constants)):
            return cls(cohort, cohort.features, row, begins, steps * len(tables[0]))
        key = subject * len(tables[0]) + cohort.item
        pairs, pair = np.unique(key, return_inverse=True)
        who, which = np.divmod(pairs, len(tables[0]))
        rows_of_pairs = (which[:, None] * steps + np.arange(steps)).ravel()
        features = {name: values[rows_of_pairs] for name, values in cohort.features.items()}
        of_subjects = {one.name: 1 - evaluation.coded.rates for one in layout.constants}
        for name, values in (cohort.covariates | of_subjects).items():
            features[name] = np.repeat(values[who], steps, axis=0)
        return cls(cohort, features, pair * steps + row % steps, begins, steps * len(pairs))

    def level(self, latent: Latent) -> np.ndarray:
        """Return the level of a latent's plates that each cell belongs to."""
        codes = [self.cohort.codes(plate) for plate in latent.plates]
        if not codes:
            return np.zeros(len(self.row), dtype=int)
        return np.asarray(np.ravel_multi_index(codes, self.cohort.size(latent.plates)))

    def by_level(self, latent: Latent) -> sp.csr_array:
        """Sum the trials on each row for each level of a latent: (levels, rows)."""
        shape = int(np.prod(self.cohort.size(latent.plates), dtype=int)), self.rows
        return sp.coo_array((self.cohort.trials, (self.level(latent), self.row)), shape).tocsr()
