"""GSM8K: 44 language models on school word problems with steps, numbers and words as demands."""

from functools import partial

from ..scenario import Scenario, calibration_cases
from .cohort import battery, simulated_cohort, true_profiles
from .data import accuracies, load, properties
from .horizons import horizons
from .layouts import LAYOUTS, plain_layout, population_layout, recommended_layout

SCENARIO = Scenario(
    name="gsm8k",
    title="GSM8K: 44 language models on 1,319 school word problems",
    source="Cobbe et al. (2021); outcomes of ZeroEval",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=("steps", "digits", "doublings"),
    tables=False,
    small_batteries=partial(calibration_cases, every=5, shares=dict.fromkeys(LAYOUTS, 0.5)),
    population=population_layout,
)

__all__ = [
    "LAYOUTS",
    "SCENARIO",
    "accuracies",
    "battery",
    "horizons",
    "load",
    "plain_layout",
    "population_layout",
    "properties",
    "recommended_layout",
    "simulated_cohort",
    "true_profiles",
]
