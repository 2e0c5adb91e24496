"""Checks that what is told beside a fit is about the same subjects and items."""

import numpy as np
import pandas as pd

from ..inference.data import Evaluation
from ..inference.errors import DataError
from ..inference.features import read_features
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.support import training_features
from ..inference.ladders import refuse_other_rows
from ..inference.results import Fit
from ..inference.tables import name_cells
from ..inference.wording import some
from .columns import training_items

_SAME = 1e-9  # a number may go through a text file and stay the same


def check_evaluation(fit: Fit, evaluation: Evaluation) -> None:
    """Refuse an evaluation that lacks what was fitted, or says otherwise of it.

    Items and subjects beyond those of the fit are welcome.

    Raises
    ------
    DataError
        Naming the items, subjects, meta-features or outcomes.
    """
    observed = fit.observed
    rows = [str(name) for name in observed["item"].to_numpy()]
    items, known_items = list(training_items(fit)), evaluation.item_table
    refuse_other_rows(fit.layout, evaluation.rows)
    for kind, names, known in (
        ("item", items, known_items.index),
        ("subject", fit.subjects, evaluation.trials.index),
    ):
        missing = [name for name in names if name not in known]
        if missing:
            raise DataError(
                f"the evaluation is not that of the fit: it has no {kind} {some(missing)}, and "
                f"holds {some(known)}; give the evaluation that was fitted, or leave it out"
            )
    features, fitted = read_features(fit.layout, known_items.loc[items]), training_features(fit)
    for name, values in features.items():
        same = np.isclose(values, fitted[name], rtol=_SAME, atol=_SAME).reshape(len(items), -1)
        if not same.all():
            where = [items[place] for place in np.flatnonzero(~same.all(axis=1))]
            raise DataError(
                f"the evaluation is not that of the fit: {name} differs on {some(where)}; give the "
                "evaluation that was fitted, or leave it out"
            )
    used = observed["trials"].to_numpy() > 0
    for what in ("trials", "successes"):
        table = getattr(evaluation, what).loc[fit.subjects, rows]
        differs = used & (table.to_numpy() != observed[what].to_numpy())
        if differs.any():
            raise DataError(
                f"the evaluation is not that of the fit: other {what} in {differs.sum()} cell(s): "
                f"{name_cells(pd.DataFrame(table), differs)}; give the evaluation that was fitted, "
                "or leave it out"
            )


def check_forecast(fit: Fit, forecast: Forecast) -> None:
    """Refuse a forecast of nobody in the fit, or of other outcomes.

    Raises
    ------
    DataError
        Naming the subjects or the outcomes.
    """
    rows, steps = forecast.rows, fit.layout.steps
    told = {} if rows is None else dict.fromkeys(zip(rows.outcome, rows.step, strict=True))
    own = [] if steps is None else [(name, step) for name, _, step in steps.rows]
    if list(told) != own:
        what = [
            some((" ≥ ".join(pair) for pair in pairs), 12) or "success on items"
            for pairs in (told, own)
        ]
        raise DataError(
            f"the forecast is of {what[0]}, and the fit of {what[1]}; give a forecast under the "
            "fit's layout, or leave it out"
        )
    whose = [str(name) for name in forecast.data["subject"].to_numpy()]
    if not set(whose) & set(fit.subjects):
        raise DataError(
            f"the forecast is of {some(whose)}, and the fit of {some(fit.subjects)}; give a "
            "forecast of the fit's subjects, or leave it out"
        )
