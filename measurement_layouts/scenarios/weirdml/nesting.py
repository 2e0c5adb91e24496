"""Conditional counts: runs that reached a threshold among those that reached the one below."""

import pandas as pd

from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import name_cells, need_columns


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
