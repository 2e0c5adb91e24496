"""A battery of problems and simulated models with known profiles, which need no data."""

import numpy as np
import pandas as pd

from ..scenario import Cohort
from .data import properties
from .layouts import recommended_layout

ITEMS, SUBJECTS = 400, 16
_STEPS = (2, 3, 4, 5, 6, 7, 8)
_SHARES = (0.27, 0.27, 0.2, 0.12, 0.07, 0.04, 0.03)


def battery(seed: int = 1, items: int = ITEMS) -> pd.DataFrame:
    """Simulate counts of problems with two to eight steps; longer problems have more words.

    Parameters
    ----------
    seed : int
        Seed of the counts.
    items : int
        Number of problems.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery.

    Examples
    --------
    >>> battery()[["steps", "digits", "doublings"]].mean().round(1).tolist()
    [3.7, 1.6, 5.4]
    """
    rng = np.random.default_rng([seed, items])  # a different stream from that of the outcomes
    steps = rng.choice(_STEPS, items, p=_SHARES)
    raw = pd.DataFrame(
        {
            "n_lines": steps,
            "n_steps": np.where(rng.random(items) < 0.95, steps, steps - 1),
            "max_abs_number": np.floor(10 ** rng.gamma(4, 0.4, items)),
            "q_words": np.clip(np.exp2(rng.normal(5 + 0.1 * steps, 0.5)), 12, 200).round(),
        },
        index=[f"problem-{number:04d}" for number in range(1, items + 1)],
    )
    return properties(raw)


def true_profiles() -> pd.DataFrame:
    """Return the simulated models: from one that plans six steps to one that plans sixteen.

    Abilities of reading and calculating increase in the same order, and slips decrease.

    Examples
    --------
    >>> true_profiles()[["planningAbility", "slips"]].iloc[[0, -1]].round(2)
              planningAbility  slips
    model-01              6.0   0.12
    model-16             16.0   0.01
    """
    place = np.linspace(0, 1, SUBJECTS)
    columns = {
        "planningAbility": 6 + 10 * place,
        "planningSlope": 0.45,
        "calculationAbility": 5 + 6 * place,
        "calculationSlope": 1.0,
        "readingAbility": 7 + 3 * place,
        "readingSlope": 1.2,
        "slips": 0.12 - 0.11 * place,
    }
    return pd.DataFrame(columns, [f"model-{number:02d}" for number in range(1, SUBJECTS + 1)])


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate sixteen models on 400 problems, under the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of battery and outcomes.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 16 subjects, 400 items, 6400 trials, properties steps, markedSteps, digits, ...>
    """
    return Cohort.drawn(recommended_layout(), battery(seed), true_profiles(), seed)
