"""The real data: 536 pupils on 20 problems of subtracting fractions."""

from pathlib import Path

import pandas as pd

from ...evaluations.evaluation import Evaluation
from ..files import Files
from .layouts import SKILLS, column

FILES = Files("fraction_subtraction")


def load(folder: Path | None = None) -> Evaluation:
    """Read the real answers, and the skills that each problem needs.

    Parameters
    ----------
    folder : Path, optional
        Folder of the two files, or a folder with them in its folder ``fraction_subtraction``
        (default: the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``). They are not
        offered for download, since the source has them in a file of R.

    Returns
    -------
    Evaluation
        536 subjects and 20 items with the columns ``needed[QT1]`` to ``needed[QT8]``, 0 or 1.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    Tatsuoka (1984); data of the R package CDM, which have the licence GPL.
    """
    paths = FILES.find(folder)
    items = pd.read_csv(paths["qmatrix.csv"], index_col="item")[list(SKILLS)].rename(columns=column)
    answers = pd.read_csv(paths["responses_wide.csv"], index_col="person")
    return Evaluation.from_wide(answers.rename(index=lambda pupil: f"pupil-{pupil:03d}"), items)
