"""Layouts with a population, one for each cohort.

Those of the studies are the scenarios'; of the exam, one form was tried.
"""

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import adele, fraction_subtraction, gsm8k
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios.pooling import item_ease, normal


def exam() -> ml.Layout:
    """One ability with a weight of the exercises solved, and items."""
    tests = ml.MetaFeature("tests", low=-5, high=5, per="subject")
    mean = ml.Bias("mean", per="population") + ml.Bias("weight", per="population") * tests
    ability = ml.Capability("ability", prior=normal(mean, ml.Spread("spread")))
    return ml.Layout("exam", ml.Success("solved", logistic(ability + item_ease())))


LAYOUTS = {
    "exam": exam,
    "animal-ai": aaio.population_layout,
    "fractions": fraction_subtraction.population_layout,
    "gsm8k": gsm8k.population_layout,
    "adele": adele.population_layout,
}
"""By the cohort's name."""
