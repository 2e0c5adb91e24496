"""Baselines: predictions without a layout."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ...batteries.characteristic import characteristic_curves
from ...batteries.slices import Slices
from ...common.errors import DataError, FitError
from ...common.threads import side_by_side
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import Rows, refuse_steps
from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...inference.forecasts.forecasting import Forecast
from ...linking import generalised_mean, logistic
from ...linking.real import real
from .assessor import Forecaster, blind_forecast, names_of, read_columns, without_outcomes

type Model = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Aggregate(Forecaster):
    """Prediction of each item by the subject's mean success on the training items.

    Notes
    -----
    With several or graded outcomes, each step is predicted by the share of the subject's training
    attempts that reached it. All items of a subject have the same prediction, so that there is no
    AUROC.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b", "c", "d"])
    >>> outcomes = pd.DataFrame([[1, 0, 1, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> Aggregate().predict(training, ["d"], seed=1).to_numpy().round(3)
    array([[0.667]])
    """

    columns: ClassVar[tuple[str, ...]] = ()
    constant: ClassVar[bool] = True

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int = 1) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When an item has training outcomes of all subjects.
        """
        return per_subject(mean_success, training, items, (), seed=seed, who="aggregate")


@dataclass(frozen=True)
class OnColumns(Forecaster):
    """Base of assessors that predict from properties of items.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from.

    Raises
    ------
    DataError
        When a column is named twice.
    """

    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_of(self.columns))

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose properties cannot be read.

        Raises
        ------
        DataError
            When a property has no column, no values, or a value that is not a finite number.
        """
        read_columns(items, self.columns)


@dataclass(frozen=True)
class Classifier(OnColumns):
    """Prediction by a scikit-learn classifier, which is trained for each subject.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from; they are not scaled, and there are no products of them.
    model : classifier
        Object with ``fit`` and ``predict_proba`` that scikit-learn can clone, such as a pipeline.
        If its ``random_state`` is None, it is set to the seed.

    Raises
    ------
    DataError
        When a column is named twice, or the model cannot predict probabilities.

    Notes
    -----
    A missing value is replaced by the mean of its column, and a column of 0 and 1 marks such items.
    A subject whose training outcomes are all the same is predicted by their mean. Items with
    several trials have as many times the weight, by ``sample_weight`` if the model has it, and
    otherwise by repeated rows. With several or graded outcomes, there is a classifier for each
    step, and its prediction is at most that of the previous step.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> nearest = Classifier(["size"], KNeighborsClassifier(2))
    >>> nearest.predict(training, ["e"], seed=1).to_numpy()
    array([[0.5]])
    """

    model: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_others(self.model)

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When a property cannot be read, or an item has training outcomes.
        """
        who = type(self.model).__name__
        model = classifier(lambda seed: seeded(self.model, seed))
        return per_subject(model, training, items, self.columns, seed=seed, who=who)


def refuse_others(model: object) -> None:
    """Refuse objects other than classifiers.

    Raises
    ------
    DataError
        When the object lacks ``fit`` or ``predict_proba``.
    """
    if not hasattr(model, "fit") or not hasattr(model, "predict_proba"):
        raise DataError(
            f"a {type(model).__name__} does not predict probabilities; give a classifier with fit "
            "and predict_proba"
        )


def seeded(model: Any, seed: int) -> Any:
    """Return an untrained copy of a classifier, with the seed unless it has a random state.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> seeded(RandomForestClassifier(), 7).random_state
    7
    """
    from sklearn.base import clone

    copy = clone(model)
    known = copy.get_params(deep=False)
    if "random_state" in known and known["random_state"] is None:
        copy.set_params(random_state=seed)
    return copy


@dataclass(frozen=True)
class Regression(OnColumns):
    """Prediction by scikit-learn's logistic regression with its default penalty, for each subject.

    Parameters
    ----------
    columns : sequence of str
        Properties to predict from; they are not scaled, and there are no products of them.

    Notes
    -----
    The notes of `Classifier` apply.

    References
    ----------
    General scales paper, appendix 8.5.5 and Table 17.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> Regression(["size"]).predict(training, ["e"], seed=1).to_numpy().round(3)
    array([[0.5]])
    """

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When a property cannot be read, or an item has training outcomes.
        """
        model, who = classifier(_logistic_regression), "logistic regression"
        return per_subject(model, training, items, self.columns, seed=seed, who=who)


def _logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    # Newton steps reach the optimum, and are many times faster than L-BFGS, which stops before it
    return LogisticRegression(solver="newton-cholesky", tol=1e-8, max_iter=10_000)


def mean_success(
    train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    """Predict the mean training success; NaN without training outcomes."""
    total = trials.sum()
    return np.full(len(test), successes.sum() / total if total else np.nan)


def classifier(make: Callable[[int], Any]) -> Model:
    """Return a model that trains a classifier; without columns or classes, it is the mean."""

    def predict(
        train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
    ) -> np.ndarray:
        if not train.shape[1] or successes.sum() in (0, trials.sum()):
            return mean_success(train, successes, trials, test, seed)
        from sklearn.utils.validation import has_fit_parameter

        rows, outcomes, weights = examples(train, successes, trials)
        model = make(seed)
        if has_fit_parameter(model, "sample_weight"):
            model.fit(rows, outcomes, sample_weight=weights)
        else:
            times = weights.astype(int)
            model.fit(np.repeat(rows, times, axis=0), np.repeat(outcomes, times))
        return np.asarray(model.predict_proba(test)[:, 1])

    return predict


def examples(
    columns: np.ndarray, successes: np.ndarray, trials: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Convert counts to the training data of classifiers: rows, outcomes 1 or 0, and weights.

    Examples
    --------
    >>> rows, outcomes, weights = examples(np.array([[5.0], [6.0]]), np.ones(2), np.array([1, 3]))
    >>> rows.ravel(), outcomes, weights
    (array([5., 6., 6.]), array([1, 1, 0]), array([1., 1., 2.]))
    """
    rows = np.concatenate([columns, columns])
    outcomes = np.repeat([1, 0], len(columns))
    weights = np.concatenate([successes, trials - successes]).astype(float)
    used = weights > 0
    return rows[used], outcomes[used], weights[used]


def per_subject(
    model: Model,
    training: Evaluation,
    items: Sequence[str],
    columns: Sequence[str] | np.ndarray,
    *,
    seed: int,
    who: str,
) -> Forecast:
    """Forecast items by models of single subjects' training outcomes.

    Parameters
    ----------
    model : callable
        Function that returns probabilities of success, given the columns of the training items
        (rows, columns), their successes and trials (rows,), the columns of the items to forecast,
        and a seed.
    training : Evaluation
        All items, and the outcomes to learn from. Cells to forecast have 0 trials.
    items : sequence of str
        Names of the items to forecast.
    columns : sequence of str, or ndarray, shape (rows, columns)
        Properties to predict from, or their values on all rows of the training.
    seed : int
        Seed of the models.
    who : str
        Name of the model, for messages.

    Returns
    -------
    Forecast
        Means, which are NaN where a subject has training outcomes; intervals are NaN.

    Raises
    ------
    DataError
        When an item has training outcomes of all subjects or is unknown, or a property has no
        column, no values, or a value that is not a finite number.

    Notes
    -----
    Subjects with the same outcomes on the same items share a model, which is trained once. If rows
    are steps of outcomes, there is a model for each step of each outcome.
    """
    rows = training.rows_of(without_outcomes(training, items, who))
    table = columns
    if not isinstance(table, np.ndarray):
        table = read_columns(training.items, table)
    asked = training.items.index.get_indexer(pd.Index(rows))
    won, tried = training.successes.to_numpy(), training.attempts.to_numpy()
    kinds, means = kinds_of(training.rows, len(table)), np.empty((len(won), len(rows)))
    for kind in range(kinds.max() + 1):
        own = np.flatnonzero(kinds == kind)
        chosen = kinds[asked] == kind
        test = table[asked[chosen]]
        counts = np.concatenate([won[:, own], tried[:, own]], axis=1)
        distinct, which = np.unique(counts, axis=0, return_inverse=True)

        def one(both: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
            successes, trials = np.split(both, 2)
            used = trials > 0
            return model(train[used], successes[used], trials[used], test, seed)

        if model is mean_success:
            found = [one(both, table[own], test) for both in distinct]
        else:
            found = side_by_side(one, [(both, table[own], test) for both in distinct], len(own))
        means[:, chosen] = np.stack(found)[which.ravel()]
    if training.rows is not None:
        begins = Rows.read(rows).first
        for column in range(1, len(rows)):  # a step is reached after the previous one
            if begins[column] != column:
                means[:, column] = np.minimum(means[:, column], means[:, column - 1])
    return blind_forecast(means, training, rows)


def kinds_of(rows: Rows | None, count: int) -> np.ndarray:
    """Return a number for the outcome and step of each row; 0 if rows are items."""
    if rows is None:
        return np.zeros(count, dtype=int)
    return pd.factorize(pd.MultiIndex.from_arrays([rows.outcome, rows.step]))[0]


@dataclass(frozen=True)
class Algebraic(OnColumns):
    r"""Prediction from the differences between a subject's abilities and an item's demands.

    .. math:: p = M_k\left(\sigma(a_1 - d_1), \dots, \sigma(a_J - d_J),
        1 - \tfrac{u}{100}\right)

    with abilities `a` from `characteristic_curves` of the training outcomes, demands `d`,
    unguessability `u` in per cent, the logistic function, and the generalised mean of power `k`.

    Parameters
    ----------
    columns : sequence of str
        Columns of demand levels; see `characteristic_curves`.
    unguessability : str, optional
        Column with the probability of an error when guessing, in per cent.
    power : float
        Power `k`: with 1, parts compensate for each other; 0 is the geometric mean; infinite powers
        are the largest or the smallest part.

    Raises
    ------
    DataError
        When a column is named twice.
    FitError
        When the power is not a number.

    Notes
    -----
    The published text does not define the part of guessing. Since the other parts are probabilities
    of success, it is 1 minus unguessability here. For a power of 0 or below, an item that cannot be
    guessed (100 %) is therefore predicted to fail, independently of abilities. This agrees with
    Table 19, in which the calibration at power 0 is worst for able subjects. On six benchmarks,
    unguessability itself as a part, which contradicts its meaning, has a higher AUROC at power 0
    (0.70 instead of 0.66).

    Demands for which a subject has no ability (no curve) are left out of its mean. A subject
    without any ability is predicted by its mean training success.

    References
    ----------
    General scales paper, appendix 8.5.7, equation 1 and Table 19.

    Examples
    --------
    >>> levels = np.repeat(np.arange(1, 6), 100)
    >>> items = pd.DataFrame({"logic": levels, "guess": 50.0})
    >>> solved = np.random.default_rng(1).random(500) < 1 / (1 + np.exp(2 * (levels - 3.2)))
    >>> outcomes = pd.DataFrame([solved], ["Ann"]).astype(float)
    >>> outcomes.iloc[0, -1] = None
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> Algebraic(["logic"], power=1).predict(training, ["499"], seed=1).to_numpy().round(2)
    array([[0.14]])
    >>> joined = Algebraic(["logic"], "guess", power=1).predict(training, ["499"], seed=1)
    >>> joined.to_numpy().round(2)
    array([[0.32]])
    """

    unguessability: str | None = None
    power: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        power = real(self.power)
        if power is None or math.isnan(power):
            raise FitError(
                f"power={self.power!r}; give a number, or +-inf for the largest or the smallest "
                "part"
            )

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose demands or unguessability cannot be read.

        Raises
        ------
        DataError
            When a column is missing, demands are not levels, or unguessabilities not percentages.
        """
        Slices.of(items, self.columns)
        self._guessable(items)

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When a column cannot be read, or an item has training outcomes.
        """
        refuse_steps(training.rows, "an algebraic assessor")
        names = without_outcomes(training, items, "algebraic assessor")
        curves = characteristic_curves(training, self.columns, resamples=2, seed=seed)
        asked = training.items.loc[names]
        demands = asked[list(self.columns)].to_numpy(dtype=float)
        guessable = self._guessable(asked)
        rates = training.success_rates().to_numpy()
        found = np.empty((len(training.subjects), len(names)))
        for row, abilities in enumerate(curves.abilities.to_numpy()):
            known = ~np.isnan(abilities)
            parts = logistic(abilities[known] - demands[:, known])
            parts = np.column_stack([parts, guessable])
            found[row] = rates[row]
            if known.any():
                found[row] = generalised_mean(parts, power=self.power, over=-1)[:, 0]
        # rounding errors may lead outside the unit interval
        return blind_forecast(found.clip(0, 1), training, names)

    def _guessable(self, items: pd.DataFrame) -> np.ndarray:
        """Return probabilities of a correct guess, (items, 1), or (items, 0) without a column."""
        if self.unguessability is None:
            return np.empty((len(items), 0))
        need_columns(items.columns, [self.unguessability], "the items have")
        percents = items[[self.unguessability]]
        values = read_numbers(percents)[0]
        bad = ~((values >= 0) & (values <= 100))
        if bad.any():
            raise DataError(
                f"{bad.sum()} unguessabilities are not percentages: {name_cells(percents, bad)}; "
                "give numbers from 0 to 100"
            )
        return 1 - values / 100
