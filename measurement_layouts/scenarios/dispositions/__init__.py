"""Behavioural dispositions: advice of language models, compared with choices of people."""

from ..scenario import Scenario
from .cohort import load, simulated_cohort, two_traits
from .implied import distances, implied_misalignment
from .layouts import COLUMNS, LAYOUTS, disposition_layout
from .simulated import SimulatedStudy, rater_pool, simulated_study
from .subjects import subjects
from .traits import TRAITS, Trait, overall, supports

SCENARIO = Scenario(
    name="dispositions",
    title="Dispositions: 25 simulated language models advise in 2,357 scenarios judged by people",
    source="Taubenfeld et al. (2026)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=COLUMNS,
    tables=False,
    small_batteries=two_traits,
)

__all__ = [
    "SCENARIO",
    "TRAITS",
    "SimulatedStudy",
    "Trait",
    "disposition_layout",
    "distances",
    "implied_misalignment",
    "overall",
    "rater_pool",
    "simulated_cohort",
    "simulated_study",
    "subjects",
    "supports",
]
