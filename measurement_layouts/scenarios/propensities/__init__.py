"""Propensities of language models, for which both too little and too much cause failures."""

from functools import partial

from ..scenario import Scenario, calibration_cases
from .cohort import battery, simulated_cohort, windows
from .data import load, released
from .dimensions import DIMENSIONS, LEVELS, condition, obtained
from .layouts import (
    LAYOUTS,
    clipped,
    firmness_layout,
    published_layout,
    recommended_layout,
)

SCENARIO = Scenario(
    name="propensities",
    title="Propensities: 12 language models incited to take and shun risks, and three more",
    source="Romero-Alvarado et al. (2026)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=("lower", "upper"),
    rival="aggregate",
    method="grid",  # the posterior of a propensity has steep steps and several modes
    small_batteries=partial(calibration_cases, every=10),
)

__all__ = [
    "DIMENSIONS",
    "LEVELS",
    "SCENARIO",
    "battery",
    "clipped",
    "condition",
    "firmness_layout",
    "load",
    "obtained",
    "published_layout",
    "recommended_layout",
    "released",
    "simulated_cohort",
    "windows",
]
