"""The layouts over eighteen demands: their formulas by hand, and what they say of a new task."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts import DataError, LayoutError
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios.adele import layouts
from measurement_layouts.scenarios.adele.battery import simulated_cohort
from measurement_layouts.scenarios.adele.layouts import additive_layout, capability_layout
from measurement_layouts.scenarios.adele.scales import DEMANDS

COUNT = 40


@pytest.fixture
def known():
    """A profile, and forty items at random levels."""
    rng = np.random.default_rng(1)
    return {
        "ability": rng.normal(3, 1, (1, 18)),
        "demand": rng.integers(0, 6, (COUNT, 18)).astype(float),
        "unguessability": rng.choice([75, 80, 100], (COUNT, 1)),
        "noise": 0.1,
        "ease": 0.4,
        "weight": rng.normal(0, 0.3, (1, 18)),
        "unguessed": 2.0,
    }


def chance(layout, known, dims=("dimension",)):
    return np.reshape(evaluate(layout.outcome, known, dims), COUNT)


@pytest.mark.parametrize("slopes", ["shared", "pooled"])
def test_abilities_meet_their_demands(slopes, known):
    own = np.random.default_rng(2).uniform(0.5, 3, (1, 18))
    slope = np.array([[1.7]]) if slopes == "shared" else own
    part = expit(slope * (known["ability"] - known["demand"]))
    guessed = 1 - known["unguessability"][:, 0] / 100
    expected = 0.9 * (guessed + (1 - guessed) * part.prod(axis=1))
    found = chance(capability_layout(slopes), known | {"slope": slope})
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_demands_add_up(known):
    places = ("SAT En", "SAT Math")
    flags = np.eye(2)[np.arange(COUNT) % 2]
    shift = np.array([[0.5, -0.2]])
    more = {"shift": shift[:, None, :], "place": flags[:, None, :]}
    deep = {
        name: value[..., None] if np.ndim(value) == 2 else value for name, value in known.items()
    }
    expected = expit(
        0.4
        - ((known["demand"] - 2) * known["weight"]).sum(axis=1)
        - 2.0 * (known["unguessability"][:, 0] - 85) / 100
        + flags @ shift[0]
    )
    found = chance(additive_layout(places), deep | more, ("dimension", "where"))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_demands_of_a_population_add_up(known):
    own = {"generalEase": 0.4, "shift": 0.5, "ease": -0.2}
    asked = ((known["demand"] - 2) * known["weight"]).sum(axis=1)
    guessed = 2.0 * (known["unguessability"][:, 0] - 85) / 100
    found = chance(layouts.additive_population_layout(), known | own)
    np.testing.assert_allclose(found, expit(0.7 - asked - guessed), rtol=1e-12)
    plates = {latent.name: latent.plates for latent in layouts.additive_population_layout().latents}
    assert plates["meanWeight"] == ()
    assert list(map(str, plates["weight"])) == list(map(str, plates["unguessed"])) == ["subject"]


def test_places_are_columns_of_their_own():
    evaluation = simulated_cohort(1, 300).evaluation
    marked, tasks = layouts.with_places(evaluation)
    _, benchmarks = layouts.with_places(evaluation, "benchmark")
    flags = marked.items[[f"place[{task}]" for task in tasks]]
    assert (flags.sum(axis=1) == 1).all()
    assert (flags.idxmax(axis=1).str[6:-1] == names(evaluation)).all()
    assert set(benchmarks) == set(evaluation.items["benchmark"])


def names(evaluation):
    return evaluation.items["benchmark"] + " " + evaluation.items["task"]


@pytest.mark.slow
def test_a_task_without_outcomes_is_like_any_task():
    """Its shift keeps the prior, so that a forecast there is less certain than elsewhere."""
    cohort = simulated_cohort(1, 400).evaluation
    marked, tasks = layouts.with_places(cohort, "benchmark")
    left_out = marked.items["benchmark"] == "SAT"
    kept = marked.trials * (~left_out).astype(int).to_numpy()
    training = ml.Evaluation(marked.items, marked.successes * kept, kept)
    fit = ml.fit(
        additive_layout(tasks),
        training,
        subjects=["GPT-4o"],
        draws=500,
        tune=300,
        chains=2,
        seed=1,
        reruns=0,
        progressbar=False,
    )
    shifts = fit.posterior["shift"].sel(subject="GPT-4o")
    unseen = shifts.sel(where="SAT").to_numpy().ravel()
    ess = len(unseen) / 4  # draws of an unbounded prior mix at least so well
    assert abs(unseen.mean()) < 4 * 0.5 / ess**0.5
    assert unseen.std() == pytest.approx(0.5, abs=4 * 0.5 / (2 * ess) ** 0.5)
    seen = marked.items["benchmark"].value_counts().idxmax()
    assert shifts.sel(where=seen).to_numpy().std() < 0.4  # the twin: outcomes tell of this one


@pytest.mark.slow
def test_weights_of_demands_are_recovered():
    """Coverage over 6 subjects and 18 weights, each from 1,200 items; with a twin."""
    rng = np.random.default_rng(3)
    items = simulated_cohort(1, 1200).evaluation.items
    layout = additive_layout(spread=0.2)
    columns = ["ease", "unguessed", *(f"weight[{code}]" for code in DEMANDS)]
    scale = np.array([1, 1, *[0.2] * 18])
    truth = pd.DataFrame(rng.normal(size=(6, 20)) * scale, list("abcdef"), columns)
    evaluation = ml.simulate(layout, items, truth, seed=4)
    fit = ml.fit(layout, evaluation, draws=400, tune=400, chains=2, seed=1, progressbar=False)
    posterior = fit.posterior["weight"].stack(draws=("chain", "draw"))
    z = (posterior.mean("draws") - truth[columns[2:]].to_numpy()) / posterior.std("draws")
    inside = abs(z.to_numpy()) < norm.ppf(0.95)
    error = (0.9 * 0.1 / inside.size) ** 0.5
    assert abs(inside.mean() - 0.9) < 4 * error
    turned = (posterior.mean("draws") - truth[columns[:1:-1]].to_numpy()) / posterior.std("draws")
    assert abs((abs(turned.to_numpy()) < norm.ppf(0.95)).mean() - 0.9) > 4 * error


def test_what_is_wrong_is_named():
    with pytest.raises(LayoutError, match="slopes='steep'"):
        capability_layout("steep")
    evaluation = simulated_cohort(1, 50).evaluation
    bare = ml.Evaluation(
        evaluation.items.drop(columns="task"), evaluation.successes, evaluation.trials
    )
    with pytest.raises(DataError, match="task"):
        layouts.with_places(bare)
