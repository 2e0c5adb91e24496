"""Checks that an evaluation, a forecast and explanations belong to the fit of a report."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation
from ..evaluations.steps import refuse_other_rows
from ..inference.explanations.explanation import Explanation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.training import features_of_items, names_of_items
from ..inference.given import refuse_no_forecast
from ..inference.model.features import read_features

_EXPLAIN = "give explanations, as in explain=[fit.explain(item, subject)]"

_SAME = 1e-9  # relative and absolute; numbers that were written to a text file stay the same


def check_evaluation(fit: Fit, evaluation: Evaluation) -> None:
    """Refuse an evaluation whose data differ from those of the fit.

    The evaluation may have further items and subjects.

    Raises
    ------
    DataError
        When an item or a subject of the fit is missing, or a meta-feature or an outcome differs.
        The error names them.
    """
    refuse_no_evaluation(evaluation)
    items, table, people = names_of_items(fit), evaluation.item_table, evaluation.subject_table
    refuse_other_rows(fit.layout, evaluation.rows)
    for kind, names, index in (
        ("item", items, table.index),
        ("subject", fit.subjects, people.index),
    ):
        missing = [name for name in names if name not in index]
        if missing:
            raise _other_evaluation(f"it has no {kind} {some(missing)}, but {some(index)}")
    fitted = features_of_items(fit)
    for name, values in read_features(fit.layout, table.loc[items]).items():
        same = np.isclose(values, fitted[name], rtol=_SAME, atol=_SAME).reshape(len(items), -1)
        if not same.all():
            raise _other_evaluation(f"{name} differs on {some(items[~same.all(axis=1)])}")
    cells = fit.coded
    who = people.index.get_indexer(pd.Index(fit.subjects))[cells.subject]
    rows = evaluation.items.index.get_indexer(fit.item_names)[cells.item]
    counts = dict(zip(("successes", "trials"), evaluation.coded.at(who, rows), strict=True))
    for what in ("trials", "successes"):
        differs = counts[what] != getattr(cells, what)
        if differs.any():
            frame = cells.take(differs).frame(pd.Index(fit.subjects), fit.item_names)
            pairs = zip(frame["subject"], frame["item"], counts[what][differs], strict=True)
            listed = some(f"{subject} on {item}: {count}" for subject, item, count in pairs)
            raise _other_evaluation(f"{what} differ in {differs.sum()} cell(s): {listed}")


def _other_evaluation(why: str) -> DataError:
    return DataError(
        f"the evaluation is not that of the fit: {why}; give the evaluation that was fitted, or "
        "leave it out"
    )


def check_explanations(fit: Fit, explanations: object) -> tuple[Explanation, ...]:
    """Refuse values that are not explanations, and explanations of other subjects.

    Raises
    ------
    DataError
        When there is such a value. The error names its type or its subject.
    """
    if not isinstance(explanations, Iterable):
        raise DataError(f"explain: this is {kind_of(explanations)}, not a list; {_EXPLAIN}")
    listed = tuple(explanations)
    for one in listed:
        if not isinstance(one, Explanation):
            raise DataError(f"explain= contains {kind_of(one)}; {_EXPLAIN}")
    strangers = [one.subject for one in listed if one.subject not in fit.subjects]
    if strangers:
        raise DataError(
            f"explain= explains forecasts of {some(strangers)}, and the fit is of "
            f"{some(fit.subjects)}; give explanations of the fit's subjects"
        )
    return listed


def check_forecast(fit: Fit, forecast: Forecast) -> None:
    """Refuse a forecast without any subject of the fit, or of other outcomes.

    Raises
    ------
    DataError
        When the forecast is such. The error names the subjects or the outcomes.
    """
    refuse_no_forecast(forecast)
    rows, steps = forecast.rows, fit.layout.steps
    theirs = [] if rows is None else [*dict.fromkeys(zip(rows.outcome, rows.step, strict=True))]
    ours = [] if steps is None else [(name, step) for name, _, step in steps.rows]
    if theirs != ours:
        what = [
            some((" ≥ ".join(pair) for pair in pairs), 12) or "success on items"
            for pairs in (theirs, ours)
        ]
        raise DataError(
            f"the forecast is of {what[0]}, and the fit of {what[1]}; give a forecast under the "
            "fit's layout, or leave it out"
        )
    names = [str(name) for name in forecast.data["subject"].to_numpy()]
    if not set(names) & set(fit.subjects):
        raise DataError(
            f"the forecast is of {some(names)}, and the fit of {some(fit.subjects)}; give a "
            "forecast of the fit's subjects, or leave it out"
        )
