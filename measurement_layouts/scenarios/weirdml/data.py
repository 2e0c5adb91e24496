"""Counts of runs, hours and published horizons of WeirdML, and counts given the threshold below."""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import name_cells, need_columns
from ..files import Files

_COUNTS = "counts_model_task_threshold.csv"
_ITEMS = "item_features_task_threshold.csv"
_HORIZONS = {True: "reference_horizons_cal.csv", False: "reference_horizons_no_cal.csv"}
FILES = Files("weirdml")
"""Tables made from github.com/htihle/weirdml-time-horizons at commit 965c7f1. That repository does
not contain these files, so that they cannot be downloaded from there."""
SINCE = "2025-01-01"
"""Day from which `dated` and `trend_layout` count years."""
THRESHOLDS = (0.25, 0.5, 0.7, 0.9, 0.95)
TASKS = (
    *("blunders_easy", "blunders_hard", "chess_winners", "classify_sentences"),
    *("classify_shuffled", "digits_generalize", "digits_unsup", "insert_patches"),
    *("kolmo_shuffle", "number_patterns", "shapes_easy", "shapes_hard", "shapes_variable"),
    *("splash_easy", "splash_hard", "xor_easy", "xor_hard"),
)
CALIBRATION = {0.25: -1.03, 0.5: -1.179, 0.7: -1.659, 0.9: -1.748, 0.95: -2.032}
"""Mean natural logarithm of one person's hours divided by the estimated ones, by threshold, for
three tasks (the source's ``calibration.json``)."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the numbers of runs of each model that reached each threshold of each task.

    Parameters
    ----------
    folder : Path, optional
        Folder of the four files, or a folder with them in its folder ``weirdml`` (default: the
        folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``).

    Returns
    -------
    Evaluation
        87 subjects and 85 items; trials are runs, and successes are runs that reached the
        threshold. Properties: ``task``; ``threshold`` of the accuracy; ``hours`` that people would
        need, as estimated by language models (geometric mean over ``estimators`` of them);
        ``logHours``, the same in doublings of an hour; and the columns that `with_tasks` and
        `with_nesting` add.

    Raises
    ------
    DataError
        When a file does not exist, or is not the known one.

    References
    ----------
    Ihle (2026), WeirdML time horizons; the data have the MIT licence.
    """
    paths = FILES.find(folder)
    items = pd.read_csv(paths[_ITEMS])
    counts = pd.read_csv(paths[_COUNTS])
    items.index = pd.Index(_names(items), name="item")
    counts = counts.assign(item=_names(counts))
    successes, trials = (
        counts.pivot(index="model", columns="item", values=what)[items.index] for what in "kn"
    )
    hours = items["geomean_hours"]
    properties = {
        "task": items["task"],
        "threshold": items["thr"],
        "hours": hours,
        "logHours": np.log2(hours),
        "estimators": items["n_est"],
    }
    return Evaluation(with_nesting(with_tasks(pd.DataFrame(properties))), successes, trials)


def _names(table: pd.DataFrame) -> pd.Series:
    return table["task"] + " " + table["threshold"]


def with_tasks(items: pd.DataFrame) -> pd.DataFrame:
    """Add ``isTask[blunders_easy]`` and so on, which are 1 for the item's ``task`` and 0 otherwise.

    Examples
    --------
    >>> with_tasks(pd.DataFrame({"task": ["xor_easy"]}, ["a"])).loc["a", "isTask[xor_easy]"]
    np.int64(1)
    """
    need_columns(items.columns, ["task"], "the items have")
    flags = {f"isTask[{task}]": (items["task"] == task).astype("int64") for task in TASKS}
    return pd.concat([items, pd.DataFrame(flags, items.index)], axis=1)


def with_nesting(items: pd.DataFrame) -> pd.DataFrame:
    """Add the distance of each threshold from the next lower threshold of the same task.

    Parameters
    ----------
    items : DataFrame
        Items with ``task``, ``threshold`` and ``logHours``.

    Returns
    -------
    DataFrame
        Items with ``nested``, 0 for a task's lowest threshold and 1 otherwise; and ``step``, the
        distance from the threshold below in doublings of hours, undefined for the lowest.

    Examples
    --------
    >>> items = {"task": ["xor", "xor"], "threshold": [0.5, 0.25], "logHours": [3.0, 2.0]}
    >>> with_nesting(pd.DataFrame(items))[["nested", "step"]].to_numpy().tolist()
    [[1.0, 1.0], [0.0, nan]]
    """
    need_columns(items.columns, ["task", "threshold", "logHours"], "the items have")
    step = items.sort_values("threshold").groupby("task")["logHours"].diff().reindex(items.index)
    return items.assign(nested=step.notna().astype("int64"), step=step)


def calibrated(evaluation: Evaluation) -> Evaluation:
    """Correct the estimated hours by those of one person, for each threshold.

    People seem to need a third to an eighth of the hours that language models estimate.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `load`.
    """
    items = evaluation.items.drop(columns=["nested", "step"])
    hours = items["hours"] * np.exp(items["threshold"].map(CALIBRATION))
    corrected = with_nesting(items.assign(hours=hours, logHours=np.log2(hours)))
    own, people = (evaluation.successes, evaluation.trials), evaluation.subject_table
    return Evaluation(corrected, *own, subjects=people)


