"""A posterior that is carried on, against fits and integrals of the same answers."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.inference.sequential import running as module
from measurement_layouts.inference.sequential.running import Running
from measurement_layouts.linking import band, logistic
from measurement_layouts.linking.functions.mixture import mean_failure
from tests.helpers import graded_layouts
from tests.helpers.adaptive_banks import (
    band_answers,
    band_layout,
    skills_answers,
    skills_bank,
    skills_layout,
)
from tests.helpers.populations import normal, zero_sum


def in_order(bank, count):
    """Items about which a subject with middling skills is uncertain."""
    level = bank.max(axis=1)
    return bank[(level > 4) & (level < 9)].iloc[:count]


def followed(layout, bank, answers, seed=1):
    """Carry a posterior on along the items of a bank."""
    found = Running.of(layout, bank, seed=seed)
    for place, name in enumerate(bank.index):
        found.record([place], [answers[name]], [1])
    return found


def evaluation(bank, answers):
    """The same answers for a fit."""
    won = pd.DataFrame({name: [answers[name]] for name in bank.index}, index=["subject"])
    return ml.Evaluation.from_wide(won, bank)


@pytest.fixture(scope="module", params=[10, 50])
def both(request):
    """A posterior carried on, and the fit of the same answers."""
    bank = in_order(skills_bank(), request.param)
    answers = skills_answers(bank)
    fit = ml.fit(
        skills_layout(),
        evaluation(bank, answers),
        draws=1500,
        chains=2,
        seed=1,
        progressbar=False,
    )
    return followed(skills_layout(), bank, answers), fit.profiles()


def test_a_posterior_carried_on_is_that_of_a_fit(both):
    running, fitted = both
    off = (running.means - fitted["mean"]) / fitted["sd"]
    assert np.sqrt((off**2).mean()) < 0.1
    ratio = running.sds / fitted["sd"]
    assert np.sqrt(((ratio - 1) ** 2).mean()) < 0.1
    assert running.error < 0.1


def exactly(bank, won):
    """Integrate the band layout's posterior on a fine line."""
    at = np.linspace(-10, 10, 40_001)
    chance = band(at[:, None], bank["lower"].to_numpy(), bank["upper"].to_numpy()) * 0.9 + 0.05
    log = np.log(np.where(won, chance, 1 - chance)).sum(axis=1) - ((at - 0.15) / 1.5) ** 2 / 2
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ at
    return weight[at > 0].sum(), mean, np.sqrt(weight @ (at - mean) ** 2)


def test_both_modes_are_kept_with_their_weights():
    bank, won = band_answers()
    right, mean, sd = exactly(bank, won)
    assert 0.2 < right < 0.8
    shares = []
    for seed in range(6):
        running = followed(band_layout(), bank, dict(zip(bank.index, won, strict=True)), seed)
        share = running.weights[running.values[:, 0] > 0].sum()
        assert share == pytest.approx(right, abs=0.06)
        assert running.means[0] == pytest.approx(mean, abs=4 * running.error * sd)
        shares.append(share)
    assert np.mean(shares) == pytest.approx(right, abs=0.025)
    grid = ml.fit(
        band_layout(),
        evaluation(bank, dict(zip(bank.index, won, strict=True))),
        method="grid",
        seed=1,
        progressbar=False,
    )
    assert float((grid.posterior["risk"] > 0).mean()) == pytest.approx(right, abs=0.02)


def test_the_stated_error_is_that_of_the_means():
    bank = in_order(skills_bank(), 20)
    answers = skills_answers(bank)
    every = [followed(skills_layout(), bank, answers, seed) for seed in range(12)]
    spread = np.std([found.means for found in every], axis=0, ddof=1) / every[0].sds
    stated = np.median([found.error for found in every])
    assert 0.5 < stated / spread.max() < 2


