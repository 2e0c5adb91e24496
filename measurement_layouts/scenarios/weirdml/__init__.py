"""WeirdML: time that people need for tasks that a language model solves half of the time."""

from ..scenario import Scenario
from .cohort import battery, release_dates, simulated_cohort, true_profiles, with_nested
from .data import (
    CALIBRATION,
    SINCE,
    TASKS,
    calibrated,
    dated,
    load,
    published_horizons,
    released,
    with_nesting,
    with_tasks,
)
from .layouts import (
    nested_layout,
    population_layout,
    published_layout,
    reached,
    recommended_layout,
    trend_layout,
)
from .nesting import conditional_counts

SCENARIO = Scenario(
    name="weirdml",
    title="WeirdML: time horizons of 87 language models on 17 machine-learning tasks",
    source="Ihle (2026), WeirdML time horizons",
    layouts={"published layout": published_layout, "recommended layout": recommended_layout},
    load=load,
    simulate=simulated_cohort,
    columns=("logHours",),
    tables=False,
    small_batteries=with_nested,
    population=population_layout,
)

__all__ = [
    "CALIBRATION",
    "SCENARIO",
    "SINCE",
    "TASKS",
    "battery",
    "calibrated",
    "conditional_counts",
    "dated",
    "load",
    "nested_layout",
    "population_layout",
    "published_horizons",
    "published_layout",
    "reached",
    "recommended_layout",
    "release_dates",
    "released",
    "simulated_cohort",
    "trend_layout",
    "true_profiles",
    "with_nesting",
    "with_tasks",
]