def released(folder: Path | None = None) -> pd.Series:
    """Read the models' dates of release; the folder is that of `load`."""
    counts = pd.read_csv(FILES.find(folder)[_COUNTS], parse_dates=["release_date"])
    return counts.groupby("model")["release_date"].first().rename("released")


def dated(evaluation: Evaluation, dates: pd.Series) -> Evaluation:
    """Add the models' dates of release, in years since 2025, for `trend_layout`.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation from `load` or `simulated_cohort`.
    dates : Series
        Dates, indexed by model; models without a date are left out.

    Returns
    -------
    Evaluation
        Evaluation with the property of subjects ``released``, and subjects in the order of release.

    Raises
    ------
    DataError
        When no model has a date.

    Examples
    --------
    >>> from measurement_layouts.scenarios.weirdml import release_dates, simulated_cohort
    >>> dated(simulated_cohort().evaluation, release_dates()).subject_table.tail(1)
             released
    subject
    sim-24   0.999316
    """
    released_on = pd.to_datetime(
        dates[dates.index.isin(evaluation.subjects)].dropna()
    ).sort_values()
    if released_on.empty:
        raise DataError(
            f"dates are of {some(dates.index)}, and outcomes of {some(evaluation.subjects)}; index "
            "dates by model"
        )
    years = (released_on - pd.Timestamp(SINCE)).dt.days / 365.25
    names = [str(name) for name in released_on.index]
    items, counts = (
        evaluation.items,
        (evaluation.successes.loc[names], evaluation.trials.loc[names]),
    )
    return Evaluation(items, *counts, subjects=years.set_axis(names).to_frame("released"))


def published_horizons(
    folder: Path | None = None, *, hours: Literal["estimated", "calibrated"] = "estimated"
) -> pd.DataFrame:
    """Read the published horizons of ten models.

    Each horizon is the maximum of a logistic likelihood with one slope, in which every run,
    threshold and estimator of hours is a data point; intervals are from a bootstrap over tasks.

    Parameters
    ----------
    folder : Path, optional
        As in `load`.
    hours : {"estimated", "calibrated"}
        Human hours as estimated, or corrected as in `calibrated`.

    Returns
    -------
    DataFrame
        Indexed by model, in the order of release: ``released``; ``hours``, ``low``, ``high``
        (median, 2.5 and 97.5 %); ``slope`` per doubling of hours; ``points`` and ``successes``, the
        numbers of data points and of successes among them.
    """
    table = pd.read_csv(
        FILES.find(folder)[_HORIZONS[hours == "calibrated"]],
        index_col=0,
        parse_dates=["release_date"],
    )
    names = {
        "release_date": "released",
        "x50_hours_q50": "hours",
        "x50_hours_q025": "low",
        "x50_hours_q975": "high",
        "n_data": "points",
        "n_success": "successes",
    }
    chosen = table[list(names)].rename(columns=names).rename_axis("subject")
    chosen.insert(4, "slope", -np.log10(2) * table["beta_q50"])
    return chosen.sort_values("released")


def conditional_counts(evaluation: Evaluation) -> Evaluation:
    """Compute conditional counts: the trials of a threshold are runs that reached the one below.

    A run that reached 50 % has also reached 25 %. If it is counted at every threshold, it looks
    like several independent runs, and intervals are too short. Here the trials of a threshold are
    the successes of the next lower one of the same task. The likelihood of these counts is that of
    the runs.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation whose trials are runs, and whose successes are runs that reached the item's
        threshold. The items have ``task`` and ``threshold``.

    Returns
    -------
    Evaluation
        The same items and successes, with fewer trials.

    Raises
    ------
    DataError
        When a column is missing, two items share task and threshold, thresholds of one task have
        different numbers of runs, or more runs reached a threshold than the one below.

    Examples
    --------
    >>> items = pd.DataFrame({"task": "xor", "threshold": [0.25, 0.5]}, ["low", "high"])
    >>> runs = pd.DataFrame({"low": [5], "high": [5]}, ["Ann"])
    >>> counts = Evaluation(items, pd.DataFrame({"low": [4], "high": [1]}, ["Ann"]), runs)
    >>> conditional_counts(counts).trials.loc["Ann"].tolist()
    [5, 4]
    """
    items = evaluation.items
    need_columns(items.columns, ["task", "threshold"], "the items have")
    twice = items[items.duplicated(["task", "threshold"])]
    if len(twice):
        raise DataError(
            f"several items of {twice['task'].iloc[0]} have the threshold "
            f"{twice['threshold'].iloc[0]}; keep one of them"
        )
    trials = evaluation.trials.copy()
    for _, part in items.sort_values("threshold").groupby("task"):
        names = list(part.index)
        runs, reached = evaluation.trials[names], evaluation.successes[names]
        _check(runs.ne(runs[names[0]], axis=0), runs, "runs differ between thresholds of one task")
        rising = reached.diff(axis=1).gt(0)
        _check(rising, reached, "more runs reached a threshold than the one below it")
        trials[names[1:]] = reached[names[:-1]].to_numpy()
    return Evaluation(items, evaluation.successes, trials, subjects=evaluation.subject_table)


def _check(wrong: pd.DataFrame, counts: pd.DataFrame, what: str) -> None:
    if wrong.to_numpy().any():
        raise DataError(
            f"{what}: {name_cells(counts, wrong.to_numpy())}; give counts of the same runs at "
            "every threshold"
        )
