"""Negative control: a method under which each subject's outcomes are shuffled among its items."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from .assessor import Assessor, predicted


@dataclass(frozen=True)
class Shuffled:
    """Predictions by a method for which each subject's outcomes are shuffled among its items.

    Outcomes are shuffled within each subject, held-out ones together with training ones, so that a
    subject keeps its outcomes of either kind, but they no longer depend on the items. A layout that
    has found something is ahead of ``"aggregate"``, the mean of each subject, and the same layout
    is not when outcomes are shuffled. Where it still is, the gain is not one of the items'
    properties: a population that draws the means of subjects together may cause it.

    Parameters
    ----------
    method : Assessor
        Method to train, such as a `FittedLayout` or an `Estimator`.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.estimators import Estimator
    >>> items = pd.DataFrame({"size": np.arange(400.0)})
    >>> solved = pd.DataFrame([items["size"] < 200], ["Ann"]).astype(float)
    >>> solved[7] = np.nan
    >>> training = Evaluation.from_wide(solved, items)
    >>> asked = pd.DataFrame({"subject": ["Ann"], "item": ["7"]})
    >>> method = Estimator("logistic", ["size"])
    >>> [one.predict(training, asked, seed=1).round(1).item() for one in (method, Shuffled(method))]
    [1.0, 0.5]
    """

    method: Assessor

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success, as an `Assessor` does; errors are those of the method."""
        return self.fitted(training, cells, seed=seed)[0]

    def fitted(
        self, training: Evaluation, cells: pd.DataFrame, *, seed: int
    ) -> tuple[np.ndarray, pd.DataFrame | None]:
        """Predict success, and return the diagnostics of a fit, if the method has them."""
        rng = np.random.default_rng([seed, 4])  # a random stream other than that of the folds
        return predicted("shuffled", self.method, *shuffled(training, cells, rng), seed)


def shuffled(
    training: Evaluation, cells: pd.DataFrame, rng: np.random.Generator
) -> tuple[Evaluation, pd.DataFrame]:
    """Permute each subject's items, in training outcomes and in cells to predict.

    An outcome moves with all its trials and steps; several outcomes of an item are permuted apart.

    Examples
    --------
    >>> outcomes = pd.DataFrame([[1, 1, 0, None], [0, 0, None, 1]], ["Ann", "Bob"], list("abcd"))
    >>> training = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> cells = pd.DataFrame({"subject": ["Ann", "Bob"], "item": ["d", "c"]})
    >>> moved, asked = shuffled(training, cells, np.random.default_rng(3))
    >>> moved.successes.sum(axis=1).tolist(), asked["item"].tolist()
    ([2, 1], ['c', 'b'])
    """
    people, items, coded, rows = (
        training.subject_table,
        training.items,
        training.coded,
        training.rows,
    )
    subject = np.append(coded.subject, people.index.get_indexer(pd.Index(cells["subject"])))
    row = np.append(coded.item, items.index.get_indexer(pd.Index(cells["item"])))
    first, outcome = row, np.zeros_like(row)  # row of the first step, and number of the outcome
    if rows is not None:
        first, outcome = rows.first[row], pd.factorize(rows.outcome)[0][row]
    attempts = np.stack([subject, outcome, first])
    attempts, number = np.unique(attempts, axis=1, return_inverse=True)
    order = np.lexsort((rng.random(attempts.shape[1]), *attempts[1::-1]))  # within each subject
    row = attempts[2, order][number] + row - first
    learnt = len(coded)
    counts = coded.successes, coded.trials
    moved = Cells.of(coded.subject, row[:learnt], *counts, shape=coded.shape)
    evaluation = Evaluation.of_cells(items, people.index, moved, subjects=people)
    return evaluation, cells.assign(item=items.index[row[learnt:]])
