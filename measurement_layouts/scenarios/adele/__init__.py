"""General scales: cognitive demands of items, and abilities of subjects, in levels."""

from functools import partial

from ..scenario import Scenario
from .battery import ITEMS, simulated_cohort, true_profiles
from .data import load, read_battery
from .layouts import (
    additive_layout,
    additive_population_layout,
    capability_layout,
    population_layout,
    with_places,
)
from .scales import BROAD, DEMANDS, DIMENSIONS, SUBJECTS

_RECOMMENDED, _NEEDED = "recommended layout", "abilities, all needed"

SCENARIO = Scenario(
    name="adele",
    title="General scales: 15 language models on items with 18 demands, real ones and simulated",
    source="Zhou et al. (2025)",
    layouts={_RECOMMENDED: additive_layout, _NEEDED: capability_layout},
    load=load,
    simulate=partial(simulated_cohort, items=ITEMS // 5),
    columns=(*(f"demand[{code}]" for code in DEMANDS), "unguessability"),
    tables=True,
    every=40,
    shares={_RECOMMENDED: 0.5, _NEEDED: 0.25},
    population=population_layout,
)

__all__ = [
    "BROAD",
    "DEMANDS",
    "DIMENSIONS",
    "SCENARIO",
    "SUBJECTS",
    "additive_layout",
    "additive_population_layout",
    "capability_layout",
    "load",
    "population_layout",
    "read_battery",
    "simulated_cohort",
    "true_profiles",
    "with_places",
]