def test_particles_are_drawn_anew_where_the_error_grows(monkeypatch):
    bank = in_order(skills_bank(), 20)
    answers = skills_answers(bank)
    usual = followed(skills_layout(), bank, answers)
    monkeypatch.setattr(module, "_ERROR", 1e-6)
    monkeypatch.setattr(module, "_GROWN", 0.0)
    anew = Running.of(skills_layout(), bank, seed=2)
    refitted = []
    for place, name in enumerate(bank.index):
        anew.record([place], [answers[name]], [1])
        refitted.append(anew.refitted)
    assert any(refitted)
    assert not all(refitted)
    assert np.abs((anew.means - usual.means) / usual.sds).max() < 0.25
    assert anew.sds == pytest.approx(usual.sds, rel=0.2)


@pytest.mark.slow
def test_a_newcomer_is_carried_on_as_if_taken_at_once():
    mean = ml.Bias("mean", per="population", prior=normal(0, 1))
    ability = ml.Capability("ability", prior=normal(mean, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=zero_sum(ml.Spread("easeSpread")))
    layout = ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))
    rng = np.random.default_rng(1)
    items = pd.DataFrame(index=[f"item {number}" for number in range(12)])
    chance = 1 / (1 + np.exp(-(rng.normal(size=(15, 1)) + rng.normal(size=12))))
    won = pd.DataFrame((rng.random((15, 12)) < chance).astype(int), columns=items.index)
    others = ml.Evaluation.from_wide(won.add_prefix("subject ", axis=0), items)
    fit = ml.fit(layout, others, draws=500, tune=500, chains=2, seed=1, progressbar=False)
    running = Running.of(layout, items, subject="new", given=fit, seed=1)
    first = [1, 1, 0, 1, 1, 0, 1, 1]
    for place, outcome in enumerate(first):
        running.record([place], [outcome], [1])
    asked = pd.DataFrame([first], ["new"], items.index[: len(first)])
    table = fit.newcomer(ml.Evaluation.from_wide(asked, items.loc[asked.columns]))
    row = table.profiles().iloc[0]
    assert running.means[0] == pytest.approx(row["mean"], abs=0.15 * row["sd"])
    assert running.sds[0] == pytest.approx(row["sd"], rel=0.1)


def test_grades_are_steps_that_are_carried_on():
    layout = ml.Layout("paths", graded_layouts.graded())
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"timeHidden": rng.uniform(0, 10, 30)}, [f"item {k}" for k in range(30)])
    profile = pd.DataFrame({"objectPermanence": [6.0], "noise": [0.05]}, index=["subject"])
    drawn = ml.simulate(layout, items, profile, seed=2)
    running = Running.of(layout, items, seed=1)
    running.record(np.arange(90), drawn.successes.to_numpy()[0], drawn.trials.to_numpy()[0])
    fitted = ml.fit(layout, drawn, draws=1500, chains=2, seed=1, progressbar=False).profiles()
    off = (running.means - fitted["mean"]) / fitted["sd"]
    assert np.abs(off).max() < 0.15
    assert running.sds == pytest.approx(fitted["sd"], rel=0.1)


def test_what_cannot_be_carried_on_is_refused():
    skill, size = ml.Capability("skill", 0, 9), ml.MetaFeature("size", 0, 9)
    items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
    hard = ml.Unseen("hard", 0.0, 1.0)
    unseen = ml.Layout("unseen", ml.Success("ok", logistic(skill - size - hard)))
    with pytest.raises(ml.FitError, match=r"hard is unseen.*a test that adapts"):
        Running.of(unseen, items)
    chance = logistic(skill - size) * (1 - 0.1 * mean_failure)
    failing = ml.Layout("failing", ml.Success("ok", chance))
    with pytest.raises(ml.FitError, match="needs meanFailure"):
        Running.of(failing, items)
    mean = ml.Bias("mean", per="population")
    joint = ml.Capability("skill", prior=normal(mean, 1))
    shared = ml.Layout("shared", ml.Success("ok", logistic(joint - size)))
    with pytest.raises(ml.FitError, match="a joint fit of other subjects is needed"):
        Running.of(shared, items)
