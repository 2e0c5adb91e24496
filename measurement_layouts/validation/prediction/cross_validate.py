"""Cross-validation of layouts, baselines and other assessors on the same outcomes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import joblib
import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import some
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...layouts import Layout
from . import scoring_rules as scoring
from .assessor import Assessor, predicted
from .baselines import Aggregate, Algebraic, Classifier, Regression, kinds_of
from .forests import Forest
from .layouts import ChosenLayout, FittedLayout
from .pooled import Explanatory, Rasch
from .result import CrossValidation
from .score import outside, scores_of
from .splits import NAMED, Fold, Split, by_row, drawn

BESIDE = ("low", "high")
"""Columns that a prediction may have in addition to its mean."""

type Method = Assessor | Layout | str | Sequence[str] | Any

_BASELINES: Mapping[str, Any] = {
    "aggregate": lambda columns: Aggregate(),
    "logistic": Regression,
    "forest": lambda columns: Forest(columns, min_samples_split=2),
    "universal forest": lambda columns: Forest(columns, min_samples_split=2, universal=True),
    "algebraic": Algebraic,
    "rasch": lambda columns: Rasch(),
    "explanatory": Explanatory,
}


def cross_validate(
    methods: Mapping[str, Method] | Sequence[Layout | str],
    evaluation: Evaluation,
    *,
    split: Split | str = "items",
    repeats: int | None = None,
    columns: Sequence[str] | None = None,
    resamples: int = 500,
    prob: float = 0.9,
    seed: int = 1,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> CrossValidation:
    """Compare layouts and other methods by their predictions of held-out outcomes.

    In each fold, every method predicts the held-out outcomes from the training outcomes. All
    methods have the same folds, and none sees the held-out outcomes. A random forest only predicts;
    a layout that predicts as well also has a profile (`fit` it to all outcomes), which explains the
    predictions.

    Parameters
    ----------
    methods : mapping of str to method, or sequence of Layout and str
        Methods to compare, by name; differences are relative to the first. A method is

        - a layout, for `FittedLayout` with its defaults;
        - ``"aggregate"``, the subject's mean training success; ``"logistic"``, a `Regression`;
          ``"forest"``, scikit-learn's random forest with its defaults; ``"universal forest"``, one
          for all subjects; ``"algebraic"``, an `Algebraic`; ``"rasch"``, an ability of each subject
          and an ease of each item; or ``"explanatory"``, an `Explanatory`; each of `columns`;
        - columns, for a `Forest` with its defaults;
        - a classifier of scikit-learn's kind, for a `Classifier` of `columns`; or
        - an object with the method `predict` of an `Assessor`, such as `Forest` or `ChosenLayout`.

        In a sequence, layouts keep their own names, and baselines have the names above.
    evaluation : Evaluation
        Items and outcomes of any kind. For several outcomes, grades or scores, each step is
        predicted.
    split : Split or {"items", "cells"}
        Held-out outcomes: `Items`, `Cells`, `Groups`, `Given` or another object with the method
        `draw` of a `Split`. A text means a fifth of these, at random.
    repeats : int, optional
        Number of times that the split is drawn. The default is 3 if a share is held out at random,
        and 1 if each fold is held out in turn or sets are given.
    columns : sequence of str, optional
        Properties from which named baselines and classifiers predict. The default is the
        meta-features of the layouts compared, or all columns of numbers if there is no layout.
    resamples : int
        Number of sets of items drawn with replacement, for standard errors and intervals of
        differences.
    prob : float
        Mass of the intervals of differences.
    seed : int
        Seed of splits, methods and resamples; the methods of repeat `r`, from 0, have the seed
        ``seed + r``.
    n_jobs : int, optional
        Number of subjects that are fitted or predicted in parallel. The default is the setting of
        `joblib.parallel_config`, or else one per processor.
    progressbar : bool
        Whether to show the number of folds done and the time left.

    Returns
    -------
    CrossValidation
        Scores per method, repeat and subject; predictions; convergence of the fits.

    Raises
    ------
    DataError
        When there is no method, two methods have the same name, an argument is not a method, items
        do not match a method, no outcome would be held out, or a subject would have no training
        outcome in a fold.
    FitError
        When an option is out of range.

    Notes
    -----
    Predictions of a repeat's folds are pooled before they are scored. So an uninformative forest
    may have an AUROC below 0.5: if a fold contains more successes, the others contain fewer. A
    method that predicts one number per subject and fold does not distinguish items: it has no
    AUROC, which the remark states.

    A layout is compiled once for all folds. Subjects are not sampled again if they do not converge,
    because a prediction needs only the posterior mean; `CrossValidation.convergence` lists the
    status of every fit.

    References
    ----------
    Burden et al. (2023), section 4.2: 15 repeats of a held-out fifth. Propensities paper, section
    4.4 and Table 4: ten folds, AUROC. General scales paper, sections 3.4 and 5.6, Tables 3 to 5 and
    13 to 19: items, tasks and benchmarks held out.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=200), "hour": rng.normal(size=200)})
    >>> outcomes = pd.DataFrame([rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))], ["Ann"])
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> found = cross_validate(["aggregate", "logistic"], evaluation, progressbar=False)
    >>> found.summary()[["mean", "subjects"]].round(2)
               mean  subjects
    method
    aggregate  0.25         1
    logistic   0.16         1

    On other hours than those trained on:

    >>> from measurement_layouts.validation.prediction.splits import Given
    >>> later = Given(train="hour <= 0", test="hour > 0")
    >>> found = cross_validate(["aggregate", "logistic"], evaluation, split=later,
    ...                        progressbar=False)
    >>> found.differences()[["brier", "brier_difference"]].round(2)
               brier  brier_difference
    method
    aggregate   0.25              0.00
    logistic    0.13             -0.12
    """
    refuse_no_evaluation(evaluation)
    assessors = read_methods(methods, evaluation, columns)
    split, seed = read_split(split), options.whole("seed", seed)
    repeats = options.whole("repeats", split.repeats if repeats is None else repeats, 1)
    resamples, prob = options.whole("resamples", resamples, 2), options.inside("prob", prob, 0.9)
    plan = drawn(split, evaluation, repeats=repeats, seed=seed)
    run = _Run(assessors, evaluation, repeats)
    parts = [(repeat, *part) for repeat, own in enumerate(plan) for part in enumerate(own)]
    with working(n_jobs):
        for repeat, place, fold in track(parts, len(parts), progressbar, what="folds"):
            run.predict(repeat, place, fold, seed + repeat)
    scores = run.scores()
    return CrossValidation(
        scores,
        evaluation.success_rates(),
        run.predictions(),
        run.convergence(),
        split=repr(split),
        resamples=resamples,
        prob=prob,
        seed=seed,
    )


class _Run:
    """Predictions of the methods so far."""

    def __init__(
        self, assessors: Mapping[str, Assessor], evaluation: Evaluation, repeats: int
    ) -> None:
        self.assessors, self.evaluation, self.repeats = assessors, evaluation, repeats
        shape = repeats, *evaluation.coded.shape
        self.fold = np.full(shape, -1)
        self.chances = np.full((len(assessors), *shape), np.nan)
        self.told = {name: np.full_like(self.chances, np.nan) for name in BESIDE}
        self.attempts = evaluation.attempts.to_numpy()
        self.outside: dict[tuple[str, int, str], list[tuple[float, str]]] = {}
        self.fits: list[pd.DataFrame] = []

    def predict(self, repeat: int, place: int, fold: Fold, seed: int) -> None:
        """Predict a fold with all methods."""
        evaluation = self.evaluation
        training, items = fold.training(evaluation), fold.items(evaluation)
        known = evaluation.items.index
        rows = known.get_indexer(pd.Index(evaluation.rows_of(items)))
        test = by_row(evaluation, fold.test)
        self.fold[repeat][test] = place
        asked = [known[row & (tried > 0)] for row, tried in zip(test, self.attempts, strict=True)]
        for number, (name, assessor) in enumerate(self.assessors.items()):
            found, forecast, fits = predicted(name, assessor, training, items, seed)
            chances = np.full(test.shape, np.nan)
            chances[:, rows] = found.to_numpy()
            self.chances[number, repeat][test] = chances[test]
            for what in BESIDE:
                if forecast is not None and what in forecast.data:
                    own = forecast.data[what].transpose("subject", "item")
                    chances[:, rows] = own.reindex(
                        subject=evaluation.subjects, item=known[rows]
                    ).to_numpy()
                    self.told[what][number, repeat][test] = chances[test]
            if fits is not None:
                said = fits.reset_index()
                self.fits.append(keyed(said, method=name, repeat=repeat, fold=place))
            if forecast is not None and forecast.training is not None:
                for subject, own in zip(evaluation.subjects, asked, strict=True):
                    if len(own) and subject in forecast.data.indexes["subject"]:
                        told = outside(forecast, subject, own)
                        self.outside.setdefault((name, repeat, subject), []).append(told)

    def scores(self) -> pd.DataFrame:
        """Score each method, repeat and subject, over all folds of the repeat."""
        won, rows = self.evaluation.successes.to_numpy(), self.evaluation.rows
        tops = np.ones(won.shape[1], dtype=int) if rows is None else rows.tops
        found: list[dict[str, object]] = []
        alike = [self._constant(*each) for each in enumerate(self.assessors.values())]
        for repeat in range(self.repeats):
            for number, name in enumerate(self.assessors):
                for place, subject in enumerate(self.evaluation.subjects):
                    held = (self.fold[repeat, place] >= 0) & (self.attempts[place] > 0)
                    if held.any():
                        counts = won[place, held], self.attempts[place, held], tops[held]
                        chances = self.chances[number, repeat, place, held]
                        scored = _scores(chances, *counts, constant=alike[number])
                        told = self.outside.get((name, repeat, subject), [])
                        count = sum(number for number, _ in told) if told else math.nan
                        counted = {"outside_training": count}
                        remarks = [scored.pop("remark"), *(text for _, text in told)]
                        remark = "; ".join(str(text) for text in dict.fromkeys(remarks) if text)
                        keys = {"method": name, "repeat": repeat, "subject": subject}
                        found.append(keys | scored | counted | {"remark": remark})
        return pd.DataFrame(found)

    def _constant(self, number: int, assessor: Assessor) -> bool:
        """Return whether a method predicts the same for all items of a subject and fold."""
        if getattr(assessor, "constant", False):
            return True
        repeat, subject, row = np.nonzero(self.fold >= 0)
        kind = kinds_of(self.evaluation.rows, len(self.evaluation.items))[row]
        keys = [repeat, subject, self.fold[repeat, subject, row], kind]
        chances = pd.Series(self.chances[number, repeat, subject, row]).groupby(keys)
        several = bool((chances.count() > 1).any())
        return several and bool((chances.max() - chances.min()).max() == 0)

    def predictions(self) -> pd.DataFrame:
        """Return a table of predictions and outcomes."""
        repeat, subject, row = np.nonzero(self.fold >= 0)
        count, evaluation = len(self.assessors), self.evaluation
        columns = {
            "repeat": repeat,
            "fold": self.fold[repeat, subject, row],
            "subject": np.array(evaluation.subjects, dtype=object)[subject],
            "item": evaluation.items.index.to_numpy(dtype=object)[row],
        }
        found = {name: np.repeat(values, count) for name, values in columns.items()}
        found["method"] = np.tile(np.array(list(self.assessors), dtype=object), len(row))
        found["probability"] = self.chances[:, repeat, subject, row].T.ravel()
        for what, values in self.told.items():
            found[what] = values[:, repeat, subject, row].T.ravel()
        found["successes"] = np.repeat(evaluation.successes.to_numpy()[subject, row], count)
        found["trials"] = np.repeat(self.attempts[subject, row], count)
        if evaluation.rows is not None:
            found["steps"] = np.repeat(evaluation.rows.tops[row], count)
        return pd.DataFrame(found)

    def convergence(self) -> pd.DataFrame:
        """Join the diagnostics of all fits."""
        names = ["method", "repeat", "fold", "subject", "status", "reason"]
        if not self.fits:
            return pd.DataFrame(columns=names)
        return pd.concat(self.fits, ignore_index=True)


def _scores(
    chances: np.ndarray, won: np.ndarray, tried: np.ndarray, tops: np.ndarray, *, constant: bool
) -> dict[str, object]:
    """Score a subject's predictions, with the reason if a score is missing."""
    if np.isnan(chances).any():
        half = np.full(len(won), 0.5)
        empty = scores_of(half, won, tried, tops)
        kept = {name: empty[name] for name in ("trials", "success")}
        why = "some items have no prediction (for example, a layout could not be sampled in a fold)"
        return dict.fromkeys(empty, math.nan) | kept | {"remark": why}
    scored = scores_of(chances, won, tried, tops)
    if constant and not scored["remark"]:
        scored |= {"auroc": math.nan, "remark": scoring.ONE_NUMBER}
    return scored


