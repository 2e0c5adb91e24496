"""The benchmark of adaptive tests: banks, the plain reference, the rival, and what is counted."""

import json
import os
from dataclasses import replace

import banks.bank
import next_items
import next_items_bound as bound
import next_items_irt as irt
import next_items_posterior as posterior
import next_items_reference as reference
import next_items_replayed as replayed
import numpy as np
import pandas as pd
import pytest
from banks import BANKS, Bank, annotated, drawn, population
from banks.capabilities import LETTERS
from battery_cases import DATA
from scipy.special import expit
from scipy.stats import beta, kstest, uniform

import measurement_layouts as ml
from measurement_layouts.inference.model.prior import prior_profiles
from measurement_layouts.linking import logistic

real_data = pytest.mark.skipif(not os.environ.get(DATA), reason="there are no real data")


@pytest.fixture(scope="module")
def three():
    return BANKS["three"]()


@pytest.fixture(scope="module")
def looking():
    """One capability, nine items: small enough to compute everything on a grid."""
    sight = ml.Capability("sight", low=0, high=10)
    smallness = ml.MetaFeature("smallness", low=0, high=10)
    layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness, 2)))
    items = pd.DataFrame({"smallness": np.arange(1.0, 10)}, [f"item {n}" for n in range(9)])
    return Bank("looking", layout, items, ("sight",), (4,), 5)


@pytest.mark.parametrize("name", BANKS)
def test_banks_have_what_their_layouts_need_and_answers_of_their_own(name, monkeypatch):
    monkeypatch.setattr(banks.bank, "MOST", 40)  # whom a benchmark may ask
    bank = BANKS[name]()
    answers = bank.answers(3)
    assert answers.shape == (3, len(bank.items))
    assert set(np.unique(answers)) == {0, 1}
    assert bank.items.index.is_unique
    assert set(bank.judged) <= set(bank.everybody)
    assert (answers[:2] == bank.answers(2)).all()
    assert (answers != replace(bank, seed=bank.seed + 10).answers(3)).any()


def test_three_needed_capabilities_are_as_stated(three):
    """Shares of 2,000 to 4 standard errors; distributions of 4,000 by Kolmogorov's test."""
    needed = three.items[[f"needed[{letter}]" for letter in LETTERS[:3]]].to_numpy()
    demand = three.items[[f"demand[{letter}]" for letter in LETTERS[:3]]].to_numpy()
    assert np.abs(needed.mean(axis=0) - 0.6).max() < 4 * (0.24 / 2000) ** 0.5
    assert (demand[needed == 0] == 0).all()
    assert kstest(demand[needed == 1], uniform(0, 10).cdf).pvalue > 1e-3
    truth = three.everybody
    assert kstest(truth["ability[b]"], uniform(0, 10).cdf).pvalue > 1e-3
    assert kstest(truth["noise"], beta(1, 9).cdf).pvalue > 1e-3
    few = truth.iloc[:4]
    ability = few[[f"ability[{letter}]" for letter in LETTERS[:3]]].to_numpy()[:, None]
    able = np.where(needed, expit(2 * (ability - demand)), 1).prod(axis=2)
    noise = few[["noise"]].to_numpy()
    assert three.chances(few) == pytest.approx((1 - noise) * able + noise / 2)


def test_answers_come_as_often_as_their_chances_say(three):
    profiles, answers = three.profiles(40), three.answers(40)
    chances = three.chances(profiles)
    error = np.sqrt((chances * (1 - chances)).sum())
    assert abs((answers - chances).sum()) < 4 * error


def test_a_population_scatters_about_its_means():
    found = population.profiles(population.MOST)
    means = found.iloc[:, :3].mean().to_numpy()
    assert np.abs(means - population.MEANS).max() < 4 * population.SPREAD / population.MOST**0.5
    assert population.layout_together().joint
    assert not population.layout_alone().joint


def on_a_grid(bank, answers, places):
    """Exact relative sd of one uniform capability after some answers."""
    sight = (np.arange(20_000) + 0.5) / 2_000
    chances = expit(2 * (sight[:, None] - bank.items["smallness"].to_numpy()[places]))
    weights = np.where(answers[places], chances, 1 - chances).prod(axis=1)
    weights /= weights.sum()
    mean = weights @ sight
    return np.sqrt(weights @ (sight - mean) ** 2) / (10 / 12**0.5)


def test_the_ruler_is_the_posterior(looking):
    """Weighted draws, some thousands of which are effective: to 3 % of the sd."""
    ruler, answers = reference.Reference(looking, 3), looking.answers(6)
    places = reference.randomly(answers, 5, seed=1)
    found = ruler.judged(answers, places)
    assert found[:, 0] == pytest.approx(1, abs=1e-6)
    exact = [on_a_grid(looking, row, own) for row, own in zip(answers, places, strict=True)]
    assert found[:, 5] == pytest.approx(exact, rel=0.03)
    others = [on_a_grid(looking, 1 - row, own) for row, own in zip(answers, places, strict=True)]
    assert np.abs(found[:, 5] / others - 1).max() > 0.03


def test_the_reference_asks_in_the_middle_first_and_never_twice(looking):
    """The middle one of symmetric items tells most; then those beside the answer."""
    answers = looking.answers(6)
    chosen = reference.Reference(looking, 3).informed(answers, 9)
    assert (chosen[:, 0] == 4).all()
    right = answers[:, 4] == 1
    assert (chosen[right, 1] > 4).all()
    assert (chosen[~right, 1] < 4).all()
    assert (np.sort(chosen, axis=1) == np.arange(9)).all()


