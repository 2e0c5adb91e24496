"""Cross-validation of layouts, baselines and other assessors on the same outcomes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import joblib
import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import some
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...layouts import Layout
from .assessor import Assessor, predicted
from .estimators import Estimator
from .layouts import FittedLayout
from .result import STATUS, CrossValidation
from .shuffled import Shuffled
from .splits import Fold, Split, drawn, read_split

SHUFFLED = "shuffled"
"""Name of the control: the first layout, fitted to outcomes shuffled within each subject."""

type Method = Assessor | Layout | str | Any

_OUTCOME = ["subject", "item", "successes", "trials", "steps"]


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
        - ``"aggregate"``, ``"logistic"``, ``"forest"``, ``"rasch"`` or ``"explanatory"``, for the
          `Estimator` of this name with `columns`;
        - ``"shuffled"``, for the first layout, `Shuffled`: a negative control, which learns from
          outcomes shuffled among items within each subject;
        - a classifier of scikit-learn's kind, for an `Estimator` with `columns`; or
        - an object with the method `predict` of an `Assessor`, such as an `Estimator`, a
          `FittedLayout`, a `ChosenLayout` or a `Shuffled`.

        In a sequence, layouts keep their own names, and baselines have the names above.
    evaluation : Evaluation
        Items and outcomes of any kind. For several outcomes, grades or scores, each step is
        predicted.
    split : Split, splitter, or {"items", "cells", "subjects"}
        Held-out outcomes: `Items`, `Cells`, `Subjects`, `Groups`, `Given` or another object with
        the method `draw` of a `Split`. A text means a fifth of these, at random; a splitter of
        scikit-learn, such as ``KFold(5)``, splits items.
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
        Whether to show the number of fits done, one for each method and fold, and the time left.

    Returns
    -------
    CrossValidation
        Predictions, their scores, and the convergence of the fits.

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
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=200), "hour": rng.normal(size=200)})
    >>> outcomes = pd.DataFrame([rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))], ["Ann"])
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> held = cross_validate(["aggregate", "logistic"], evaluation, progressbar=False)
    >>> held.summary()[["mean", "subjects"]].round(2)
               mean  subjects
    method
    aggregate  0.25         1
    logistic   0.16         1

    On other hours than those trained on:

    >>> from measurement_layouts.validation.prediction.splits import Given
    >>> later = Given(train="hour <= 0", test="hour > 0")
    >>> held = cross_validate(["aggregate", "logistic"], evaluation, split=later,
    ...                       progressbar=False)
    >>> held.differences()[["brier", "brier_difference"]].round(2)
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
    tables, diagnostics = [], {}
    fits, work = len(plan) * len(assessors), fits_of(plan, evaluation, assessors)
    with nullcontext() if n_jobs is None else joblib.parallel_config(n_jobs=n_jobs):
        for repeat, number, training, cells, name in track(work, fits, progressbar, what="fits"):
            chances, status = predicted(name, assessors[name], training, cells, seed + repeat)
            table = cells[_OUTCOME].assign(repeat=repeat, fold=number, method=name)
            tables.append(table.assign(probability=chances))
            if status is not None:
                diagnostics[name, repeat, number] = status
    predictions = pd.concat(tables).rename_axis("row")
    predictions = predictions.sort_values(["repeat", "row"], kind="stable", ignore_index=True)
    if evaluation.rows is None:
        predictions = predictions.drop(columns="steps")
    convergence = pd.DataFrame(columns=STATUS)
    if diagnostics:
        convergence = pd.concat(diagnostics, names=STATUS[:3]).reset_index()
    return CrossValidation(
        predictions,
        evaluation.success_rates(),
        convergence,
        constant=[name for name, one in assessors.items() if getattr(one, "constant", False)],
        split=repr(split),
        resamples=resamples,
        prob=prob,
        seed=seed,
    )


def fits_of(
    plan: Sequence[tuple[int, int, Fold]], evaluation: Evaluation, names: Iterable[str]
) -> Iterator[tuple[int, int, Evaluation, pd.DataFrame, str]]:
    """Yield the repeat, number, training and held-out outcomes of folds, and a method's name."""
    for repeat, number, fold in plan:
        training, cells = fold.training(evaluation), fold.held_out(evaluation)
        for name in names:
            yield repeat, number, training, cells, name


def read_methods(
    methods: Mapping[str, Method] | Sequence[Layout | str],
    evaluation: Evaluation,
    columns: Sequence[str] | None,
) -> dict[str, Assessor]:
    """Return the assessors of all methods; errors are raised before the first fold."""
    if not isinstance(methods, Mapping):
        remedy = "give the methods in a list, as in [layout, 'aggregate'], or by name"
        methods = [methods] if isinstance(methods, str) else methods
        refuse_other("methods", methods, Iterable, "a list", remedy)
        names = [one.name if isinstance(one, Layout) else one for one in methods]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise DataError(
                f"the methods are {some(map(str, names))}; give each a name of its own: "
                "{'one': layout, 'other': method}"
            )
        methods = dict(zip(names, methods, strict=True))
    if not methods:
        raise DataError("there are no methods; give at least one, such as a layout or 'aggregate'")
    items = evaluation.item_table
    assessors: dict[str, Any] = {
        name: FittedLayout(method) if isinstance(method, Layout) else method
        for name, method in methods.items()
    }
    layouts = [
        one
        for one in assessors.values()
        if isinstance(one, FittedLayout) or hasattr(one, "candidates")
    ]
    if columns is None:
        every = [name for one in layouts for name in one.columns]
        numbers = items.select_dtypes(["number", "bool"]).columns
        columns = list(dict.fromkeys(every) if layouts else numbers)
    for name, method in assessors.items():
        try:
            if isinstance(method, str) and method == SHUFFLED:
                if not layouts:
                    raise DataError(
                        "there is no layout to shuffle the outcomes for; give one as well, or "
                        "Shuffled(method)"
                    )
                method = Shuffled(layouts[0])
            elif isinstance(method, str) or hasattr(method, "predict_proba"):
                method = Estimator(method, columns)
            if hasattr(method, "fit") or not isinstance(method, Assessor):
                raise DataError(
                    f"a {type(method).__name__} is not a method; give a layout, a baseline's name, "
                    "a classifier, or an object with the method predict of an Assessor"
                )
            if hasattr(method, "check"):
                method.check(items)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
        assessors[name] = method
    return assessors
