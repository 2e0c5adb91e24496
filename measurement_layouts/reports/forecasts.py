"""Forecasts of new items in a report: for all subjects, for one, and how they came true."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .. import plots
from ..common.digits import fixed, in_brackets, significant
from ..common.errors import DataError
from ..common.messages import many
from ..evaluations.steps import rows_per_item
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.summarising import SUMMARY
from ..validation.prediction.score import score_forecast
from .contents import Contents
from .parts import Part, Table
from .pictures import picture

_MOST = 60  # rows of a subject


def forecast_parts(contents: Contents, forecast: Forecast) -> Iterator[Part]:
    """State where forecasts are, how far they are extrapolated, and how they came true."""
    data, first = forecast.data, slice(None, None, rows_per_item(contents.fit.layout))
    outside = int(data["extrapolated"].to_numpy()[first].sum())
    text = f"Forecasts of {many(len(forecast.items), 'item')}, {outside} of them outside a declared"
    yield f"{text} range, with {forecast.prob:.0%} intervals in the sections of the subjects."
    names = [str(name) for name in data["subject"].to_numpy()]
    means = [significant(_table(contents, forecast, name)["mean"].mean()) for name in names]
    head, columns = ["Subject", "Mean forecast"], [names, means]
    if forecast.training is not None:
        flags = data["outside_training"].to_numpy()[:, first]
        head.append("Items outside training")
        columns.append([str(count) for count in flags.sum(axis=1)])
        beyond = many(int(flags.any(axis=0).sum()), "item")
        yield f"Outside the training items of at least one subject: {beyond}."
    rows = [list(row) for row in zip(*columns, strict=True)]
    yield Table("Forecasts by subject", head, rows)
    yield from _scores(contents, forecast)


def _scores(contents: Contents, forecast: Forecast) -> Iterator[Part]:
    """Score forecasts of what was not fitted, if its outcomes are known."""
    evaluation, data = contents.evaluation, forecast.data
    new = Forecast(data.isel(item=~data["trained"].any("subject")), forecast.prob)
    try:
        if evaluation is None:
            raise DataError("no outcomes")
        scores = score_forecast(new, evaluation)
    except DataError:  # there are no outcomes of these
        yield "No outcomes are known that were not fitted, so these forecasts are not scored."
        return
    names = {"brier": "Brier score", "auroc": "AUROC", "ece": "Calibration error"}
    yield {text: fixed(scores[name].mean(), 3) for name, text in names.items()}
    yield (
        "Means over subjects, on outcomes that were not fitted. Brier score and calibration error: "
        "lower is better. AUROC: 0.5 is guessing, 1 is perfect."
    )
    yield picture(
        lambda axes: plots.calibration_plot(new, evaluation, ax=axes[0]),
        "Observed success against mean forecast, in bins: on the diagonal, forecasts come true.",
        "calibration-",
        (5.0, 5.0),
    )


def forecasts_of(contents: Contents, forecast: Forecast, name: str) -> Table:
    """Tabulate a subject's forecasts, the hardest item first; of many items, evenly spaced ones."""
    table = _table(contents, forecast, name).sort_values("mean", kind="stable")
    places = np.linspace(0, len(table) - 1, min(len(table), _MOST)).round().astype(int)
    shown = table.iloc[places]
    items = shown["item"].unique()
    remarks = dict.fromkeys(items, "")
    if forecast.training is not None:
        remarks = dict(zip(items, forecast.training.remarks([name], items)[0], strict=True))
    rows = [
        [
            str(row["item"]),
            row["outcome"],
            significant(row["mean"], row["high"] - row["low"]),
            in_brackets(row["low"], row["high"]),
            contents.observed(name, row["item"], row["outcome"]),
            "; ".join(filter(None, [row["flags"], remarks[row["item"]]])),
        ]
        for row in shown.to_dict("records")
    ]
    head = ["Item", "Outcome", "Forecast", f"{forecast.prob:.0%} interval", "Observed", "Remark"]
    few = f"{len(shown)} of {len(table)}, evenly spaced" if len(shown) < len(table) else "all"
    return Table(f"Forecasts from the hardest to the easiest ({few})", head, rows)


def _table(contents: Contents, forecast: Forecast, name: str) -> pd.DataFrame:
    """Tabulate forecasts of a subject, as fractions of the highest outcome."""
    first = slice(None, None, rows_per_item(contents.fit.layout))
    data, outcomes = forecast.data.sel(subject=name), contents.fit.layout.outcomes
    beyond, fitted = (data[flag].to_numpy()[first].tolist() for flag in ("extrapolated", "trained"))
    flags = [
        "; ".join(["outside a declared range"] * far + ["was fitted"] * known)
        for far, known in zip(beyond, fitted, strict=True)
    ]
    numbers = list(SUMMARY)
    if forecast.expected is None:
        table = data[numbers].to_dataframe()[numbers].rename_axis("item").reset_index()
        table["outcome"] = outcomes[0].name
    else:
        table = forecast.expected[forecast.expected["subject"] == name].copy()
        highest = table["outcome"].map({node.name: node.range.high for node in outcomes})
        table[numbers] = table[numbers].div(highest, axis=0)
    return table.assign(flags=table["item"].map(dict(zip(forecast.items, flags, strict=True))))
