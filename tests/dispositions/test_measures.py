"""Misalignment: the small study by hand, intervals, and what each number says of whom."""

import numpy as np
import pytest
from helpers import drawn_study

from measurement_layouts import FitError
from measurement_layouts.dispositions import compare_choices, misalignment

QUICK = {"resamples": 50}


@pytest.fixture(scope="module")
def three_models():
    """Rates of people, and of models that share them, that have none to do with them, and both."""
    rng = np.random.default_rng(4)
    people = rng.beta(1, 1, 600)
    other = rng.beta(0.5, 0.5, 600)
    models = {"aligned": people, "apart": other, "opposed": 1 - people}
    return people, models, drawn_study.study(people, models, rng)


def test_small_study_by_hand(judgments):
    found = misalignment(judgments, **QUICK)
    assert found.index.tolist() == [
        (model, trait) for model in ("calm", "blunt") for trait in ("empathy", "assertion", "all")
    ]
    assert found["scenarios"].tolist() == [4, 2, 6, 4, 1, 5]
    calm = [0, 0.4, 0.9 - 8 / 9, 0.65, 0.25, 0.15]
    blunt = [0.3, 0.35, 8 / 9 - 0.2, 0.15, 0.5]
    wanted = [np.mean(part) for gaps in (calm, blunt) for part in (gaps[:4], gaps[4:], gaps)]
    np.testing.assert_allclose(found["misalignment"], wanted, rtol=1e-12)
    np.testing.assert_allclose(found["corrected"], found["misalignment"] - found["chance"])
    compared = compare_choices(judgments)
    assert found.loc[("blunt", "all"), "chance"] == pytest.approx(
        compared.loc["blunt", "chance"].mean()
    )
    # one scenario gives no interval
    assert found["low"].isna().tolist() == [False] * 4 + [True, False]


def test_traits_and_models_of_a_part_are_the_same(judgments):
    """Nothing of a model depends on the others."""
    whole = misalignment(judgments, **QUICK)
    part = misalignment(judgments.select(models=["blunt"]), **QUICK)
    np.testing.assert_array_equal(part, whole.loc[["blunt"]])


def test_what_each_number_says(three_models):
    people, models, judgments = three_models
    found = misalignment(judgments).xs("calm", level="trait")
    truth = np.abs(people - models["opposed"]).mean()
    aligned, opposed = found.loc["aligned"], found.loc["opposed"]
    # published: above 0 for the perfectly aligned; corrected: not
    assert aligned["low"] > 0.05
    assert aligned["corrected_low"] - 0.01 < 0 < aligned["corrected_high"] + 0.01
    # corrected takes too much from those far away
    assert opposed["corrected_high"] < truth


@pytest.mark.parametrize("options", [{"prob": 1}, {"resamples": 1}, {"seed": -1}, {"prob": "wide"}])
def test_options_out_of_range_are_refused(judgments, options):
    (name,) = options
    with pytest.raises(FitError, match=f"{name}="):
        misalignment(judgments, **QUICK | options)
