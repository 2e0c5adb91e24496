"""Random forests on properties of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import FitError
from ...common.threads import side_by_side, thread_count, warnings_kept
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_steps
from ...inference.forecasts.forecasting import Forecast
from . import scoring_rules as scoring
from .assessor import blind_forecast, read_columns, without_outcomes
from .baselines import OnColumns, classifier, examples, per_subject

type Examples = tuple[np.ndarray, np.ndarray, np.ndarray]
type Counts = tuple[np.ndarray, np.ndarray]

_SHUFFLES = 10  # smallest number of shuffles of each column, over all subjects together
_PART = 4  # a quarter of the items is held out for choices


@dataclass(frozen=True)
class Forest(OnColumns):
    """Prediction by scikit-learn's random forest with 100 trees, for each subject.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from. Without any, a subject's mean training success is predicted.
    min_samples_split : int or tuple of int
        Smallest number of items that a tree splits, at least 2. From several numbers, the one with
        the lowest out-of-bag Brier score on the training outcomes is chosen for each subject, where
        each item is predicted by the trees that were grown without it.
    best : int, optional
        Number of columns to use: those whose values, shuffled on a held-out quarter of the training
        items, increase the Brier score most, on average over all subjects (default: all columns).
    universal : bool
        Whether to grow one forest for all subjects together, with a column of 0 and 1 for each
        subject.

    Raises
    ------
    DataError
        When a column is named twice.
    FitError
        When a number is out of range.

    Notes
    -----
    A missing value is replaced by the mean of its column, and a column of 0 and 1 marks such items.
    A subject whose training outcomes are all the same is predicted by their mean. Items with
    several trials have as many times the weight.

    In a universal forest, an item may be out of bag for one subject and in the bag for another. Its
    `min_samples_split` is therefore chosen on a held-out quarter of the training items, and the
    forest is then grown on all of them.

    Shuffling measures the effect of a column given all others, so that columns with the same
    information share their importance. The forests for this choice are grown with the largest
    `min_samples_split`.

    References
    ----------
    General scales paper, section 5.6 (columns, and splits of at least 2, 50 or 200 items), Tables 3
    to 5, 13 (``best=6``, there the same for all folds), 14 to 16 and 18 (``universal``).
    Propensities paper, section 4.4 (splits of at least 50 items).

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=300), "hour": rng.normal(size=300)})
    >>> solved = (items["size"] < 0).where(~items.index.isin([2, 3]))
    >>> training = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> forest = Forest(["size", "hour"], min_samples_split=(2, 200), best=1)
    >>> forest.predict(training, ["2", "3"], seed=1).to_numpy()
    array([[0., 1.]])
    """

    min_samples_split: int | tuple[int, ...] = 50
    best: int | None = None
    universal: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.min_samples_split
        several = tuple(given) if isinstance(given, Sequence) else (given,)
        if not several:
            raise FitError("min_samples_split=(); give at least one whole number, such as 50")
        sizes = tuple(options.whole("min_samples_split", size, 2) for size in several)
        object.__setattr__(self, "min_samples_split", sizes if len(sizes) > 1 else sizes[0])
        if self.best is not None and options.whole("best", self.best, 1) > len(self.columns):
            raise FitError(
                f"best={self.best}, but there are {len(self.columns)} columns; give a smaller "
                "number, or leave out best="
            )

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When a property cannot be read or an item has training outcomes, or when the forest is
            universal or chooses columns and there are several or graded outcomes.
        """
        if self.best is not None or self.universal:
            refuse_steps(training.rows, "a forest with best= or universal=")
        sizes = self.min_samples_split
        sizes = sizes if isinstance(sizes, tuple) else (sizes,)
        columns: Sequence[str] = self.columns
        if self.best is not None:
            columns = most_important(training, columns, self.best, max(sizes), seed)
        if self.universal:
            return _universal_forecast(training, items, columns, sizes, seed)
        model, who = classifier(lambda seed: _Chosen(sizes, seed)), "random forest"
        return per_subject(model, training, items, columns, seed=seed, who=who)


class _Chosen:
    """Classifier that is the forest with the lowest out-of-bag Brier score."""

    def __init__(self, sizes: Sequence[int], seed: int) -> None:
        self.sizes, self.seed = sizes, seed

    def fit(self, rows: np.ndarray, outcomes: np.ndarray, sample_weight: np.ndarray) -> Self:
        from sklearn.ensemble import RandomForestClassifier

        several = len(self.sizes) > 1
        forests = [
            RandomForestClassifier(
                min_samples_split=size, random_state=self.seed, oob_score=several
            ).fit(rows, outcomes, sample_weight=sample_weight)
            for size in self.sizes
        ]

        def loss(forest: Any) -> float:
            errors = forest.oob_decision_function_[:, 1] - outcomes
            return float(np.average(errors**2, weights=sample_weight))

        self.forest = min(forests, key=loss) if several else forests[0]
        return self

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.forest.predict_proba(rows))


