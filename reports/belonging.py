"""Checks that what is told beside a fit is about the same subjects and items."""

import numpy as np
import pandas as pd

from ..inference.data import Evaluation
from ..inference.errors import DataError
from ..inference.features import read_features
from ..inference.forecasts.forecasting import Forecast
from ..inference.results import Fit
from ..inference.tables import name_cells
from ..inference.wording import some

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
    items = [str(name) for name in observed["item"].to_numpy()]
    for kind, names, known in (
        ("item", items, evaluation.items.index),
        ("subject", fit.subjects, evaluation.trials.index),
    ):
        missing = [name for name in names if name not in known]
        if missing:
            raise DataError(
                f"the evaluation is not that of the fit: it has no {kind} {some(missing)}, and "
                f"holds {some(known)}; give the evaluation that was fitted, or leave it out"
            )
    features = read_features(fit.layout, evaluation.items.loc[items])
    for name, values in features.items():
        fitted = fit.constants[name].to_numpy()
        same = np.isclose(values, fitted, rtol=_SAME, atol=_SAME).reshape(len(items), -1)
        if not same.all():
            where = [items[row] for row in np.flatnonzero(~same.all(axis=1))]
            raise DataError(
                f"the evaluation is not that of the fit: {name} differs on {some(where)}; give the "
                "evaluation that was fitted, or leave it out"
            )
    used = observed["trials"].to_numpy() > 0
    for what in ("trials", "successes"):
        table = getattr(evaluation, what).loc[fit.subjects, items]
        differs = used & (table.to_numpy() != observed[what].to_numpy())
        if differs.any():
            raise DataError(
                f"the evaluation is not that of the fit: other {what} in {differs.sum()} cell(s): "
                f"{name_cells(pd.DataFrame(table), differs)}; give the evaluation that was fitted, "
                "or leave it out"
            )


def check_forecast(fit: Fit, forecast: Forecast) -> None:
    """Refuse a forecast of nobody in the fit.

    Raises
    ------
    DataError
        Naming the subjects.
    """
    whose = [str(name) for name in forecast.data["subject"].to_numpy()]
    if not set(whose) & set(fit.subjects):
        raise DataError(
            f"the forecast is of {some(whose)}, and the fit of {some(fit.subjects)}; give a "
            "forecast of the fit's subjects, or leave it out"
        )
