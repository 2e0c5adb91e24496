"""An exam of 729 students on 13 items, with covariates; all students are fitted together."""

from functools import partial

from ..scenario import Scenario, calibration_cases
from .batches import batch_differences
from .cohort import simulated_cohort, true_values
from .data import items, load, students
from .layouts import LAYOUTS, batches_layout, rasch_layout, recommended_layout

SCENARIO = Scenario(
    name="math-exam",
    title="Mathematics exam: 729 students in two batches on 13 items",
    source="MathExam14W of the R package psychotools, Zeileis et al.",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=("rewritten",),
    tables=False,
    split="cells",
    baselines={"aggregate": "aggregate", "Rasch": "rasch", "explanatory": "explanatory"},
    rival="Rasch layout",
    small_batteries=partial(calibration_cases, shares=dict.fromkeys(LAYOUTS, 0.4)),
)

__all__ = [
    "LAYOUTS",
    "SCENARIO",
    "batch_differences",
    "batches_layout",
    "items",
    "load",
    "rasch_layout",
    "recommended_layout",
    "simulated_cohort",
    "students",
    "true_values",
]
