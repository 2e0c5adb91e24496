"""Object permanence: 30 synthetic agents in 2,188 arenas."""

from functools import partial
from pathlib import Path

from ...inference.data import Evaluation
from ...inference.errors import DataError
from ..calibrated import calibration_cases
from ..scenario import Scenario
from .agents import AGENTS, Agent
from .battery import CANDIDATES, battery, roles
from .cohort import simulated_cohort
from .layouts import LAYOUTS, published_layout, recommended_layout
from .published import judge, reproduce
from .truth import normalised, true_profiles


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


SCENARIO = Scenario(
    name="object-permanence",
    title="Object permanence: 30 synthetic agents look for hidden rewards",
    source="Burden et al. (2023), section 5",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    reproduce=reproduce,
    judge=judge,
    columns=tuple(
        column for feature in recommended_layout().meta_features for column in feature.columns
    ),
    small_batteries=partial(calibration_cases, every=30, shares=dict.fromkeys(LAYOUTS, 0.25)),
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
