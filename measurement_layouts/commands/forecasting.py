"""The commands ``forecast`` and ``score``: forecasts of new items, and their scores."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from ..common.errors import DataError
from ..common.files import csv_text, write_text
from ..common.progress import waiting
from . import arguments
from .fit_folder import open_fit
from .saying import say

if TYPE_CHECKING:
    from ..inference.forecasts.forecasting import Forecast


def add(commands: arguments.Commands) -> None:
    """Add the commands."""
    forecast = arguments.add_command(
        commands,
        "forecast",
        _forecast,
        "Forecast every subject's success on new items, as CSV (in a terminal, as a table).",
        example="forecast fitted --items new.csv --out forecasts.csv",
    )
    arguments.takes_fit(forecast)
    arguments.takes_path(
        forecast,
        "--items",
        "FILE",
        "CSV, Parquet or JSON lines: a column `item` and one per property of the layout",
        required=True,
    )
    arguments.takes_subjects(forecast)
    arguments.takes_people(forecast, "the fit's own subjects; new ones if subjects share something")
    arguments.takes_path(
        forecast, "--out", "FILE.csv", "CSV file to write (default: standard output)"
    )
    arguments.takes_overwrite(forecast)

    score = arguments.add_command(
        commands,
        "score",
        _score,
        "Score forecasts against outcomes that the fit has not seen.",
        example="score fitted --items new.csv --outcomes new_outcomes.csv",
    )
    arguments.takes_fit(score)
    arguments.takes_data(score)
    arguments.takes_subjects(score)
    score.add_argument(
        "--training-items",
        action="store_true",
        help="also score the items of the fit; such scores are too good",
    )
    score.add_argument("--json", action="store_true", help="print one JSON object")


def _forecast(chosen: argparse.Namespace) -> int:
    arguments.refuse_existing([chosen.out], chosen.overwrite)
    with waiting("forecasting the items", show=True):
        forecast = _forecast_of(chosen)
        table = forecast.to_frame()
    told = repr(forecast).removeprefix("<Forecast: ").removesuffix(">")
    if chosen.out is not None:
        write_text(chosen.out, csv_text(table))
        say(f"{chosen.out} has a row for each subject and item: {told}", error=True)
    elif sys.stdout is not None and sys.stdout.isatty():
        from .printing import print_forecast

        print_forecast(forecast, table)
        say(f"forecast: {told}; --out writes all of it as CSV", error=True)
    else:
        print(csv_text(table), end="")
        say(f"forecast: {told}", error=True)
    return 0


def _forecast_of(chosen: argparse.Namespace) -> "Forecast":
    """Forecast the items for the fit's subjects, or for those of a table."""
    from .tables import read_items, read_people

    fit, who = open_fit(chosen.fit, chosen.layout), chosen.subjects
    if chosen.subject_table is not None:
        if chosen.subjects:
            raise DataError("--subjects and --subject-table are both given; leave one of them out")
        if not fit.layout.joint:
            raise DataError(
                f"--subject-table describes new subjects, but layout {fit.layout.name!r} fits each "
                "subject alone; name fitted ones, as --subjects"
            )
        who = read_people(chosen.subject_table)
    return fit.forecast(read_items(chosen.items), subjects=who)


def _score(chosen: argparse.Namespace) -> int:
    with waiting("scoring the forecasts", show=True):
        from ..validation.prediction.score import score_forecast
        from .printing import print_forecast_scores
        from .tables import read_evaluation

        fit = open_fit(chosen.fit, chosen.layout)
        evaluation = read_evaluation(fit.layout, arguments.data_of(chosen))
        forecast = fit.forecast(evaluation.item_table, subjects=chosen.subjects)
        scores = score_forecast(forecast, evaluation, training_items=chosen.training_items)
    if chosen.json:
        rows = json.loads(scores.reset_index().to_json(orient="records", double_precision=15))
        print(json.dumps({"layout": fit.layout.name, "scores": rows}, allow_nan=False))
    else:
        print_forecast_scores(fit, scores)
    return 0