def most_important(
    training: Evaluation, columns: Sequence[str], count: int, min_samples_split: int, seed: int
) -> list[str]:
    """Find the columns with the largest permutation importance in forests.

    Parameters
    ----------
    training : Evaluation
        Outcomes to learn from.
    columns : sequence of str
        Properties to choose from.
    count : int
        Number of columns to find.
    min_samples_split : int
        Smallest number of items that a tree of the forests splits.
    seed : int
        Seed of the forests and of shuffling.

    Returns
    -------
    list of str
        The columns found, in the order of `columns`.

    Raises
    ------
    DataError
        When a property cannot be read.

    Notes
    -----
    A subject's forest is grown on three quarters of the items. Each column is shuffled on the
    others, and its importance is the increase of the Brier score, averaged over subjects and over
    at least ten shuffles in total. Subjects whose outcomes are of one class, or are missing on
    either part, have an importance of 0 for all columns.

    References
    ----------
    General scales paper, appendix 8.5.1, by scikit-learn's permutation importance.
    """
    values = read_columns(training.items, columns)
    hidden = _quarter(training, seed)
    repeats = -(-_SHUFFLES // len(training.subjects))

    def one(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
        learned, held = (
            examples(values[part], successes[part], trials[part]) for part in (~hidden, hidden)
        )
        return _importances(learned, held, min_samples_split, repeats, seed)

    counts = training.successes.to_numpy(), training.trials.to_numpy()
    found = np.mean(side_by_side(one, list(zip(*counts, strict=True))), axis=0)[: len(columns)]
    chosen = np.sort(np.argsort(-found, kind="stable")[:count])
    return [columns[place] for place in chosen]


def _importances(
    learned: Examples, held: Examples, size: int, repeats: int, seed: int
) -> np.ndarray:
    """Compute the increase of the Brier score on held-out examples, for each column."""
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
        scoring="neg_brier_score",
        n_repeats=repeats,
        random_state=seed,
        sample_weight=held[2],
    )
    return np.asarray(found["importances_mean"])


def _universal_forecast(
    training: Evaluation,
    items: Sequence[str],
    columns: Sequence[str],
    sizes: Sequence[int],
    seed: int,
) -> Forecast:
    """Forecast items by one forest, grown on the outcomes of all subjects."""
    names = without_outcomes(training, items, "universal forest")
    values = read_columns(training.items, columns)
    counts = training.successes.to_numpy(), training.trials.to_numpy()
    asked = training.items.index.isin(names)
    size = sizes[0]
    if len(sizes) > 1:
        hidden = _quarter(training, seed)
        losses = [_loss(values, counts, hidden, size, seed) for size in sizes]
        size = sizes[int(np.argmin(losses))]
    found = _predictions(values, counts, np.ones(len(values), dtype=bool), asked, size, seed)
    order = training.items.index[asked].get_indexer(pd.Index(names))
    return blind_forecast(found[:, order], training, names)


def _loss(values: np.ndarray, counts: Counts, hidden: np.ndarray, size: int, seed: int) -> float:
    """Compute the Brier score on hidden items."""
    found = _predictions(values, counts, ~hidden, hidden, size, seed)
    successes, trials = (table[:, hidden].ravel() for table in counts)
    return scoring.brier(found.ravel(), successes, trials)


def _predictions(
    values: np.ndarray,
    counts: Counts,
    seen: np.ndarray,
    asked: np.ndarray,
    size: int,
    seed: int,
) -> np.ndarray:
    """Grow a forest on the outcomes of some items, and predict others; (subjects, items)."""
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
    forest.set_params(n_jobs=1)  # threads would sum the trees in any order
    return np.asarray(forest.predict_proba(test)[:, 1]).reshape(subjects, -1)


def _stacked(values: np.ndarray, subjects: int) -> np.ndarray:
    """Repeat the items' columns for each subject, with a column of 0 and 1 for each subject."""
    who = np.repeat(np.eye(subjects), len(values), axis=0)
    return np.column_stack([np.tile(values, (subjects, 1)), who])


def _quarter(training: Evaluation, seed: int) -> np.ndarray:
    """Draw a quarter of the attempted items, as a mask of all items."""
    attempted = np.flatnonzero(training.coded.attempted)
    # a random stream other than that of the folds
    order = np.random.default_rng([seed, 2]).permutation(attempted)
    hidden = np.zeros(len(training.items), dtype=bool)
    hidden[order[: len(order) // _PART]] = True
    return hidden
