"""The competition's data: 68 agents, pass or fail on 69 tasks."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ..files import Files

COMMIT = "ee3d90e2f630c0fbce5d0d62937e7a7b075473e3"
ADDRESS = f"https://raw.githubusercontent.com/RyanBurnell/NotANumber/{COMMIT}/"
FILES = Files("aaio", ADDRESS)

TASKS = tuple(
    f"{level}-{task}-{variant}"
    for level, tasks in ((1, 17), (7, 6))
    for task in range(1, tasks + 1)
    for variant in (1, 2, 3)
)
SPELLING = {"Trrrrr": "Trrrr", "mmIA": "mmlA", "Gyutan": "Gytan"}
"""Three names in the data, and the same names in the paper's Figure 9."""

_BEHIND = {"straight": 0.0, "left": 0.5, "right": 0.5, "random": 0.5, "behind": 1.0}


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and code the meta-features as the published profiles need them.

    Parameters
    ----------
    folder : Path, optional
        Folder of the two files, or a folder with them in its folder ``aaio`` (default: the folder
        in the environment variable ``MEASUREMENT_LAYOUTS_DATA``; without it, the files are
        downloaded and cached).

    Returns
    -------
    Evaluation
        68 subjects, 69 items. Coded for the published layout: ``rewardSize``, ``rewardDistance``
        (z-scores over the tasks), ``rewardBehind`` (one half if the side is random),
        ``XPos``. As recorded: ``size``, ``distance``, ``colour``, ``lights``.

    Raises
    ------
    DataError
        When a file does not exist and cannot be downloaded, or is not the published one.

    References
    ----------
    Burnell et al. (2022), "Not a Number", IJCAI; the data have the licence GPL-3.0.
    """
    paths = FILES.find(folder)
    codes = pd.read_csv(paths["task_codes.csv"], index_col="task").loc[list(TASKS)]
    scores = pd.read_csv(paths["scores_all.csv"], index_col="team")[list(TASKS)]
    return Evaluation.from_wide(scores, code(codes))


def code(codes: pd.DataFrame) -> pd.DataFrame:
    """Turn recorded task properties into meta-features.

    Parameters
    ----------
    codes : DataFrame
        The columns of ``task_codes.csv``.

    Returns
    -------
    DataFrame
        The columns described in `load`.

    Notes
    -----
    The paper's Table 2 has the upper ends of the ranges but no formula. The coding of the reward's
    size was chosen: of the codings tried, its posterior means are the closest to Figure 9. The
    correlation of 0.997 between ``visualAbility`` and the figure therefore shows that the coding is
    right, but is not a test of the layout. ``XPos`` is the recorded side; see
    `reproduction.published.beside` on the bias, which it hardly reproduces.

    References
    ----------
    Burden et al. (2023), Table 2 and Figure 9.
    """
    size, distance = (codes[f"reward_{name}"].astype(float) for name in ("size", "distance"))
    side = codes["reward_side"]
    return pd.DataFrame(
        {
            "rewardSize": _z(-np.log1p(_z(size))),
            "rewardDistance": _z(distance),
            "rewardBehind": side.map(_BEHIND),
            "XPos": side.map({"left": -1, "right": 1}).fillna(0).astype(int),
            "size": size,
            "distance": distance,
            "colour": codes["reward_colour"],
            "lights": codes["lights"],
        }
    )


def _z(values: pd.Series) -> pd.Series:
    return (values - values.mean()) / values.std(ddof=1)
