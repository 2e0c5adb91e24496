"""Labelled items and real outcomes: a table of a battery, and twelve models on six benchmarks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import whole
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import name_cells, need_columns
from ..files import Files
from .scales import BENCHMARKS, DEMANDS, MODELS, UNGUESSABILITY

ITEM = "instance_id"
"""Column of a battery's table with the names of its items."""

_KINDS = ("capabilities", "outcomes")
FILES = Files("adele_labelled")


def load(folder: Path | None = None) -> Evaluation:
    """Read the labelled items of six benchmarks and the real outcomes of twelve models.

    Parameters
    ----------
    folder : Path, optional
        Folder of the twelve files, or a folder with them in its folder ``adele_labelled`` (default:
        the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``).

    Returns
    -------
    Evaluation
        12 of the paper's 15 subjects and 3,328 of its items, with ``demand[AS]`` and so on in
        levels of 0 to 5, ``unguessability`` in per cent, ``benchmark`` and ``task``. The name of an
        item is its question's identifier, after the benchmark if two benchmarks have the same
        identifier.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    General scales paper, Tables 2 and 11; the data have the MIT licence.
    """
    paths = FILES.find(folder)
    benchmarks = [_benchmark(short, paths) for short in BENCHMARKS]
    items = pd.concat([labels for labels, _ in benchmarks], keys=BENCHMARKS.values())
    outcomes = pd.concat([answers for _, answers in benchmarks])
    benchmark, item = (items.index.get_level_values(level) for level in (0, 1))
    names = np.where(item.duplicated(keep=False), benchmark + ": " + item, item)
    return Evaluation.from_wide(outcomes.set_axis(names).T, items.set_axis(names))


def read_battery(table: pd.DataFrame, subjects: Sequence[str], *, highest: int = 5) -> Evaluation:
    """Read a battery in the published format, from ``pd.read_csv`` or made by hand.

    Parameters
    ----------
    table : DataFrame
        One row per item. Columns: ``instance_id``, ``benchmark``, ``task``, ``UG`` (unguessability,
        0 to 100), the 18 demands by their codes (``AS`` to ``VO``, whole levels from 0), and one
        column of 0/1 outcomes per subject, empty if it did not answer. Other columns, such as the
        question's text, are left out.
    subjects : sequence of str
        Columns of outcomes, which become the names of the subjects.
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    Evaluation
        Evaluation with the columns described in `load`.

    Raises
    ------
    DataError
        When a column is missing, an identifier repeats, or a cell is not a level, a percentage or
        an outcome.
    FitError
        When `highest` is not a whole number of at least 1.

    Notes
    -----
    The released battery has all columns except the outcomes, which can be joined by
    ``instance_id``.

    References
    ----------
    General scales paper, Tables 1 and 11.

    Examples
    --------
    >>> from measurement_layouts.scenarios.adele.scales import DEMANDS
    >>> row = {"instance_id": "SAT-1", "benchmark": "SAT", "task": "SAT-Math", "UG": 75.0, "Ann": 1}
    >>> read_battery(pd.DataFrame([row | dict.fromkeys(DEMANDS, 2)]), subjects=["Ann"])
    <Evaluation: 1 subject, 1 item, 1 trial, properties demand[AS], demand[CEc], ... and 9 more>
    """
    need_columns(table, (ITEM, "benchmark", "task", *subjects), "the battery has")
    indexed = table.set_index(ITEM)
    places = {name: indexed[name] for name in ("benchmark", "task")}
    items = properties(indexed, highest).assign(**places)
    return Evaluation.from_wide(indexed[list(subjects)].T, items)


def properties(table: pd.DataFrame, highest: int = 5) -> pd.DataFrame:
    """Rename labelled columns to the names in layouts, and check their values.

    Parameters
    ----------
    table : DataFrame
        Labelled items, indexed by name, with the 18 codes and ``UG`` among the columns.
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    DataFrame
        ``demand[AS]`` and so on, and ``unguessability``.

    Raises
    ------
    DataError
        When a column is missing, a demand is not a whole level of 0 to `highest`, or an
        unguessability is not between 0 and 100.
    FitError
        When `highest` is not a whole number of at least 1.

    Examples
    --------
    >>> row = dict.fromkeys(DEMANDS, 3) | {"UG": 80}
    >>> properties(pd.DataFrame([row], index=["a"]))[["demand[VO]", "unguessability"]]
       demand[VO]  unguessability
    a           3            80.0
    """
    need_columns(table, (*DEMANDS, UNGUESSABILITY), "the labelled items have")
    columns = table[[*DEMANDS, UNGUESSABILITY]]
    numbers: pd.DataFrame = columns.apply(pd.to_numeric, errors="coerce")
    right = numbers.isin(range(whole("highest", highest, 1) + 1))
    right[UNGUESSABILITY] = numbers[UNGUESSABILITY].between(0, 100)
    if not right.all(axis=None):
        raise DataError(
            f"cells of the labels: {name_cells(columns, ~right.to_numpy())}; give whole levels of "
            f"0 to {highest}, and percentages of 0 to 100 for {UNGUESSABILITY}"
        )
    numbers = numbers.astype(dict.fromkeys(DEMANDS, "int64") | {UNGUESSABILITY: float})
    numbers.columns = pd.Index([*(f"demand[{code}]" for code in DEMANDS), "unguessability"])
    return numbers


def _benchmark(short: str, paths: dict[str, Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read one benchmark's properties, and its outcomes in the same order."""
    labelled, answered = (
        pd.read_csv(paths[f"{short}_{kind}.csv"], index_col="question_id") for kind in _KINDS
    )
    benchmark = BENCHMARKS[short]
    tasks = [name.rpartition("-")[0].removeprefix(f"{benchmark}-") for name in labelled.index]
    outcomes = answered.rename(columns=lambda name: MODELS[name.removesuffix(f"_{short}_outcome")])
    return (
        properties(labelled).assign(benchmark=benchmark, task=tasks),
        outcomes.loc[labelled.index, list(MODELS.values())],
    )
