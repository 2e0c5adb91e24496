"""Several attempts at an item that share a part of one subject on it: fits and forecasts."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, repeated_attempts
from helpers.joint_fits import normal
from scipy.special import expit, logsumexp
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts.inference.kernel.tracing import UntraceableError
from measurement_layouts.inference.sampling import engine, joint_nuts
from measurement_layouts.linking import logistic

CELL = ("subject", "item")
SUBJECTS, ITEMS, ATTEMPTS = 20, 8, 10
SAMPLING = {"tune": 400, "chains": 2, "seed": 3, "progressbar": False}


def _part(sigma):
    return ml.Bias("part", per=CELL, prior=normal(0, sigma))


def _layout():
    ability = ml.Capability("ability", prior=normal(ml.Bias("mean", per="population"), 1))
    spread = ml.Spread("partSpread", prior=ml.Prior("Gamma", alpha=8, beta=8))
    ease = ml.Bias("ease", per="item", prior=normal(0, 1))
    return ml.Layout("attempts", ml.Success("solved", logistic(ability + ease + _part(spread))))


def _evaluation():
    """Make counts; the first subject's first two items were not attempted."""
    rng = np.random.default_rng(11)
    odds = rng.normal(0, 1, (SUBJECTS, 1)) + rng.normal(0, 1, ITEMS)
    odds = odds + 1.2 * rng.normal(size=(SUBJECTS, ITEMS))
    who, what = [f"s{at}" for at in range(SUBJECTS)], [f"i{at}" for at in range(ITEMS)]
    trials = np.full((SUBJECTS, ITEMS), ATTEMPTS)
    trials[0, :2] = 0
    counts = (pd.DataFrame(each, who, what) for each in (rng.binomial(trials, expit(odds)), trials))
    return ml.Evaluation(pd.DataFrame(index=what), *counts)


def _unsupported(*_):
    raise UntraceableError("for the plain model")


@pytest.fixture
def fresh_forms(monkeypatch):
    monkeypatch.setattr(joint_nuts, "_forms", type(joint_nuts._forms)(4))
    return monkeypatch


def test_a_fit_has_a_part_for_each_subject_on_each_item():
    evaluation = _evaluation()
    fit = ml.fit(_layout(), evaluation, draws=60, **SAMPLING | {"tune": 200})
    part = fit.posterior["part"]
    assert dict(part.sizes) == {"subject": SUBJECTS, "chain": 2, "draw": 60, "item": ITEMS}
    assert fit.population()["node"].tolist() == ["mean", "partSpread"]
    again = ml.fit(_layout(), evaluation, draws=60, **SAMPLING | {"tune": 200})
    assert part.equals(again.posterior["part"])
    known = fit.forecast(evaluation.items).data["mean"]
    rates = (evaluation.successes / evaluation.trials).to_numpy()
    there = ~np.isnan(rates)
    away = (known.to_numpy() - rates)[there]
    assert np.abs(away).mean() < 0.12  # with its part, a cell is foreseen from its own attempts


@pytest.mark.slow
def test_forecasts_are_those_of_the_plain_model(fresh_forms):
    """Known cells, one that nobody attempted, a new item, and a new subject."""
    evaluation, layout = _evaluation(), _layout()
    items = pd.DataFrame(index=[*evaluation.items.index, "new"])
    people = pd.DataFrame(index=["s0", "s1", "s2", "stranger"])
    found = {}
    for way in ("machine code", "plain"):
        if way == "plain":
            fresh_forms.setattr(engine, "Kernel", _unsupported)
            joint_nuts._forms = type(joint_nuts._forms)(4)
        fit = ml.fit(layout, evaluation, draws=1500, **SAMPLING)
        assert (fit.population()["rhat"] < 1.02).all()
        data = fit.forecast(items, subjects=people).data.transpose("subject", "item")
        found[way] = np.stack([data[name].to_numpy() for name in ("mean", "low", "high")])
    apart = np.abs(found["machine code"] - found["plain"])
    assert apart[0].max() < 0.02
    assert apart[1:].max() < 0.05
    width = found["plain"][2] - found["plain"][1]
    assert (
        width[1, -1] > width[1, :-1].max() + 0.1
    )  # the twin: a new item says less than known ones


STUDY = {"draws": 200, "tune": 250, "chains": 2, "seed": 1, "progressbar": False}
COHORT = 60


@pytest.mark.slow
def test_intervals_hold_abilities_with_the_part_and_not_without():
    """Thirty items of ten attempts, and a part of one log-odds for each subject on each item."""
    skills, evaluation = repeated_attempts.counts(COHORT, 1.0, seed=2)
    layout = repeated_attempts.layout(_part(ml.Spread("partSpread")))
    fit = ml.fit(layout, evaluation, **STUDY)
    slack = 3 * np.sqrt(0.9 * 0.1 / COHORT)
    assert abs(repeated_attempts.coverage(fit, skills) - 0.9) < slack
    spread = fit.population().set_index("node").loc["partSpread"]
    assert abs(spread["mean"] - 1) < 3 * spread["sd"]
    alone = ml.fit(repeated_attempts.layout(), evaluation, **repeated_attempts.GRID)
    assert repeated_attempts.coverage(alone, skills) < 0.9 - slack  # the twin


def test_the_log_likelihood_is_averaged_over_the_part_of_a_cell():
    """What is left out of a fit takes its part with it."""
    shift = ml.Bias("shift", per="item")
    part = ml.Bias("part", per=CELL, prior=normal(2 * shift, ml.Spread("partSpread")))
    ability = ml.Capability("ability", prior=normal(0, 1))
    layout = ml.Layout("shifted", ml.Success("solved", logistic(ability + part)))
    evaluation = _evaluation()
    draws = joint_fits.random_draws(layout, evaluation, 40, seed=1)
    fit = joint_fits.crafted(layout, evaluation, draws, chains=2)
    tree = fit.with_log_likelihood(subjects=["s3"])
    found = tree["log_likelihood"]["solved"].to_numpy().reshape(40, ITEMS)
    fine = np.linspace(-9, 9, 1801)
    odds = draws["ability"][:, 3, None, None] + 2 * draws["shift"][..., None]
    odds = odds + draws["partSpread"][:, None, None] * fine
    tables = evaluation.successes, evaluation.trials
    successes, trials = (table.to_numpy()[3][:, None] for table in tables)
    logs = binom.logpmf(successes, trials, expit(odds)) + norm.logpdf(fine)
    expected = logsumexp(logs + np.log(fine[1] - fine[0]), axis=-1)
    assert found == pytest.approx(expected, abs=1e-4)
    drawn = expit(draws["ability"][:, 3, None] + draws["part"][:, 3])
    given = binom.logpmf(successes[:, 0], trials[:, 0], drawn)
    assert np.abs(found - given).max() > 1  # the twin: given a drawn part it is another number
