"""One forest for all subjects."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .. import scoring
from ..baselines import examples, point_forecast, read_columns, without_outcomes
from ..data import Evaluation
from ..forecasts.forecasting import Forecast
from ..threads import thread_count, warnings_kept
from .quarter import quarter


def universal_forecast(
    training: Evaluation,
    items: Sequence[str],
    columns: Sequence[str],
    sizes: Sequence[int],
    seed: int,
) -> Forecast:
    """Forecast items by one forest, grown on the outcomes of all subjects.

    Parameters
    ----------
    training : Evaluation
        All items; those to be forecast have 0 trials in it.
    items : sequence of str
        What to forecast.
    columns : sequence of str
        Properties; a column of 0 and 1 per subject comes beside them.
    sizes : sequence of int
        Fewest rows that a tree splits; of several, the best on a held-out quarter of the training
        items is taken.
    seed : int
        Of the forest.

    Returns
    -------
    Forecast
        Means; intervals are NaN.

    Raises
    ------
    DataError
        When a property cannot be read, or an item has training outcomes.

    References
    ----------
    General scales paper, appendix 8.5.6 and Table 18.
    """
    names = without_outcomes(training, items, "universal forest")
    values = read_columns(training.items, columns)
    counts = training.successes.to_numpy(), training.trials.to_numpy()
    asked = training.items.index.isin(names)
    size = sizes[0]
    if len(sizes) > 1:
        hidden = quarter(training, seed)
        losses = [_loss(values, counts, hidden, size, seed) for size in sizes]
        size = sizes[int(np.argmin(losses))]
    found = _predictions(values, counts, np.ones(len(values), dtype=bool), asked, size, seed)
    order = training.items.index[asked].get_indexer(pd.Index(names))
    return point_forecast(found[:, order], training.subjects, names)


type _Counts = tuple[np.ndarray, np.ndarray]


def _loss(values: np.ndarray, counts: _Counts, hidden: np.ndarray, size: int, seed: int) -> float:
    """Brier score on what is hidden."""
    found = _predictions(values, counts, ~hidden, hidden, size, seed)
    successes, trials = (table[:, hidden].ravel() for table in counts)
    return scoring.brier(found.ravel(), successes, trials)


def _predictions(
    values: np.ndarray,
    counts: _Counts,
    seen: np.ndarray,
    asked: np.ndarray,
    size: int,
    seed: int,
) -> np.ndarray:
    """Grow a forest on the outcomes on some items; predict others, (subjects, items asked)."""
    from sklearn.ensemble import RandomForestClassifier

    successes, trials = (table[:, seen].ravel() for table in counts)
    subjects = len(counts[0])
    test = _stacked(values[asked], subjects)
    if successes.sum() in (0, trials.sum()):
        return np.full((subjects, asked.sum()), successes.sum() / trials.sum())
    rows, outcomes, weights = examples(_stacked(values[seen], subjects), successes, trials)
    forest = RandomForestClassifier(
        min_samples_split=size, random_state=seed, n_jobs=thread_count()
    )
    with warnings_kept():
        forest.fit(rows, outcomes, sample_weight=weights)
    forest.set_params(n_jobs=1)  # threads would add up the trees in any order
    return np.asarray(forest.predict_proba(test)[:, 1]).reshape(subjects, -1)


def _stacked(values: np.ndarray, subjects: int) -> np.ndarray:
    """Repeat the items' columns for every subject, beside a column of 0 and 1 for each."""
    who = np.repeat(np.eye(subjects), len(values), axis=0)
    return np.column_stack([np.tile(values, (subjects, 1)), who])
