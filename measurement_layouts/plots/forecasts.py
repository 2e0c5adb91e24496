"""Forecasts of one subject's success, item by item, as rows."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from . import style
from .rows import rows


def forecast_plot(
    forecast: Forecast,
    subject: object,
    evaluation: Evaluation | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one subject's success probabilities, one row per item, the most probable at the top.

    Parameters
    ----------
    forecast : Forecast
        Forecasts.
    subject : object
        Subject to draw.
    evaluation : Evaluation, optional
        Outcomes to draw as well: open diamonds at the success rate of an item's trials, which is 0
        or 1 for a single trial.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: probability, in [0, 1]. Lines are the forecast's intervals. Hollow points
        are training items; orange points are items outside a declared range, pale ones items
        outside the range of the subject's training items. If there are more than 100 items, only
        some are named.

    Raises
    ------
    FitError
        When the subject is not in the forecast.
    DataError
        When the subject or all of the items are missing from the evaluation.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast_plot(result.forecast(aaio.battery(seed=2).head(3)), "sim-01").get_title()
    'sim-01: forecast success on 3 items'
    """
    subjects = [str(name) for name in forecast.data["subject"].to_numpy()]
    name = str(subject)
    if name not in subjects:
        raise FitError(f"not in this forecast: {name}; it has {some(subjects)}")
    chosen = forecast.data.sel(subject=name).sortby("mean", ascending=False)
    columns = ["mean", "low", "high", "extrapolated", "trained"]
    marks = pd.DataFrame({column: chosen[column].to_numpy() for column in columns})
    marks = marks.assign(row=chosen["item"].to_numpy().astype(str), hollow=marks["trained"])
    outside = marks["extrapolated"].astype(bool)
    marks["colour"] = np.where(outside, style.EXTRAPOLATED, style.INK)
    if "outside_training" in chosen:
        marks["pale"] = chosen["outside_training"].to_numpy() & ~outside
    if evaluation is not None:
        marks["other"] = _rates(evaluation, name, marks["row"].tolist())
    (panel,) = rows(
        marks,
        {
            "mean": f"forecast, {style.percent(forecast.prob)} interval",
            "hollow": "hollow: training item",
            "pale": "pale: outside the training items",
            "other": "observed success rate",
        },
        ax=ax,
        width=4.4,
        labels={"": "probability of success"},
        titles={"": f"{name}: forecast success on {many(len(marks), 'item')}"},
        limits={"": (-0.04, 1.04)},
        notes=["orange: outside a declared range"] * bool(outside.any()),
    )
    return panel  # type: ignore[no-any-return]


def _rates(evaluation: Evaluation, subject: str, items: list[str]) -> np.ndarray:
    """Return a subject's success rates on items, NaN where it did not try one."""
    if subject not in evaluation.subjects:
        raise DataError(
            f"unknown subject {subject}; the evaluation has {some(evaluation.subjects)}"
        )
    if not evaluation.items.index.isin(items).any():
        raise DataError(
            f"the evaluation has none of the forecast items {some(items)}; it has "
            f"{some(evaluation.items.index)}; give both the same names"
        )
    successes = evaluation.successes.loc[subject].reindex(items).to_numpy(dtype=float)
    trials = evaluation.attempts.loc[subject].reindex(items).to_numpy(dtype=float)
    rates = np.full(len(items), np.nan)
    np.divide(successes, trials, out=rates, where=trials > 0)
    return rates
