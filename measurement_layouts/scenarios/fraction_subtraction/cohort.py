"""A battery and simulated pupils with known skills, which need no data."""

import numpy as np
import pandas as pd

from ..scenario import Cohort
from .layouts import SKILLS, column, recommended_layout

PUPILS = 150


def battery() -> pd.DataFrame:
    """Make 20 problems: each skill alone, eight pairs and four triples.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery. Unlike in the real battery, each skill is also
        needed alone.

    Examples
    --------
    >>> battery().sum(axis=1).value_counts().sort_index().to_dict()
    {1: 8, 2: 8, 3: 4}
    """
    count = len(SKILLS)
    needed = [{first} for first in range(count)]
    needed += [{first, (first + 1) % count} for first in range(count)]
    needed += [{first, (first + 2) % count, first + 4} for first in range(count // 2)]
    rows = [[int(skill in skills) for skill in range(count)] for skills in needed]
    names = pd.Index([f"problem-{number:02d}" for number in range(1, len(rows) + 1)], name="item")
    return pd.DataFrame(rows, names, [column(skill) for skill in SKILLS])


def true_profiles(seed: int = 1, pupils: int = PUPILS) -> pd.DataFrame:
    """Draw pupils from the prior of the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of the draws.
    pupils : int
        Number of pupils.

    Returns
    -------
    DataFrame
        Profiles, with one row per pupil and one column per profile element.

    Examples
    --------
    >>> true_profiles().iloc[0, [0, 1, -1]].round(2).to_dict()
    {'generalLevel': -2.99, 'skillLevel[QT1]': -7.16, 'guesses': 0.14}
    """
    rng = np.random.default_rng([seed, pupils])
    general = rng.normal(0, 4, pupils)
    levels = general[:, None] + rng.normal(0, 4, (pupils, len(SKILLS)))
    columns = {"generalLevel": general}
    columns |= {
        f"skillLevel[{skill}]": level for skill, level in zip(SKILLS, levels.T, strict=True)
    }
    columns |= {"slips": rng.beta(1, 9, pupils), "guesses": rng.beta(1, 9, pupils)}
    return pd.DataFrame(columns, [f"pupil-{number:03d}" for number in range(1, pupils + 1)])


def simulated_cohort(seed: int = 1, pupils: int = PUPILS) -> Cohort:
    """Simulate pupils on the battery of 20 problems, under the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of profiles and answers.
    pupils : int
        Number of pupils.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 150 subjects, 20 items, 3000 trials, properties needed[QT1], needed[QT2], ...>
    """
    return Cohort.drawn(recommended_layout(), battery(), true_profiles(seed, pupils), seed)
