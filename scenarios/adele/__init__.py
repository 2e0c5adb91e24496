"""General scales of cognitive demands: what items ask of whoever answers them, level by level."""

from functools import partial

from ..calibrated import calibration_cases
from ..scenario import Scenario
from .battery import ITEMS, simulated_cohort, true_profiles
from .data import load, read_battery
from .layouts import LAYOUTS, additive_layout, capability_layout, with_places
from .published import RECOMMENDED, judge, reproduce
from .scales import BROAD, DEMANDS, DIMENSIONS
from .subjects import SUBJECTS

_NEEDED = "abilities, all needed"

SCENARIO = Scenario(
    name="adele",
    title="General scales: 15 language models on items with 18 demands, real ones and simulated",
    source="Zhou et al. (2025)",
    layouts={RECOMMENDED: additive_layout, _NEEDED: capability_layout},
    load=load,
    simulate=partial(simulated_cohort, items=ITEMS // 5),
    reproduce=reproduce,
    judge=judge,
    columns=(*(f"demand[{code}]" for code in DEMANDS), "unguessability"),
    small_batteries=partial(calibration_cases, every=40, shares={RECOMMENDED: 0.5, _NEEDED: 0.25}),
)

__all__ = [
    "BROAD",
    "DEMANDS",
    "DIMENSIONS",
    "LAYOUTS",
    "SCENARIO",
    "SUBJECTS",
    "additive_layout",
    "capability_layout",
    "judge",
    "load",
    "read_battery",
    "reproduce",
    "simulated_cohort",
    "true_profiles",
    "with_places",
]
