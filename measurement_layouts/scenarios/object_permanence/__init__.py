"""Object permanence: 30 synthetic agents look for hidden rewards."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import need_columns
from ..scenario import Cohort, Scenario
from .agents import AGENTS, Agent
from .battery import CANDIDATES, battery, roles
from .layouts import LAYOUTS, published_layout, recommended_layout
from .truth import normalised, true_profiles


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate the thirty agents on a battery.

    Parameters
    ----------
    seed : int
        Seed of battery and outcomes.

    Returns
    -------
    Cohort
        Outcomes, and true profiles of the agents on the scales of the published layout.

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
    """Read real results on O-PIAAGETS; without a folder, return a simulated cohort.

    The paper has no real subjects, and no outcomes of real subjects have been published. Two CSV
    files are needed:

    - ``arenas.csv``, with one row per arena: ``arena``, its name; ``goalDistance``, ``goalSize``,
      ``rightLeftPosition`` (-1, 0, 1), ``rampPresence``, ``lavaPresence``, ``platformPresence`` and
      ``occluderPresence`` (0, 1); and, if something is hidden, ``timeUnderOcc`` in seconds and
      ``numberOfPositions``, the number of other places where the reward could be. The recommended
      layout also needs ``paradigm[cup]``, ``paradigm[grid]``, ``paradigm[chick]``,
      ``similarPositions`` and ``rewardDeflected`` (0, 1), and, if something is hidden,
      ``occluderRedness``, ``occluderGreenness`` and ``occluderBlueness`` (0 to 255).
    - ``outcomes.csv``, with one row per attempt: ``subject``, ``arena``, ``success`` (0, 1).
      Several attempts of a subject at an arena are trials.

    Parameters
    ----------
    folder : Path, optional
        Folder of both files.

    Returns
    -------
    Evaluation
        Evaluation of the real subjects, or of the simulated agents.

    Raises
    ------
    DataError
        When a file or a column is missing, an arena of an outcome is unknown, or a success is
        neither 0 nor 1.

    References
    ----------
    Voudouris et al. (2022), Evaluating object permanence in embodied agents; Burden et al. (2023),
    Table 4.
    """
    if folder is None:
        return simulated_cohort().evaluation
    tables = []
    for name in ("arenas.csv", "outcomes.csv"):
        path = Path(folder, name)
        if not path.is_file():
            raise DataError(
                f"there is no {path}; give the folder of arenas.csv and outcomes.csv, or leave "
                "--data out to use simulated agents"
            )
        tables.append(pd.read_csv(path, dtype=dict.fromkeys(("arena", "subject"), str)))
    arenas, outcomes = tables
    columns = [name for feature in published_layout().meta_features for name in feature.columns]
    need_columns(arenas.columns, ["arena", *columns], f"{Path(folder, 'arenas.csv')} has")
    return Evaluation.from_long(
        outcomes, arenas.set_index("arena"), item="arena", outcome="success", repeats="trials"
    )


SCENARIO = Scenario(
    name="object-permanence",
    title="Object permanence: 30 synthetic agents look for hidden rewards",
    source="Burden et al. (2023), section 5",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=tuple(
        column for feature in recommended_layout().meta_features for column in feature.columns
    ),
    tables=True,
    every=30,
    shares=dict.fromkeys(LAYOUTS, 0.25),
)

__all__ = [
    "AGENTS",
    "CANDIDATES",
    "SCENARIO",
    "Agent",
    "battery",
    "load",
    "normalised",
    "published_layout",
    "recommended_layout",
    "roles",
    "simulated_cohort",
    "true_profiles",
]
