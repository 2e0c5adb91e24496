"""Published figures of the studies depend on priors that the layouts state, not on defaults."""

import pytest

from measurement_layouts.scenarios import (
    adele,
    animal_ai_olympics,
    math_exam,
    object_permanence,
    weirdml,
)

STANDARD = "Prior('Normal', mu=0, sigma=1)"
UP_TO_ONE, UP_TO_TWO = "Prior('HalfNormal', sigma=1)", "Prior('HalfNormal', sigma=2)"


@pytest.mark.parametrize(
    ("layout", "stated"),
    [
        (math_exam.rasch_layout(), {"mean": STANDARD, "spread": UP_TO_ONE}),
        (
            math_exam.recommended_layout(),
            {"mean": STANDARD, "weight": STANDARD, "spread": UP_TO_ONE, "easeSpread": UP_TO_ONE},
        ),
        (math_exam.batches_layout(), {"mean": STANDARD, "favourSpread": UP_TO_ONE}),
        (weirdml.published_layout(), {"slope": UP_TO_TWO}),
        (weirdml.recommended_layout(), {"ease": STANDARD, "taskSpread": UP_TO_TWO}),
        (adele.capability_layout(), {"slope": UP_TO_TWO}),
        (adele.capability_layout("pooled"), {"usualSlope": UP_TO_TWO}),
        (adele.population_layout(), {"taskSpread": UP_TO_ONE}),
        (adele.additive_population_layout(), {"benchmarkSpread": UP_TO_ONE}),
        (animal_ai_olympics.published_layout(), {"rightLeftBias": STANDARD}),
        (object_permanence.published_layout(), {"rightLeftBias": STANDARD}),
        (object_permanence.recommended_layout(), {"rightLeftBias": STANDARD}),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_a_study_states_the_priors_of_its_figures(layout, stated):
    for name, prior in stated.items():
        (given,) = layout.nodes[name].priors
        assert repr(given) == prior
        assert layout.nodes[name].prior is not None
