"""Fraction subtraction: probabilities with which pupils apply each of eight skills."""

from ..scenario import Scenario
from .cohort import battery, simulated_cohort, true_profiles
from .data import load
from .dina import Dina, dina
from .layouts import LAYOUTS, SKILLS, nida_layout, population_layout, recommended_layout
from .mastery import masteries

SCENARIO = Scenario(
    name="fraction-subtraction",
    title="Fraction subtraction: 536 pupils on 20 problems that need up to five of eight skills",
    source="Tatsuoka (1984)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=tuple(f"needed[{skill}]" for skill in SKILLS),
    tables=False,
    population=population_layout,
)

__all__ = [
    "LAYOUTS",
    "SCENARIO",
    "SKILLS",
    "Dina",
    "battery",
    "dina",
    "load",
    "masteries",
    "nida_layout",
    "population_layout",
    "recommended_layout",
    "simulated_cohort",
    "true_profiles",
]
