"""Attempts of subjects at usable items, and the rows of the formula that they depend on."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...evaluations.evaluation import Evaluation
from ...inference.model.alignment import Features
from ...inference.model.cohort import Cohort
from ...layouts import Latent, Layout


@dataclass(frozen=True, eq=False)
class Attempts:
    """Attempts at the outcomes of items.

    Attributes
    ----------
    cohort : Cohort
        Subjects, items and their properties; a cell is an attempt at the first step of an outcome.
    features : dict of str to ndarray
        Values by meta-feature and covariate of subjects, shape (rows,) or (rows, labels). A row is
        an item or, with covariates, an attempted pair of a subject and an item; or a step of it.
    row : ndarray of int, shape (cells,)
        Row of each cell.
    first : ndarray of int, shape (rows,)
        Row of the first step of each row's outcome.
    examples : ndarray of int
        Rows of each item in order or, with covariates, those of one of its pairs.
    """

    cohort: Cohort
    features: Features
    row: np.ndarray
    first: np.ndarray
    examples: np.ndarray

    @classmethod
    def of(cls, layout: Layout, evaluation: Evaluation, items: np.ndarray) -> "Attempts":
        """Read the attempts at some items, given by a mask."""
        step = np.array([1] if layout.steps is None else [n for _, n, _ in layout.steps.rows])
        steps, subjects = len(step), evaluation.subject_table
        cells = evaluation.coded.select(items=np.flatnonzero(np.repeat(items, steps)))
        cells = cells.take(step[cells.item % steps] == 1)
        cohort = replace(
            Cohort.of_tables(layout, evaluation.item_table[items], subjects),
            subject=cells.subject.astype(int),
            row=cells.item.astype(int),
            successes=cells.successes,
            trials=cells.trials,
        )
        features, row, count = cohort.features, cohort.row, int(items.sum())
        examples = np.arange(count * steps)
        if layout.covariates or (layout.joint and layout.constants):
            key = cohort.subject * count + cohort.item
            pairs, pair = np.unique(key, return_inverse=True)
            subject, item = np.divmod(pairs, count)
            of_pairs = (item[:, None] * steps + np.arange(steps)).ravel()
            features = {name: values[of_pairs] for name, values in features.items()}
            failure = {one.name: 1 - evaluation.coded.rates for one in layout.constants}
            for name, values in (cohort.covariates | failure).items():
                features[name] = np.repeat(values[subject], steps, axis=0)
            row, count = pair * steps + row % steps, len(pairs)
            example = np.unique(item, return_index=True)[1]
            examples = (example[:, None] * steps + np.arange(steps)).ravel()
        first = np.arange(count * steps) - np.tile(step - 1, count)
        return cls(cohort, features, row, first, examples)

    def level(self, latent: Latent) -> np.ndarray:
        """Return the level of a latent's plates that each cell belongs to."""
        codes = [self.cohort.codes(plate) for plate in latent.plates]
        sizes = self.cohort.size(latent.plates)
        return np.ravel_multi_index(codes, sizes) if codes else np.zeros(len(self.row), dtype=int)

    def by_level(self, latent: Latent) -> sp.csr_array:
        """Sum the attempts at each row for each level of a latent: (levels, rows)."""
        shape = int(np.prod(self.cohort.size(latent.plates), dtype=int)), len(self.first)
        trials = sp.coo_array((self.cohort.trials, (self.level(latent), self.row)), shape)
        return trials.tocsr()[:, self.first]
