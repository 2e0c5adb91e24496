"""The Animal-AI Olympics: vision, navigation and noise of 68 agents."""

from ..scenario import Scenario
from .cohort import battery, simulated_cohort, true_profiles
from .data import TASKS, load
from .layouts import apparent_smallness, population_layout, published_layout, recommended_layout

SCENARIO = Scenario(
    name="animal-ai-olympics",
    title="Animal-AI Olympics: 68 agents look for and reach a reward",
    source="Burden et al. (2023), section 4",
    layouts={"published layout": published_layout, "recommended layout": recommended_layout},
    load=load,
    simulate=simulated_cohort,
    columns=("rewardSize", "rewardDistance", "rewardBehind", "XPos"),
    windows=((0, 1), (0.2, 0.7)),
    population=population_layout,
)

__all__ = [
    "SCENARIO",
    "TASKS",
    "apparent_smallness",
    "battery",
    "load",
    "population_layout",
    "published_layout",
    "recommended_layout",
    "simulated_cohort",
    "true_profiles",
]
