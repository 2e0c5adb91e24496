"""A battery and a simulated cohort with known profiles, which need no data."""

from importlib import resources

import numpy as np
import pandas as pd

from ..scenario import Cohort
from .data import code
from .layouts import published_layout

ITEMS = 69
_SIZES = (0.5, 1.0, 3.0, 5.0)
_SIDES = ("straight", "left", "right", "behind")


def battery(seed: int = 1) -> pd.DataFrame:
    """Make 69 items: all combinations of sizes and sides, with distances spread over the arena.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery.

    Examples
    --------
    >>> battery().shape
    (69, 8)
    """
    rng = np.random.default_rng(seed)
    sizes = np.resize(np.repeat(_SIZES, len(_SIDES)), ITEMS)
    sides = np.resize(_SIDES, ITEMS)
    distances = rng.permutation(np.linspace(2, 54, ITEMS))
    codes = pd.DataFrame(
        {
            "reward_size": sizes,
            "reward_distance": distances,
            "reward_side": sides,
            "reward_colour": "green",
            "lights": "on",
        },
        index=[f"item-{number:02d}" for number in range(1, ITEMS + 1)],
    )
    return code(codes)


def true_profiles() -> pd.DataFrame:
    """Return the published profiles of 68 agents, which are the true profiles of the simulation.

    References
    ----------
    Burden et al. (2023), Figure 9 (posterior means).
    """
    with resources.files(__package__).joinpath("profiles.csv").open() as file:
        return pd.read_csv(file, index_col="subject")


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate the 68 subjects on the embedded battery, under the published layout.

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
    <Evaluation: 68 subjects, 69 items, 4692 trials, properties rewardSize, rewardDistance, ...>
    """
    return Cohort.drawn(published_layout(), battery(seed), true_profiles(), seed)
