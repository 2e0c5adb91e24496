"""GSM8K's layouts and horizons by hand, and its simulator."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import gsm8k
from measurement_layouts.scenarios.gsm8k import LONGEST

VALUES = {
    **{"steps": 3.0, "markedSteps": 2.0, "digits": 1.5, "doublings": 5.0},
    **{"planningAbility": 6.0, "planningSlope": 0.4, "calculationAbility": 4.0},
    **{"calculationSlope": 0.8, "readingAbility": 7.0, "readingSlope": 1.5, "slips": 0.1},
}


def sigma(x):
    return 1 / (1 + np.exp(-x))


def test_the_recommended_answer_by_hand():
    found = evaluate(gsm8k.recommended_layout().outcome, VALUES)
    expected = 0.9 * sigma(0.4 * 3) * sigma(0.8 * 2.5) * sigma(1.5 * 2)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_plain_answer_counts_marks_and_not_lines():
    found = evaluate(gsm8k.plain_layout().outcome, VALUES)
    assert found == pytest.approx(0.9 * sigma(0.4 * 4) * sigma(0.8 * 2.5), abs=1e-12)
    assert found != pytest.approx(0.9 * sigma(0.4 * 3) * sigma(0.8 * 2.5), abs=1e-3)


def fake_fit(**changes):
    """A fit of one draw each, with the medians of digits and doublings at 1.5 and 5."""
    names = [latent.name for latent in gsm8k.recommended_layout().latents]
    values = {name: [[[{**VALUES, **changes}[name]]]] for name in names}
    posterior = {name: (("chain", "draw", "subject"), value) for name, value in values.items()}
    constants = {"digits": [1.0, 1.5, 4.0], "doublings": [5.0, 5.0, 6.0]}
    return SimpleNamespace(
        layout=gsm8k.recommended_layout(),
        posterior=xr.Dataset(posterior, {"subject": ["Ann"]}),
        constants=xr.Dataset({name: ("item", value) for name, value in constants.items()}),
        subjects=["Ann"],
    )


def test_at_the_horizon_half_of_the_problems_are_solved():
    found = gsm8k.horizons(fake_fit())
    values = {**VALUES, "steps": found.at["Ann", "median"]}
    assert evaluate(gsm8k.recommended_layout().outcome, values) == pytest.approx(0.5, abs=1e-12)
    assert not found.at["Ann", "extrapolated"]


def test_a_horizon_beyond_the_longest_problem_is_flagged():
    found = gsm8k.horizons(fake_fit(planningAbility=12.0))
    assert found.at["Ann", "median"] > LONGEST
    assert found.loc["Ann", ["beyond", "extrapolated"]].tolist() == [1, True]


def test_better_models_succeed_more_often():
    """Outcomes have a stream of their own: they must not go with the battery's random numbers."""
    cohort = gsm8k.simulated_cohort(1)
    values = {
        name: cohort.evaluation.items[name].to_numpy(float)
        for name in VALUES
        if name in cohort.evaluation.items
    }
    for model, profile in cohort.profiles.iterrows():
        chance = evaluate(gsm8k.recommended_layout().outcome, {**values, **profile})
        error = np.sqrt((chance * (1 - chance)).sum()) / len(chance)
        rate = cohort.evaluation.success_rates()[model]
        assert rate == pytest.approx(chance.mean(), abs=4 * error), model
