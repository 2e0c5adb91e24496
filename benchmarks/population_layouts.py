"""Layouts with a population, one for each cohort.

Those of the studies are the scenarios'; of the exam, one form was tried.
"""

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import adele, fraction_subtraction, gsm8k, math_exam
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios.pooling import normal

LAYOUTS = {
    "exam": math_exam.recommended_layout,
    "animal-ai": aaio.population_layout,
    "fractions": fraction_subtraction.population_layout,
    "gsm8k": gsm8k.population_layout,
    "adele": adele.additive_population_layout,
}
"""By the cohort's name."""


def one_ability() -> ml.Layout:
    """One ability of each student by itself: all that it can say of items without demands."""
    ability = ml.Capability("ability", prior=normal(0, 2))
    return ml.Layout("alone", ml.Success("solved", logistic(ability)))


ALONE = {
    "exam": one_ability,
    "animal-ai": aaio.recommended_layout,
    "fractions": fraction_subtraction.recommended_layout,
    "gsm8k": gsm8k.recommended_layout,
    "adele": adele.additive_layout,
}
"""Layouts in which each subject is fitted alone, by the cohort's name."""
