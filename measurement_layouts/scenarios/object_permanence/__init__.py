"""Object permanence: 30 synthetic agents in 2,188 arenas."""

from functools import partial

from ..scenario import Scenario, calibration_cases
from .agents import AGENTS, Agent
from .battery import CANDIDATES, battery, roles
from .cohort import load, simulated_cohort
from .layouts import LAYOUTS, published_layout, recommended_layout
from .truth import normalised, true_profiles

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
