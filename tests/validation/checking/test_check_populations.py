"""What a layout with a population is told before a fit."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts

import measurement_layouts as ml
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.linking import logistic


def ridges(layout, evaluation):
    problems = ml.check(layout, evaluation).problems
    return [problem for problem in problems if "no outcome tells them apart" in problem]


@pytest.mark.parametrize(
    ("layout", "pair"),
    [
        (shared_layouts.free_items(), "mean and ease: no outcome tells them apart"),
        (shared_layouts.free_items("free"), "mean and itemMean: no outcome tells them apart"),
        (shared_layouts.explanatory(), "mean and ofTask: no outcome tells them apart"),
        (shared_layouts.rasch(), None),
        (shared_layouts.two_capabilities(), None),
    ],
    ids=["free items", "two free means", "tasks", "sum to zero", "product"],
)
def test_locations_that_nothing_tells_apart_are_named(layout, pair):
    said = ridges(layout, shared_layouts.simulated(layout, 40, 12)[0])
    assert len(said) == (pair is not None)
    assert all(problem.startswith(pair) for problem in said)
    assert all("ZeroSumNormal" in problem for problem in said)


def test_fixed_locations_are_no_ridge():
    """Effects around 0 beside abilities around 0 are pinned by both priors."""
    normal = shared_layouts.normal
    ability = ml.Capability("ability", prior=normal(0, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=normal(0, 1))
    layout = ml.Layout("pinned", ml.Success("solved", logistic(ability + ease)))
    assert not ridges(layout, shared_layouts.simulated(layout, 30, 12)[0])


def test_effects_whose_prior_leaves_them_no_room_are_no_ridge():
    """Twin of free items: a spread of 0.02 about 0 is known better than a mean of 40 subjects."""
    normal = shared_layouts.normal
    mean, spread = ml.Effect("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=normal(mean, spread))
    ease = ml.Bias("ease", per="item", prior=normal(0, 0.02))
    layout = ml.Layout("narrow", ml.Success("solved", logistic(ability + ease)))
    assert not ridges(layout, shared_layouts.simulated(layout, 40, 12)[0])


@pytest.fixture(scope="module")
def found():
    evaluation = shared_layouts.simulated(shared_layouts.explanatory(), 12, 8)[0]
    outcomes = evaluation.successes.astype(float)
    outcomes.iloc[0, :6] = np.nan
    known = ml.Evaluation.from_wide(outcomes, evaluation.items, subjects=evaluation.subject_table)
    return ml.check(shared_layouts.explanatory(), known)


def test_every_latent_has_a_row_with_the_data_on_it(found):
    layout = shared_layouts.explanatory()
    latents = found.latents.set_index("node")
    assert latents.index.tolist() == [latent.name for latent in layout.latents]
    names = ["ability", "ofTask", "ease", "mean"]
    assert latents.loc[names, "per"].tolist() == ["subject", "task", "item", "population"]
    assert latents.loc[names, "levels"].tolist() == [12, 3, 8, 1]
    assert latents.loc[names, "least_trials"].tolist() == [2, 22, 11, 90]
    assert latents.loc[names, "trials"].tolist() == [8, 34, 11, 90]
    assert latents.loc["weight", "informed_by"] == "length"


def test_sds_are_expected_of_subjects_alone(found):
    latents = found.latents.set_index("node")
    shared = latents.drop("ability")
    assert shared["expected_sd"].isna().all()
    assert shared["verdict"].eq("shared").all()
    assert found.expected.shape == (12, 1)
    assert found.expected["ability"].iloc[0] > 1.3 * found.expected["ability"].iloc[1:].max()


def test_expected_sds_of_a_population_are_those_of_known_items():
    """By hand: precision of the prior, plus that of answers whose ease is known, over the prior."""
    layout, count = shared_layouts.rasch(), 12
    found = ml.check(layout, shared_layouts.simulated(layout, 6, count)[0])
    prior, rng = draw_prior(layout), np.random.default_rng(1)
    prior_sd = found.latents.set_index("node").loc["ability", "prior_sd"]
    ability, ease = prior["ability"], rng.choice(prior["ease"], (4000, count))
    chance = 1 / (1 + np.exp(-ability[:, None] - ease))
    sds = 1 / np.sqrt(1 / prior_sd**2 + (chance * (1 - chance)).sum(axis=1))
    assert found.expected["ability"].mean() == pytest.approx(sds.mean(), rel=0.1)


def test_a_constant_that_shared_values_need_to_vary_is_named():
    layout = shared_layouts.explanatory()
    known = shared_layouts.simulated(layout, 12, 8)[0]
    items = known.items.assign(length=1.0)
    same = ml.Evaluation(items, known.successes, known.trials, subjects=known.subject_table)
    for evaluation, count in ((same, 1), (known, 0)):
        problems = ml.check(layout, evaluation).problems
        assert sum(text.startswith("length is 1 on all items") for text in problems) == count


def test_large_cohorts_are_checked():
    layout = shared_layouts.rasch()
    many = ml.check(layout, shared_layouts.simulated(layout, 2000, 4)[0])
    assert len(many.expected) == 2000
    assert many.latents.set_index("node")["levels"]["ease"] == 4


def test_memory_is_that_of_attempts_and_not_of_all_pairs():
    """Twin: the evaluation's own table of 3,000 subjects by 20,000 items."""
    rng = np.random.default_rng(1)
    pairs = {"subject": rng.integers(0, 3000, 40_000), "item": rng.integers(0, 20_000, 40_000)}
    rows = pd.DataFrame(pairs).astype(str).drop_duplicates()
    rows["outcome"] = rng.integers(0, 2, len(rows))
    evaluation = ml.Evaluation.from_long(rows)
    peaks = []
    for call in (lambda: ml.check(shared_layouts.rasch(), evaluation), lambda: evaluation.trials):
        tracemalloc.start()
        call()
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    assert peaks[0] < 250 < peaks[1]


def test_short_tests_are_advised_to_share():
    """Ten trials for each element, and eight subjects, are where it begins."""
    skill = ml.Capability("skill", low=-4, high=4)
    length = ml.MetaFeature("length", low=-3, high=3)
    layout = ml.Layout("alone", ml.Success("solved", logistic(skill - length)))
    counts = [(8, 9, True), (8, 10, False), (7, 9, False)]
    for people, tasks, advised in counts:
        profiles = pd.DataFrame({"skill": np.linspace(-2, 2, people)})
        evaluation = ml.simulate(layout, shared_layouts.items(tasks), profiles, seed=1)
        found = ml.check(layout, evaluation)
        assert any("a joint fit" in text for text in found.advice) is advised
        assert ("Effect('mean')" in " ".join(str(found).split())) is advised
