"""True values of joint layouts: drawn from their priors, and turned into outcomes."""

import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts
from scipy.special import expit
from scipy.stats import kstest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.population.truth import draw_truths, true_values
from measurement_layouts.inference.simulate import true_chances

ITEMS, SUBJECTS = shared_layouts.items(6), shared_layouts.subjects(5)
LAYOUT = shared_layouts.explanatory()


def chances(truth):
    """Success probabilities of the subjects on the items."""
    cohort = Cohort.of_tables(LAYOUT, ITEMS, SUBJECTS)
    return true_chances(cohort, true_values(cohort, truth))


@pytest.fixture(scope="module")
def truths():
    return draw_truths(Cohort.of_tables(LAYOUT, ITEMS, SUBJECTS), 2000, seed=1)


def test_draws_follow_the_priors(truths):
    """Deviations of abilities are standard normal; with the covariate left out they are not."""
    location = truths["mean"] + truths["gain"] * SUBJECTS["tests"].to_xarray().rename(
        index="subject"
    )
    deviation = ((truths["ability"] - location) / truths["spread"]).isel(subject=3)
    assert kstest(deviation, "norm").pvalue > 0.001
    without = ((truths["ability"] - truths["mean"]) / truths["spread"]).isel(subject=3)
    assert kstest(without, "norm").pvalue < 1e-6
    assert kstest(truths["spread"], "halfnorm").pvalue > 0.001
    np.testing.assert_allclose(truths["ease"].sum("item"), 0, atol=1e-12)
    scaled = truths["ease"].isel(item=0) / truths["easeSpread"] / np.sqrt(1 - 1 / 6)
    assert kstest(scaled, "norm").pvalue > 0.001


def test_chances_are_those_of_the_formula(truths):
    truth = truths.isel(draw=7)
    values = {latent.name: truth[latent.name].to_numpy() for latent in LAYOUT.latents}
    tasks = pd.Index(["a", "b", "c"]).get_indexer(ITEMS["task"])
    logit = (
        values["ability"][:, None]
        - values["weight"] * ITEMS["length"].to_numpy()
        + values["ofTask"][tasks]
        + values["ease"]
    )
    np.testing.assert_allclose(chances(truth), expit(logit), rtol=1e-12)


def test_outcomes_follow_the_chances():
    """Counts of many trials, within five standard errors."""
    truth = ml.validation.draw_truth(LAYOUT, ITEMS, SUBJECTS, seed=3)
    trials = 20_000
    drawn = ml.simulate(LAYOUT, ITEMS, truth, seed=2, trials=trials, subjects=SUBJECTS)
    chance = chances(truth)
    error = np.sqrt(chance * (1 - chance) / trials)
    assert (abs(drawn.successes.to_numpy() / trials - chance) < 5 * error).all()
    assert drawn.subject_table.equals(SUBJECTS.rename_axis("subject"))


def test_levels_are_found_by_name():
    truth = ml.validation.draw_truth(LAYOUT, ITEMS, SUBJECTS, seed=3)
    turned = truth.isel(item=slice(None, None, -1), subject=[4, 2, 0, 1, 3])
    one, other = (
        ml.simulate(LAYOUT, ITEMS, each, seed=2, subjects=SUBJECTS).successes
        for each in (truth, turned)
    )
    assert one.equals(other)


TRUTH = ml.validation.draw_truth(LAYOUT, ITEMS, SUBJECTS, seed=3)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (TRUTH.drop_vars("gain"), "the true values have no"),
        (TRUTH.isel(item=slice(1, None)), "ease has no value for item"),
        (TRUTH.assign(spread=TRUTH["spread"] * -1), r"spread lies in \[0, inf\],"),
        (TRUTH.assign(ability=TRUTH["ability"].isel(subject=0)), "ability has the dimensions"),
        (pd.DataFrame({"ability": [1.0]}), "the profiles are not a"),
    ],
    ids=["variable", "level", "range", "dimensions", "kind"],
)
def test_wrong_truths_are_named(wrong, words):
    with pytest.raises(DataError, match=words):
        ml.simulate(LAYOUT, ITEMS, wrong, seed=1, subjects=SUBJECTS)
