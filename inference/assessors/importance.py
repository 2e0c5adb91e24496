"""Which properties forests rest on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..baselines import examples, read_columns
from ..data import Evaluation
from ..threads import side_by_side
from .quarter import quarter

_SHUFFLES = 10  # of each column, by all subjects together


def most_important(
    training: Evaluation, columns: Sequence[str], count: int, min_samples_split: int, seed: int
) -> list[str]:
    """Find the columns that forests need most.

    Parameters
    ----------
    training : Evaluation
        Outcomes to learn from.
    columns : sequence of str
        Properties.
    count : int
        How many to find.
    min_samples_split : int
        Of the forests.
    seed : int
        Of the forests and of shuffling.

    Returns
    -------
    list of str
        In the order of `columns`.

    Raises
    ------
    DataError
        When a property cannot be read.

    Notes
    -----
    A subject's forest is grown on three quarters of the items. On the others each column is
    shuffled, and the rise of the Brier score is its importance; it is averaged over subjects, and
    over so many shuffles that there are ten or more in all. Subjects with outcomes of one class, or
    none on either part, do not count.

    References
    ----------
    General scales paper, appendix 8.5.1, by scikit-learn's permutation importance.
    """
    values = read_columns(training.items, columns)
    hidden = quarter(training, seed)
    repeats = -(-_SHUFFLES // len(training.subjects))

    def one(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        learned, held = (
            examples(values[part], successes[part], trials[part]) for part in (~hidden, hidden)
        )
        return _importances(learned, held, min_samples_split, repeats, seed)

    counts = training.successes.to_numpy(), training.trials.to_numpy()
    found = np.mean(side_by_side(one, zip(*counts, strict=True)), axis=0)[: len(columns)]
    chosen = np.sort(np.argsort(-found, kind="stable")[:count])
    return [columns[place] for place in chosen]


type _Examples = tuple[np.ndarray, np.ndarray, np.ndarray]


def _importances(
    learned: _Examples, held: _Examples, size: int, repeats: int, seed: int
) -> np.ndarray:
    """Rises of the Brier score on what was held back, one per column."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.inspection import permutation_importance

    rows, outcomes, weights = learned
    if len(np.unique(outcomes)) < 2 or not len(held[0]):
        return np.zeros(rows.shape[1])
    forest = RandomForestClassifier(min_samples_split=size, random_state=seed)
    forest.fit(rows, outcomes, sample_weight=weights)
    found = permutation_importance(
        forest,
        *held[:2],
        scoring=_closeness,
        n_repeats=repeats,
        random_state=seed,
        sample_weight=held[2],
    )
    return np.asarray(found["importances_mean"])


def _closeness(
    forest: Any, rows: np.ndarray, outcomes: np.ndarray, sample_weight: np.ndarray
) -> float:
    """Minus the Brier score."""
    errors = forest.predict_proba(rows)[:, 1] - outcomes
    return -float(np.average(errors**2, weights=sample_weight))
