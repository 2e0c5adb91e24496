"""What a layout with a population is told before a fit, against formulas by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.linking import logistic
from measurement_layouts.validation.checking.hierarchy import Hierarchy

PEOPLE, TASKS = 7, 5
ITEMS, SUBJECTS = shared_layouts.items(TASKS), shared_layouts.subjects(PEOPLE)
MEAN, SPREAD, EASE_SPREAD = 0.4, 1.3, 0.7


def values():
    """True values of the Rasch layout."""
    rng = np.random.default_rng(4)
    ease = rng.normal(0, EASE_SPREAD, TASKS)
    return {
        "mean": np.array(MEAN),
        "spread": np.array(SPREAD),
        "ability": MEAN + rng.normal(0, SPREAD, PEOPLE),
        "easeSpread": np.array(EASE_SPREAD),
        "ease": ease - ease.mean(),
    }


def by_hand(known, prior_sd, sums_to_zero=True):
    """Expected variances of mean, spread, abilities, spread of eases and eases."""
    chance = 1 / (1 + np.exp(-(known["ability"][:, None] + known["ease"])))
    weights = (chance * (1 - chance)).ravel()
    direct = np.hstack([np.repeat(np.eye(PEOPLE), TASKS, 0), np.tile(np.eye(TASKS), (PEOPLE, 1))])
    contrasts = np.eye(TASKS)
    if sums_to_zero:
        contrasts = np.linalg.svd(np.eye(TASKS) - 1 / TASKS)[0][:, :-1]
    ability = np.column_stack(
        [
            np.ones(PEOPLE),
            prior_sd["spread"] * (known["ability"] - MEAN) / SPREAD,
            SPREAD * np.eye(PEOPLE),
        ]
    )
    ease = np.column_stack(
        [prior_sd["easeSpread"] * known["ease"] / EASE_SPREAD, EASE_SPREAD * contrasts]
    )
    ties = np.zeros((PEOPLE + TASKS, ability.shape[1] + ease.shape[1]))
    ties[:PEOPLE, : ability.shape[1]], ties[PEOPLE:, ability.shape[1] :] = ability, ease
    turned = direct @ ties
    covariance = np.linalg.inv(turned.T * weights @ turned + np.eye(ties.shape[1]))
    own = np.diag(ties @ covariance @ ties.T)
    shared = np.diag(covariance)
    return {
        "mean": shared[0],
        "spread": prior_sd["spread"] ** 2 * shared[1],
        "ability": own[:PEOPLE],
        "easeSpread": prior_sd["easeSpread"] ** 2 * shared[ability.shape[1]],
        "ease": own[PEOPLE:],
    }


@pytest.fixture(scope="module")
def source():
    tried = pd.DataFrame(1, SUBJECTS.index, ITEMS.index)
    evaluation = ml.Evaluation(ITEMS, 0 * tried, tried, subjects=SUBJECTS)
    return Hierarchy(Cohort.of_evaluation(shared_layouts.rasch(), evaluation))


def test_expected_variances_are_those_of_the_formula_by_hand(source):
    """Contrasts by hand against deviations whose sum is held at zero; a twin lets it free."""
    known = values()
    prior_sd = dict(zip([part.name for part in source.parts], source.prior_sd, strict=True))
    _, after, _, _ = source.posterior(known)
    found = {part.name: after[part.columns] for part in source.parts}
    expected = by_hand(known, prior_sd)
    for name, variance in expected.items():
        np.testing.assert_allclose(found[name], variance, rtol=1e-4)
    free = by_hand(known, prior_sd, sums_to_zero=False)
    assert not np.allclose(found["ease"], free["ease"], rtol=0.05)


def test_ties_are_derivatives_of_what_priors_say(source):
    """Mean, spread and deviation of each ability; effects have their own spread alone."""
    known = values()
    ties, own = (part.toarray() for part in source.ties(known))
    at = {part.name: part.columns for part in source.parts}
    sd = dict(zip([part.name for part in source.parts], source.prior_sd, strict=True))
    np.testing.assert_allclose(ties[at["ability"], at["mean"]], 1)
    deviation = (known["ability"] - MEAN) / SPREAD
    np.testing.assert_allclose(ties[at["ability"], at["spread"]], sd["spread"] * deviation)
    np.testing.assert_allclose(np.diag(ties)[at["ability"]], SPREAD)
    assert not ties[np.ix_(at["ease"], at["mean"])].any()
    np.testing.assert_allclose(np.diag(own)[at["ease"]], EASE_SPREAD)


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
    found = ml.check(layout, shared_layouts.simulated(layout, 40, 12)[0])
    said = [problem for problem in found.problems if "no outcome tells them apart" in problem]
    assert len(said) == (pair is not None)
    assert all(problem.startswith(pair) for problem in said)
    assert all("ZeroSumNormal" in problem for problem in said)


def test_fixed_locations_are_no_ridge():
    """Effects around 0 beside abilities around 0 are pinned by both priors."""
    normal = shared_layouts.normal
    ability = ml.Capability("ability", prior=normal(0, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=normal(0, 1))
    layout = ml.Layout("pinned", ml.Success("solved", logistic(ability + ease)))
    found = ml.check(layout, shared_layouts.simulated(layout, 30, 12)[0])
    assert not [problem for problem in found.problems if "no outcome" in problem]


@pytest.fixture(scope="module")
def found():
    evaluation = shared_layouts.simulated(shared_layouts.explanatory(), 12, 8)[0]
    outcomes = evaluation.successes.astype(float)
    outcomes.iloc[0, :6] = np.nan
    known = ml.Evaluation.from_wide(outcomes, evaluation.items, subjects=evaluation.subject_table)
    return ml.check(shared_layouts.explanatory(), known)


def test_what_values_rest_on_is_counted(found):
    effects = found.effects.set_index("node")
    assert effects["per"].to_dict() == {"ability": "subject", "ofTask": "task", "ease": "item"}
    assert effects["levels"].to_dict() == {"ability": 12, "ofTask": 3, "ease": 8}
    assert effects.loc["ability", ["least_trials", "trials"]].tolist() == [2, 8]
    assert effects.loc["ease", ["least_trials", "trials"]].tolist() == [11, 11]
    assert effects.loc["ofTask", ["subjects", "items"]].tolist() == [12, 3]
    assert "Data on each latent" in str(found)


def test_every_latent_has_a_row(found):
    layout = shared_layouts.explanatory()
    assert found.latents["node"].tolist() == [latent.name for latent in layout.latents]
    assert found.latents["shrinkage"].between(-1e-6, 1).all()
    assert found.latents.set_index("node").loc["weight", "informed_by"] == "length"
    assert found.expected.shape == (12, 1)
    assert found.expected["ability"].iloc[0] > found.expected["ability"].iloc[1:].max()


def test_large_cohorts_are_looked_at_in_part():
    layout = shared_layouts.rasch()
    many = ml.check(layout, shared_layouts.simulated(layout, 2000, 4)[0])
    assert len(many.expected) == 2000
    assert many.effects.set_index("node")["levels"]["ease"] == 4


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
