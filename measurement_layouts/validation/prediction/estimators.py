"""Baselines: classifiers of the kind of scikit-learn, for each subject or for all together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import some
from ...common.threads import side_by_side
from ...evaluations import tables
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import Rows, refuse_steps
from ...inference.forecasts.forecasting import Forecast
from .assessor import point_forecast
from .outcomes import outcome_table, positions

ITEM = "item"
"""Column of a pooled estimator that stands for the item itself."""

BASELINES = ("aggregate", "logistic", "forest", "rasch", "explanatory")


@dataclass(frozen=True)
class Estimator:
    r"""Prediction by a classifier of scikit-learn's kind on properties of the items.

    Parameters
    ----------
    model : classifier or {"aggregate", "logistic", "forest", "rasch", "explanatory"}
        Object with ``fit`` and ``predict_proba`` that scikit-learn can clone, such as a pipeline.
        Each ``random_state`` in it that is None is set to the seed. Or the name of a baseline:

        - ``"aggregate"``: the subject's mean training success, without columns;
        - ``"logistic"``: ``LogisticRegression()``, to the optimum;
        - ``"forest"``: ``RandomForestClassifier()``;
        - ``"rasch"``: pooled, an ability of each subject and an ease of each item,
          :math:`\sigma(\mu + a_s + b_i)` with :math:`a_s, b_i \sim N(0, 1)`, at their mode, which
          is a logistic regression with C = 1 on the names of subjects and items;
        - ``"explanatory"``: the same with weights, of prior N(0, 1), of the columns and of all
          properties of the subjects. Numbers are standardised, over the items with training
          outcomes and over subjects; each value of a column of texts has a weight.

    columns : sequence of str, or str
        Properties of the items: numbers, which are not scaled. With ``"item"`` among the columns of
        a pooled estimator, each item is a category. One name alone may be a column of texts, which
        the model gets as an array of texts: ``Estimator(make_pipeline(TfidfVectorizer(),
        LogisticRegression()), "question")``.
    pooled : bool
        Whether one model is trained on the outcomes of all subjects, with a column of 0 and 1 for
        each subject. With ``"item"``, the table is sparse.

    Raises
    ------
    DataError
        When the model cannot predict probabilities or is no baseline, or a column is named twice.

    Notes
    -----
    A missing value is replaced by the mean of its column, and a column of 0 and 1 marks such items.
    Where all training outcomes are the same, or there are no columns, their mean is predicted.
    A subject without training outcomes is predicted by a model of all others; in a pooled one, its
    own effect is 0, and its properties are the others' means.
    Items with several trials have as many times the weight, by ``sample_weight`` if the model has
    it, and otherwise by repeated rows. With several or graded outcomes, there is a model for each
    step, and its prediction is at most that of the previous step; baselines with ``"item"`` refuse
    steps.

    References
    ----------
    General scales paper, section 5.6 and appendix 8.5, Tables 3 to 5 and 13 to 18. Rasch (1960),
    Probabilistic Models for Some Intelligence and Attainment Tests. De Boeck and Wilson (eds.,
    2004), Explanatory Item Response Models.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> asked = pd.DataFrame({"subject": ["Ann"], "item": ["e"]})
    >>> for model in ("logistic", KNeighborsClassifier(3)):
    ...     Estimator(model, ["size"]).predict(training, asked, seed=1).round(2)
    array([0.5])
    array([0.67])
    """

    model: Any
    columns: Sequence[str] | str = ()
    pooled: bool = False

    def __post_init__(self) -> None:
        columns = self.columns
        refuse_other("columns", columns, Iterable, "names", "give names of columns of the items")
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        tables.refuse_repeats(names, "column", "the columns to predict from")
        if isinstance(self.model, str):
            if self.model not in BASELINES:
                raise DataError(
                    f"there is no baseline {self.model!r}; give a classifier, or one of "
                    f"{some(BASELINES, 9)}"
                )
            fixed = {"aggregate": (), "rasch": (ITEM,), "explanatory": (*names, ITEM)}
            names = fixed.get(self.model, names)
            object.__setattr__(self, "pooled", self.pooled or ITEM in names)
        elif not hasattr(self.model, "fit") or not hasattr(self.model, "predict_proba"):
            raise DataError(
                f"a {type(self.model).__name__} does not predict probabilities; give a classifier "
                "with fit and predict_proba"
            )
        object.__setattr__(self, "columns", names)

    @property
    def constant(self) -> bool:
        """Whether all items of a subject have the same prediction."""
        return not self.columns

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose properties cannot be read.

        Raises
        ------
        DataError
            When a property has no column, no values, or a value that is not a finite number.
        """
        self._values(items)

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success, as an `Assessor` does.

        Raises
        ------
        DataError
            When a property cannot be read, or rows are steps and the item is a column.
        """
        if self.pooled and ITEM in self.columns:
            refuse_steps(training.rows, "an estimator with the item as a column")
        outcomes = outcome_table(training)
        counts, learnt = outcomes[["successes", "trials"]].to_numpy(), len(outcomes)
        design, model = self._design(training, pd.concat([outcomes, cells]))
        models = len(training.subjects) + 1  # of each step; the last one is for new subjects
        jobs, predicted = [], []
        for number, rows in positions(model):
            train, test = rows[rows < learnt], rows[rows >= learnt]
            if number % models == models - 1:  # a model of all others
                train = np.flatnonzero(model[:learnt] // models == number // models)
            if len(test):
                jobs.append((self.model, design[train], *counts[train].T, design[test], seed))
                predicted.append(test - learnt)
        size = learnt // len(jobs) if self.columns and jobs else learnt
        chances = np.empty(len(cells))
        for rows, answer in zip(predicted, side_by_side(_chances, jobs, size), strict=True):
            chances[rows] = answer
        if training.rows is None:
            return chances
        steps = Rows.read(cells["item"])  # a step is reached after the previous one
        attempts = [cells["subject"].to_numpy(), steps.item, steps.outcome]
        return pd.Series(chances).groupby(attempts).cummin().to_numpy()

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int = 1) -> Forecast:
        """Forecast items for all subjects, for `score_forecast`; intervals are NaN.

        Raises
        ------
        DataError
            When an item is unknown, or a property cannot be read.
        """
        rows = training.rows_of(tables.known_names(items, training.item_table.index, "item"))
        pairs = pd.MultiIndex.from_product([training.subjects, rows], names=["subject", "item"])
        chances = self.predict(training, pairs.to_frame(index=False), seed=seed)
        trained = training.attempts[rows].to_numpy() > 0
        return point_forecast(chances.reshape(trained.shape), training.subjects, rows, trained)

    def _values(self, items: pd.DataFrame) -> np.ndarray:
        """Read the properties of the items, (items, columns), or one column of texts, (items,)."""
        names = [name for name in self.columns if name != ITEM or not self.pooled]
        tables.need_columns(items.columns, names, "the items have")
        if len(names) == 1 and not isinstance(self.model, str):
            column = items[names[0]]
            if all(isinstance(cell, str) for cell in column):
                return column.to_numpy(dtype=object)
        return read_columns(items, names)

    def _design(self, training: Evaluation, cells: pd.DataFrame) -> tuple[Any, np.ndarray]:
        """Return the table of what each cell is predicted from, and the number of its model."""
        people, items = training.subject_table, training.items
        subject, item = (
            table.index.get_indexer(pd.Index(cells[kind]))
            for kind, table in (("subject", people), ("item", items))
        )
        values, model = self._values(items), np.zeros(len(item), dtype=int)
        if training.rows is not None:  # a model for each step
            steps = pd.MultiIndex.from_arrays([training.rows.outcome, training.rows.step])
            model = pd.factorize(steps)[0][item] * (len(people) + 1)
        if self.model == "explanatory":
            values = _standardised(values, training.coded.attempted)
        subject = np.where(subject < 0, len(people), subject)  # a row of zeros for new ones
        if not self.pooled:
            return values[item], model + subject
        of_subjects: Any = sparse.eye_array(len(people) + 1, len(people), format="csr")
        if ITEM not in self.columns:
            return np.column_stack([values[item], of_subjects[subject].toarray()]), model
        if self.model == "explanatory":
            properties = sparse.csr_array(np.pad(_of_subjects(people), ((0, 1), (0, 0))))
            of_subjects = sparse.hstack([of_subjects, properties], format="csr")
        of_items: Any = sparse.hstack(
            [sparse.eye_array(len(items)), sparse.csr_array(values)], "csr"
        )
        return sparse.hstack([of_subjects[subject], of_items[item]], format="csr"), model


def _chances(
    model: Any, train: Any, successes: np.ndarray, trials: np.ndarray, test: Any, seed: int
) -> np.ndarray:
    """Train a copy of a model on counts, and predict; without columns or classes, the mean."""
    total, count = trials.sum(), len(trials)
    if train.shape[-1] == 0 or successes.sum() in (0, total):
        return np.full(test.shape[0], successes.sum() / total if total else np.nan)
    from sklearn.utils.validation import has_fit_parameter

    weights = np.concatenate([successes, trials - successes])
    (used,) = np.nonzero(weights)  # successes first, then failures
    weights, outcomes, rows = weights[used], (used < count).astype(int), train[used % count]
    classifier = seeded(model, seed)
    if has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(rows, outcomes, sample_weight=weights.astype(float))
    else:
        times = np.repeat(np.arange(len(used)), weights)
        classifier.fit(rows[times], outcomes[times])
    return np.asarray(classifier.predict_proba(test)[:, 1])


def seeded(model: Any, seed: int) -> Any:
    """Return an untrained classifier whose random states are the seed, unless they are given.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> seeded(RandomForestClassifier(), 7).random_state
    7
    """
    from sklearn.base import clone
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if isinstance(model, str):
        # Newton steps reach the optimum of few columns, and are many times faster than L-BFGS
        solver = "newton-cholesky" if model == "logistic" else "lbfgs"
        linear = LogisticRegression(solver=solver, tol=1e-8, max_iter=10_000)
        model = RandomForestClassifier() if model == "forest" else linear
    copy = clone(model)
    states = copy.get_params().items()
    unset = [name for name, value in states if name.endswith("random_state") and value is None]
    return copy.set_params(**dict.fromkeys(unset, seed))


def read_columns(
    items: pd.DataFrame, columns: Sequence[str], whose: str = "the items"
) -> np.ndarray:
    """Read the properties that baselines predict from, with indicators of missing values.

    Missing values are replaced by the mean of their column. A column of 0 and 1 that marks them is
    added for each column with missing values.

    Raises
    ------
    DataError
        When a property has no values, or a value that is not a finite number.

    Examples
    --------
    >>> read_columns(pd.DataFrame({"size": [1.0, None, 3.0]}), ["size"])
    array([[1., 0.],
           [2., 1.],
           [3., 0.]])
    """
    values, foreign = tables.read_numbers(items[list(columns)])
    missing = np.isnan(values) & ~foreign
    bad = foreign | np.isinf(values) | missing.all(axis=0)
    if bad.any():
        raise DataError(
            f"a baseline predicts from finite numbers, but {whose} have "
            f"{tables.name_cells(items[list(columns)], bad)}; give numbers, other columns, or no "
            "baselines"
        )
    means = values.mean(axis=0, where=~missing)
    gaps = missing[:, missing.any(axis=0)]
    return np.column_stack([np.where(missing, means, values), gaps])


def _of_subjects(table: pd.DataFrame) -> np.ndarray:
    """Read the subjects' properties: standardised numbers, and a column for each text."""
    foreign = [name for name in table if tables.read_numbers(table[[name]])[1].any()]
    numbers = read_columns(table, [str(n) for n in table if n not in foreign], "the subjects")
    texts = [table[name].map(str, na_action="ignore") for name in foreign]
    dummies = [pd.get_dummies(column, dtype=float) for column in texts]
    return np.column_stack([_standardised(numbers, np.full(len(table), True)), *dummies])


def _standardised(columns: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Standardise columns by the mean and standard deviation of some rows."""
    spread = np.where(np.ptp(columns[used], axis=0) > 0, columns[used].std(axis=0), 1)
    return np.asarray((columns - columns[used].mean(axis=0)) / spread)
