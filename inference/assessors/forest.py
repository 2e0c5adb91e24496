"""Random forests on properties of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import options
from ..baselines import Baseline, baseline_forecast, classifier
from ..data import Evaluation
from ..errors import FitError
from ..forecasts.forecasting import Forecast
from .columns import OnColumns
from .importance import most_important
from .universal import universal_forecast


@dataclass(frozen=True)
class Forest(OnColumns):
    """Predict by a random forest for each subject: scikit-learn's, of 100 trees.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from. Without any, a subject's mean training success is predicted.
    min_samples_split : int or tuple of int
        Fewest items that a tree splits, at least 2. Of several, each subject's best on its training
        outcomes is taken: the one with the lowest Brier score out of bag, where every item is
        predicted by the trees that were grown without it.
    best : int, optional
        Use only so many of the columns: those whose values, shuffled on a held-out quarter of the
        training items, raise the Brier score most, on average over all subjects.
    universal : bool
        Grow one forest for all subjects together, with a column of 0 and 1 for each of them.

    Raises
    ------
    DataError
        When a column is named twice.
    FitError
        When a number is out of range.

    Notes
    -----
    A missing value is replaced by its column's mean, and a column of 0 and 1 says where. A subject
    whose training outcomes are all alike is predicted by their mean. An item tried several times
    counts as often.

    The rows of a universal forest are no longer one per item: an item is out of bag with one
    subject and in the bag with another. So a universal forest's `min_samples_split` is chosen on a
    held-out quarter of the training items, and grown again on all.

    Shuffling asks what a forest makes of a column beside all others: two columns that say the same
    share their importance. The forests asked are grown with the largest `min_samples_split`.

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
                f"best={self.best}, but there are {len(self.columns)} columns; ask for fewer, or "
                "leave best= out"
            )

    def _forecast(self, training: Evaluation, items: Sequence[str], seed: int) -> Forecast:
        sizes = self.min_samples_split
        sizes = sizes if isinstance(sizes, tuple) else (sizes,)
        columns: Sequence[str] = self.columns
        if self.best is not None:
            columns = most_important(training, columns, self.best, max(sizes), seed)
        if self.universal:
            return universal_forecast(training, items, columns, sizes, seed)
        model = classifier(lambda seed: _Chosen(sizes, seed))
        baseline = Baseline("random forest", model, threads=True)
        return baseline_forecast(baseline, training, items, columns, seed=seed)


class _Chosen:
    """The forest whose trees predict best what they have not seen; a classifier."""

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
