"""The layouts over eighteen demands: their formulas by hand, and what they say of a new task."""

import numpy as np
import pytest
from scipy.special import expit

from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios.adele import layouts
from measurement_layouts.scenarios.adele.battery import simulated_cohort
from measurement_layouts.scenarios.adele.layouts import additive_layout, capability_layout

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