def keyed(table: pd.DataFrame, **keys: object) -> pd.DataFrame:
    """Put columns of one value each before those of a table."""
    return pd.concat([pd.DataFrame(keys, index=table.index), table], axis=1)


def working(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Set the number of parallel jobs for a ``with`` block, if it is given."""
    return nullcontext() if n_jobs is None else joblib.parallel_config(n_jobs=n_jobs)


def read_split(given: Split | str) -> Split:
    """Read the argument split=."""
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    if isinstance(given, str) or not isinstance(given, Split):
        raise DataError(
            f"split={given!r}; give 'items', 'cells', or one of Items, Cells, Groups and Given"
        )
    return given


def read_methods(
    methods: Mapping[str, Method] | Sequence[Layout | str],
    evaluation: Evaluation,
    columns: Sequence[str] | None,
) -> dict[str, Assessor]:
    """Return the assessors of all methods; errors are raised before the first fold."""
    if not isinstance(methods, Mapping):
        if isinstance(methods, str):
            methods = [methods]
        remedy = "give the methods in a list, as in [layout, 'aggregate'], or by name"
        refuse_other("methods", methods, Iterable, "a list", remedy)
        named = [(each.name if isinstance(each, Layout) else each, each) for each in methods]
        foreign = [each for name, each in named if not isinstance(name, str)]
        if foreign:
            raise DataError(
                f"a {type(foreign[0]).__name__} among the methods has no name; give methods by "
                "name: {'mine': method, ...}"
            )
        if len(dict(named)) < len(named):
            raise DataError(
                f"the methods are {some(name for name, _ in named)}; give each a different name: "
                "{'one': layout, 'other': layout}"
            )
        methods = dict(named)
    if not methods:
        raise DataError(
            "there are no methods; give at least one: a layout, a baseline's name, columns, a "
            "classifier or an assessor"
        )
    items = evaluation.item_table
    if columns is None:
        columns = _default_columns(methods, items)
    found: dict[str, Assessor] = {}
    for name, method in methods.items():
        found[name] = _assessor(name, method, columns)
        check = getattr(found[name], "check", None)
        if check is not None:
            try:
                check(items)
            except DataError as error:
                raise DataError(f"{name}: {error}") from error
    return found


def _assessor(name: str, method: Method, columns: Sequence[str]) -> Assessor:
    """Return the assessor of a method."""
    if isinstance(method, Layout):
        return FittedLayout(method)
    if isinstance(method, str):
        if method not in _BASELINES:
            raise DataError(
                f"{name}: there is no baseline {method!r}; there are {some(_BASELINES, 9)}; give "
                "columns as a list"
            )
        made: Assessor = _BASELINES[method](columns)
        return made
    if not isinstance(method, type) and hasattr(method, "predict_proba"):
        return Classifier(columns, method)
    if isinstance(method, FittedLayout):
        return method
    if not isinstance(method, type) and isinstance(method, Assessor) and not hasattr(method, "fit"):
        return method
    if isinstance(method, Sequence):
        return Forest(method)
    raise DataError(
        f"{name}: a {type(method).__name__} is not a method; give a layout, a baseline's name, "
        "columns, a classifier with fit and predict_proba, or an object with the method predict of "
        "an Assessor"
    )


def _default_columns(methods: Mapping[str, Method], items: pd.DataFrame) -> list[str]:
    """List the layouts' meta-features, or all columns of numbers if there is no layout."""
    layouts = [layout for method in methods.values() for layout in _layouts(method)]
    if not layouts:
        return list(items.select_dtypes(["number", "bool"]).columns)
    features = [feature for layout in layouts for feature in layout.meta_features]
    return list(dict.fromkeys(name for feature in features for name in feature.columns))


def _layouts(method: object) -> list[Layout]:
    """Find the layouts of a method."""
    if isinstance(method, ChosenLayout):
        return list(method.layouts.values())
    if isinstance(method, FittedLayout):
        return [method.layout]
    return [method] if isinstance(method, Layout) else []


def properties_of(assessors: Mapping[str, Assessor]) -> list[str] | None:
    """List the properties from which methods predict; None if a method does not list them."""
    found: dict[str, None] = {}
    for assessor in assessors.values():
        columns = getattr(assessor, "columns", None)
        if isinstance(assessor, FittedLayout | ChosenLayout):
            nodes = [node for layout in _layouts(assessor) for node in layout.meta_features]
            columns = [name for node in nodes for name in node.columns]
        if columns is None:
            return None
        found |= dict.fromkeys(columns)
    return list(found) or None
