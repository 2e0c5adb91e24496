"""Baselines that pool subjects: Rasch's model, and its extension by weights of properties."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit

from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_steps
from ...evaluations.tables import read_numbers
from ...inference.forecasts.forecasting import Forecast
from .assessor import Forecaster, blind_forecast, read_columns, without_outcomes
from .baselines import OnColumns, examples


@dataclass(frozen=True)
class Rasch(Forecaster):
    r"""Prediction by abilities of subjects and eases of items, fitted to all outcomes.

    .. math:: p_{si} = \sigma(\mu + a_s + b_i), \qquad a_s \sim N(0, 1), \quad b_i \sim N(0, 1)

    with the abilities and eases, in log-odds, that are most likely given the outcomes.

    Notes
    -----
    It is scikit-learn's logistic regression on the names of subjects and items, with C = 1. Items
    without training outcomes have the ease 0, so that all new items of a subject have the same
    prediction, and there is no AUROC. Where all training outcomes are the same, they are predicted.

    References
    ----------
    Rasch (1960), Probabilistic Models for Some Intelligence and Attainment Tests.

    Examples
    --------
    >>> outcomes = pd.DataFrame([[1, 1, 0], [1, 0, 0], [1, 1, None]], ["Ann", "Bob", "Cy"],
    ...                         ["a", "b", "c"])
    >>> training = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> Rasch().predict(training, ["c"], seed=1).sel(subject="Cy").to_numpy().round(2)
    array([0.54])
    """

    columns: ClassVar[tuple[str, ...]] = ()

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int = 1) -> Forecast:
        """Forecast success, for `score`; intervals are NaN, and nothing is random.

        Raises
        ------
        DataError
            When an item has training outcomes of all subjects, or rows are steps of outcomes.
        """
        refuse_steps(training.rows, "a Rasch model")
        subjects, count = training.coded.shape
        no_columns = np.empty((count, 0)), np.empty((subjects, 0))
        return _pooled(training, items, no_columns[0], no_columns[1], "Rasch model")


@dataclass(frozen=True)
class Explanatory(OnColumns):
    r"""Prediction by Rasch's model with weights of properties of the items and of the subjects.

    .. math:: p_{si} = \sigma(\mu + a_s + b_i), \qquad a_s \sim N(v \cdot z_s, 1), \quad
        b_i \sim N(w \cdot x_i, 1)

    Parameters
    ----------
    columns : sequence of str
        Properties `x` of the items.

    Raises
    ------
    DataError
        When a column is named twice.

    Notes
    -----
    It is computed as `Rasch`; weights have the prior N(0, 1). Columns are standardised over the
    items with training outcomes. A missing value is replaced by the mean of its column, and a
    column of 0 and 1 marks such items. The properties `z` are all properties of subjects in the
    evaluation: numbers are standardised, and each value of a column of texts has a weight, except
    missing ones. Items without training outcomes are predicted by their properties.

    References
    ----------
    De Boeck and Wilson (eds., 2004), Explanatory Item Response Models.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=100)}).rename(index=str)
    >>> chance = 1 / (1 + np.exp(rng.normal(size=(30, 1)) - 2 * items["size"].to_numpy()))
    >>> outcomes = pd.DataFrame(rng.binomial(1, chance), columns=items.index)
    >>> from measurement_layouts.validation.prediction.splits import masked
    >>> training = masked(Evaluation.from_wide(outcomes, items), ["0", "1"])
    >>> found = Explanatory(["size"]).predict(training, ["0", "1"], seed=1)
    >>> found.mean("subject").to_numpy().round(2)
    array([0.65, 0.8 ])
    """

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int = 1) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When a property cannot be read, an item has training outcomes of all subjects, or rows
            are steps of outcomes.
        """
        refuse_steps(training.rows, "an explanatory model")
        columns = read_columns(training.items, self.columns)
        columns = _standardised(columns, training.coded.attempted)
        return _pooled(training, items, columns, _of_subjects(training), "explanatory model")


def _pooled(
    training: Evaluation,
    items: Sequence[str],
    item_columns: np.ndarray,
    subject_columns: np.ndarray,
    who: str,
) -> Forecast:
    """Forecast items by scikit-learn's logistic regression on names and columns, with C = 1."""
    from sklearn.linear_model import LogisticRegression

    names = without_outcomes(training, items, who)
    won, tried = training.successes.to_numpy(), training.trials.to_numpy()
    people: Any
    tasks: Any
    people, tasks = (
        sparse.csr_array(sparse.hstack([sparse.eye_array(len(columns)), sparse.csr_array(columns)]))
        for columns in (subject_columns, item_columns)
    )
    subject, item = np.nonzero(tried)
    counts = won[subject, item], tried[subject, item]
    cells, outcomes, weights = examples(np.arange(len(item))[:, None], *counts)
    subject, item = subject[cells[:, 0]], item[cells[:, 0]]
    if len(np.unique(outcomes)) < 2:
        chances = np.full(tried.shape, outcomes.mean() if len(outcomes) else np.nan)
    else:
        model = LogisticRegression(C=1, tol=1e-8, max_iter=10_000)
        model.fit(sparse.hstack([people[subject], tasks[item]]), outcomes, sample_weight=weights)
        abilities, eases = np.split(model.coef_[0], [people.shape[1]])
        chances = expit((people @ abilities)[:, None] + tasks @ eases + model.intercept_)
    places = training.items.index.get_indexer(pd.Index(names))
    return blind_forecast(np.take(chances, places, axis=1), training, names)


def _of_subjects(training: Evaluation) -> np.ndarray:
    """Read the subjects' properties: standardised numbers, and a column for each text."""
    table = training.subject_table
    foreign = {name: read_numbers(table[[name]])[1].any() for name in table.columns}
    numbers = read_columns(table, [name for name in foreign if not foreign[name]], "the subjects")
    texts = [
        pd.get_dummies(table[name].map(str, na_action="ignore")).to_numpy(dtype=float)
        for name in foreign
        if foreign[name]
    ]
    return np.column_stack([_standardised(numbers, np.ones(len(table), dtype=bool)), *texts])


def _standardised(columns: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Standardise columns by the mean and standard deviation of some rows; constants become 0."""
    varies = np.ptp(columns[used], axis=0) > 0
    spread = np.where(varies, columns[used].std(axis=0), 1)
    return np.where(varies, (columns - columns[used].mean(axis=0)) / spread, 0.0)
