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
"""Three names as the data spell them, and as the paper's Figure 9 does."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and code the meta-features as the published profiles need them.

    Parameters
    ----------
    folder : Path, optional
        Where the two files lie, or a folder with them in its folder ``aaio``. Otherwise the one
        that the environment variable ``MEASUREMENT_LAYOUTS_DATA`` names; otherwise they are
        downloaded, and kept.

    Returns
    -------
    Evaluation
        68 subjects, 69 items. Coded for the published layout: ``rewardSize``, ``rewardDistance``
        (z-scores over the tasks), ``rewardBehind``, ``XPos``. As recorded: ``size``, ``distance``,
        ``colour``, ``lights``.

    Raises
    ------
    DataError
        When a file is not there, cannot be downloaded, or is not the published one.

    References
    ----------
    Burnell et al. (2022), "Not a Number", IJCAI; data under GPL-3.0.
    """
    paths = FILES.find(folder)
    scores = pd.read_csv(paths["scores_all.csv"], index_col="team")[list(TASKS)]
    codes = pd.read_csv(paths["task_codes.csv"], index_col="task").loc[list(TASKS)]
    return Evaluation.from_wide(scores, code(codes))


def code(codes: pd.DataFrame) -> pd.DataFrame:
    """Turn recorded task properties into meta-features.

    Notes
    -----
    The paper's Table 2 gives the upper ends of the ranges and no formula. The coding of the
    reward's size was found, not given: of those tried, it is the one whose posterior means come
    closest to Figure 9, which it was chosen on. So that ``visualAbility`` correlates by 0.997 with
    the figure says that the coding is right, and is no test of the layout. ``XPos`` is the recorded
    side; see `reproduction.published.beside` for how little of the bias that reproduces.

    References
    ----------
    Burden et al. (2023), Table 2 and Figure 9.
    """
    size = codes["reward_size"].astype(float)
    distance = codes["reward_distance"].astype(float)
    side = codes["reward_side"]
    return pd.DataFrame(
        {
            "rewardSize": _z(-np.log1p(_z(size))),
            "rewardDistance": _z(distance),
            "rewardBehind": side.map({"straight": 0.0, "left": 0.5, "right": 0.5, "behind": 1.0}),
            "XPos": side.map({"straight": 0, "left": -1, "right": 1, "behind": 0}),
            "size": size,
            "distance": distance,
            "colour": codes["reward_colour"],
            "lights": codes["lights"],
        }
    )


def _z(values: pd.Series) -> pd.Series:
    return (values - values.mean()) / values.std(ddof=1)
