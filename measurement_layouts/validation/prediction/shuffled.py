"""Negative control: a method that learns from outcomes shuffled among items within each subject."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from .assessor import Assessor, predicted


@dataclass(frozen=True)
class Shuffled:
    """Predictions by a method whose training outcomes are shuffled within each subject.

    Each subject keeps its success rate and the items that it attempted, but outcomes no longer
    depend on the items. What a layout gains over ``"aggregate"`` it should lose here: if the
    shuffled layout is ahead of the aggregate as well, the gain is none of the items' properties.

    Parameters
    ----------
    method : Assessor
        Method to train, such as a `FittedLayout` or an `Estimator`.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.estimators import Estimator
    >>> items = pd.DataFrame({"size": np.arange(100.0)})
    >>> solved = pd.DataFrame([items["size"] < 50], ["Ann"]).astype(float)
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
        return predicted("shuffled", self.method, shuffled(training, rng), cells, seed)


def shuffled(evaluation: Evaluation, rng: np.random.Generator) -> Evaluation:
    """Shuffle each subject's outcomes among the items that it attempted.

    An outcome moves with all its trials and steps; several outcomes of an item are shuffled apart.

    Examples
    --------
    >>> outcomes = pd.DataFrame([[1, 1, 0, None], [0, 0, None, 1]], ["Ann", "Bob"], list("abcd"))
    >>> evaluation = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> moved = shuffled(evaluation, np.random.default_rng(1))
    >>> moved.successes.sum(axis=1).tolist(), moved.trials.equals(evaluation.trials)
    ([2, 1], True)
    """
    cells, rows, people = evaluation.coded, evaluation.rows, evaluation.subject_table
    first, outcome = cells.item, np.zeros_like(cells.item)  # row of the first step
    if rows is not None:
        first, outcome = rows.first[cells.item], pd.factorize(rows.outcome)[0][cells.item]
    attempts, number = np.unique(
        np.stack([cells.subject, outcome, first]), axis=1, return_inverse=True
    )
    order = np.lexsort((rng.random(attempts.shape[1]), *attempts[1::-1]))
    moved = attempts[2, order][number]
    item = moved + cells.item - first  # at the same step
    cells = Cells.of(cells.subject, item, cells.successes, cells.trials, shape=cells.shape)
    return Evaluation.of_cells(evaluation.items, people.index, cells, subjects=people)
