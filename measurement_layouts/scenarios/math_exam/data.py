"""The real data: 729 students on the 13 items of an exam, with attributes of the students."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ..files import Files

FILES = Files("math_exam")
ITEMS = 13
REWRITTEN = (1, 5, 6, 7, 8, 9, 11, 12)
"""Numbers of the items whose story and values differ between the two batches."""
STUDIES = {571: "bachelor", 155: "diploma"}
"""Programmes by the university's number."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes, and the properties of items and students.

    Parameters
    ----------
    folder : Path, optional
        Folder of the file, or a folder with it in its folder ``math_exam`` (default: the folder in
        the environment variable ``MEASUREMENT_LAYOUTS_DATA``). The file is not offered for
        download, since the source has it in a file of R.

    Returns
    -------
    Evaluation
        729 subjects and 13 items with the column ``rewritten`` of `items`, with 1 trial each. An
        item that was not attempted counts as a failure, as in the source. The table of subjects is
        that of `students`.

    Raises
    ------
    DataError
        When the file does not exist, or is not the published one.

    References
    ----------
    Data set MathExam14W of the R package psychotools (Zeileis, Strobl, Wickelmaier, Komboz, Kopf,
    Schneider and Debelak), which has the licence GPL.
    """
    table = pd.read_csv(FILES.find(folder)["math_exam.csv"], index_col="student")
    battery = items()
    outcomes = table[[f"solved{number}" for number in range(1, ITEMS + 1)]]
    return Evaluation.from_wide(
        outcomes.set_axis(battery.index, axis=1), battery, subjects=students(table)
    )


def items() -> pd.DataFrame:
    """List the items, and which of them were rewritten for the second batch.

    Returns
    -------
    DataFrame
        Indexed by item: ``rewritten``, 1 if story and values differ between the batches (the skill
        is the same), otherwise 0.

    Examples
    --------
    >>> int(items()["rewritten"].sum())
    8
    """
    numbers = range(1, ITEMS + 1)
    names = pd.Index([f"item-{number:02d}" for number in numbers], name="item")
    return pd.DataFrame({"rewritten": [int(number in REWRITTEN) for number in numbers]}, names)


def students(raw: pd.DataFrame) -> pd.DataFrame:
    r"""Turn attributes of students into covariates and categories.

    .. math:: z_s = (x_s - \bar x) / \operatorname{sd}(x)

    where x is the number of exercises that student s solved online before the exam; the standard
    deviation has the divisor n.

    Parameters
    ----------
    raw : DataFrame
        Columns ``tests`` (exercises solved, 0 to 26), ``gender``, ``study`` (571 or 155),
        ``semester``, ``attempt`` and ``group`` (1 or 2), indexed by student.

    Returns
    -------
    DataFrame
        Indexed by student: ``tests``, standardised; ``exercises``, as counted; ``gender``;
        ``study``, "bachelor" or "diploma"; ``semester``; ``attempt``; ``batch``, "first" or
        "second".

    Raises
    ------
    DataError
        When a student has an unknown programme or batch, or all solved the same number of
        exercises.

    Examples
    --------
    >>> raw = pd.DataFrame({"tests": [10, 20], "gender": "female", "study": [571, 155],
    ...                     "semester": 1, "attempt": 1, "group": [1, 2]}, index=["Ann", "Bea"])
    >>> students(raw)[["tests", "exercises", "study", "batch"]]
         tests  exercises     study   batch
    Ann   -1.0         10  bachelor   first
    Bea    1.0         20   diploma  second
    """
    batches = raw["group"].map({1: "first", 2: "second"})
    studies = raw["study"].map(STUDIES)
    wrong = raw.index[batches.isna() | studies.isna()]
    if len(wrong):
        raise DataError(
            f"{some(wrong)}: a student needs group 1 or 2, and study 571 or 155; correct the table "
            "of students"
        )
    spread = np.std(raw["tests"])
    if not spread > 0:
        raise DataError(
            "all students solved the same number of exercises, so that tests cannot be "
            "standardised; at least two numbers must differ"
        )
    return pd.DataFrame(
        {
            "tests": (raw["tests"] - raw["tests"].mean()) / spread,
            "exercises": raw["tests"],
            "gender": raw["gender"],
            "study": studies,
            "semester": raw["semester"],
            "attempt": raw["attempt"],
            "batch": batches,
        }
    )
