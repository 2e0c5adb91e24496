"""Cohorts: the thirty agents' outcomes on a battery, simulated from their rules."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ..scenario import Cohort
from .agents import AGENTS
from .battery import battery
from .truth import true_profiles


def simulated_cohort(seed: int = 1) -> Cohort:
    """Let the thirty agents run a battery.

    Parameters
    ----------
    seed : int
        Of battery and outcomes.

    Returns
    -------
    Cohort
        Outcomes, and the agents' true profiles on the published layout's scales.

    Examples
    --------
    >>> cohort = simulated_cohort()
    >>> cohort.evaluation.success_rates()[["Agent1", "Agent6", "Agent19"]].round(1).tolist()
    [1.0, 0.5, 0.5]
    """
    items = battery(seed)
    rng = np.random.default_rng([seed, 1])
    outcomes = pd.DataFrame(
        {name: rng.binomial(1, agent.rule(items)) for name, agent in AGENTS.items()}, items.index
    )
    return Cohort(Evaluation.from_wide(outcomes.T, items), true_profiles())


def load(folder: Path | None = None) -> Evaluation:
    """Return a simulated cohort; the study has no real subjects.

    Parameters
    ----------
    folder : Path, optional
        Must not be given.

    Raises
    ------
    DataError
        When a folder is given.
    """
    if folder is not None:
        raise DataError(
            f"the agents of this study are simulated, so there are no data in {folder}; leave "
            "--data out"
        )
    return simulated_cohort().evaluation