def test_what_is_chosen_well_needs_fewer_items_than_random_choice(looking):
    answers = looking.answers(40)
    judge = reference.Reference(looking, 3)
    informed = judge.judged(answers, reference.Reference(looking, 4).informed(answers, 9))
    random = judge.judged(answers, reference.randomly(answers, 9, seed=1))
    (good, same), again = reference.needs_of(random[:, 4], [informed, random], seed=1)
    assert good < 3.5
    assert same == pytest.approx(4)
    assert again.shape == (400, 2)
    assert (again[:, 0] < again[:, 1]).mean() > 0.95


def test_needs_are_counted_between_items():
    curve = np.array([1.0, 0.8, 0.4, 0.3])
    assert reference.needs(curve, 0.6) == pytest.approx(1.5)
    assert reference.needs(curve, 1.0) == 0
    assert np.isnan(reference.needs(curve, 0.2))


def test_random_choice_is_each_subjects_own_and_repeats_by_its_seed():
    answers = np.zeros((3, 50))
    found = reference.randomly(answers, 10, seed=2)
    assert (found == reference.randomly(answers, 10, seed=2)).all()
    assert (found[0] != found[1]).any()
    assert all(len(set(row)) == 10 for row in found)


@pytest.fixture(scope="module")
def two_parameters():
    """Slopes 0.5 to 2 and intercepts of spread 1, with answers of 3,000 subjects."""
    rng = np.random.default_rng(1)
    slopes, intercepts = rng.uniform(0.5, 2, 30), rng.normal(size=30)
    chances = expit(rng.normal(size=(3000, 1)) * slopes + intercepts)
    return slopes, intercepts, (rng.random(chances.shape) < chances).astype(float)


def test_the_rival_finds_slopes_and_intercepts(two_parameters):
    """Of 3,000 subjects: standard errors of about 0.08 and 0.06."""
    slopes, intercepts, answers = two_parameters
    found = irt.calibrated(answers)
    assert np.abs(found.slopes - slopes).max() < 0.35
    assert np.abs(found.intercepts - intercepts).max() < 0.3
    holes = np.where(np.random.default_rng(2).random(answers.shape) < 0.3, np.nan, answers)
    assert np.abs(irt.calibrated(holes).slopes - slopes).max() < 0.45


def test_the_rival_asks_what_has_most_fisher_information():
    model = irt.Calibrated(np.array([1.0, 2.0, 2.0]), np.array([0.0, 0.0, 9.0]))
    assert model.informed(np.ones((1, 3)), 3)[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize(("apart", "there"), [(0.0, True), (2.5, False)])
def test_a_mode_is_named_where_it_holds_nearly_everything(apart, there):
    places = posterior.PROPENSITIES
    density = np.exp(-(((places - apart) / 0.3) ** 2) / 2) + np.exp(
        -(((places + apart) / 0.3) ** 2) / 2
    )
    found = posterior._mode(density / density.sum())
    assert (found is not None) is there
    if found is not None:  # 0.3 times the root of 2 log 100
        assert found == pytest.approx((-0.91, 0.91), abs=0.05)


def test_the_judged_are_capabilities_or_everything(three):
    assert replayed.judged_of(three.layout) == list(three.judged)
    only = ml.Layout("bias", ml.Success("done", logistic(ml.Bias("lean"))))
    assert replayed.judged_of(only) == ["lean"]


def test_profiles_have_a_column_for_each_element(three):
    assert list(drawn(three.layout, 5, seed=1)) == [*three.judged, "noise"]


@real_data
def test_the_battery_chosen_by_hand_is_among_the_annotated_items():
    items, chosen = annotated.read()
    assert items.index.is_unique
    assert len(items) == 19_572
    assert len(chosen) == 150
    spelt = items.set_axis(items.index.str.lower())
    both = chosen.index.str.lower().intersection(spelt.index)
    assert len(both) == 130
    theirs = chosen.set_axis(chosen.index.str.lower()).loc[both]
    assert (spelt.loc[both, theirs.columns] == theirs).all(axis=None)
    assert [len(annotated.layout(items, kind).latents) for kind in annotated.KINDS] == [3, 3, 2]


@pytest.mark.slow
def test_a_short_run_reports_every_figure(capsys):
    next_items.main(["--quick", "--json", "--case", "bands"])
    told = json.loads(capsys.readouterr().out)
    names = [figure["name"] for figure in told["figures"]]
    assert sum("beside greedy mutual information" in name for name in names) == 3
    assert sum("beside two-parameter IRT" in name for name in names) == 3


def test_least_uncertainty_of_any_choice_is_that_of_the_best_items():
    """Small slopes: information is that of the formula, and the best three items are those of most.

    Twin: the three worst ones, where the search begins, leave more.
    """
    weight = ml.MetaFeature("weight", low=0, high=9)
    prior = ml.Prior("Normal", mu=0, sigma=1)
    layout = ml.Layout("x", ml.Success("ok", logistic(ml.Bias("b", prior=prior) * weight * 0.01)))
    bank = pd.DataFrame({"weight": np.arange(1.0, 9)}, [f"item {n}" for n in range(8)])
    before = prior_profiles(layout).std(ddof=1) ** -2
    best, worst = (
        (before + (np.array(three) ** 2).sum() * 0.01**2 / 4) ** -0.5
        for three in ((6, 7, 8), (1, 2, 3))
    )
    found, begun = bound.least(layout, bank, bank.index[:3], np.ones(1), 40)
    assert found == pytest.approx(best, abs=3e-5)
    assert begun == pytest.approx(worst, abs=3e-5)
    assert begun - found > 1e-3
