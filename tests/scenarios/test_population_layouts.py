"""Layouts with a population: formulas by hand, their batteries, and cohorts that they take."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import spearmanr

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.command import main
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios.adele.scales import DEMANDS
from measurement_layouts.scenarios.fraction_subtraction import SKILLS

WITH = ("animal-ai-olympics", "fraction-subtraction", "gsm8k", "weirdml", "adele")
ROUNDING = 1e-10  # some ten operations on numbers of size 10
COUNT = 200


def drawn(seed=1):
    """A stream of numbers, and of columns of them."""
    rng = np.random.default_rng(seed)
    return rng, lambda low, high: rng.uniform(low, high, COUNT)


def animal_ai():
    """Values of the nodes without parents, and the chance of success by hand."""
    _, column = drawn()
    value = {
        **{"distance": column(1, 40), "size": column(0.3, 4), "XPos": column(-1, 1)},
        **{"rewardBehind": column(0, 1), "navigationAbility": column(0, 50)},
        **{"navigationSlope": column(0.05, 0.5), "visualAbility": column(1, 7)},
        **{"visualSlope": column(0.5, 3), "turningCost": column(0, 20)},
        **{"rightLeftBias": column(-9, 9), "noiseLevel": column(0, 0.3), "ease": column(-3, 3)},
    }
    far = value["distance"] + value["turningCost"] * value["rewardBehind"]
    ahead = value["navigationAbility"] - far + value["rightLeftBias"] * value["XPos"]
    able = expit(ahead * value["navigationSlope"] + value["ease"])
    small = np.log2(value["distance"] / value["size"])
    seen = expit(value["visualSlope"] * (value["visualAbility"] - small))
    return value, (), (1 - value["noiseLevel"]) * able * seen + value["noiseLevel"] / 2


def fractions():
    """Of skills, of which the items need some."""
    rng, column = drawn()
    value = {
        "skillLevel": rng.normal(0, 2, (COUNT, len(SKILLS))),
        "needed": rng.integers(0, 2, (COUNT, len(SKILLS))).astype(float),
        "slips": column(0, 0.3)[:, None],
        "guesses": column(0, 0.3)[:, None],
    }
    knows = np.where(value["needed"] == 1, expit(value["skillLevel"]), 1).prod(axis=1)
    slips, guesses = value["slips"][:, 0], value["guesses"][:, 0]
    return value, ("skill",), guesses + (1 - guesses) * (1 - slips) * knows


def word_problems():
    """Of an ability, weighed demands and an ease."""
    _, column = drawn()
    typical = {"steps": 3, "digits": 2, "doublings": 6}
    value = {"solvingAbility": column(-2, 6), "ease": column(-2, 2)}
    margin = value["solvingAbility"] + value["ease"]
    for demand, usual in typical.items():
        value |= {demand: column(1, 8), f"{demand}Weight": column(0, 1)}
        margin = margin - value[f"{demand}Weight"] * (value[demand] - usual)
    return value, (), expit(margin)


def time_horizons():
    """Of a horizon, an ease of the threshold, and the model's own part on the task."""
    _, column = drawn()
    names = ("horizon", "ease", "own", "logHours")
    value = {name: column(-4, 4) for name in names} | {"slope": column(0.3, 3)}
    ahead = value["horizon"] + value["ease"] + value["own"] - value["logHours"]
    return value, (), expit(value["slope"] * ahead)


def general_scales():
    """Of abilities that make up for each other, weighed by the squares of the demands."""
    rng, column = drawn()
    value = {
        "ability": rng.normal(3, 2, (COUNT, len(DEMANDS))),
        "demand": rng.integers(0, 6, (COUNT, len(DEMANDS))).astype(float),
    }
    single = {name: column(-1, 1) for name in ("shift", "ease")}
    single |= {"slope": column(0.3, 3)}
    value["demand"][:, 0] = 1  # an item that demands nothing weighs nothing
    weights = value["demand"] ** 2 / (value["demand"] ** 2).sum(axis=1, keepdims=True)
    ahead = (weights * (value["ability"] - value["demand"])).sum(axis=1)
    own = single["shift"] + single["ease"]
    value |= {name: number[:, None] for name, number in single.items()}
    return value, ("dimension",), expit(single["slope"] * ahead + own)


BY_HAND = dict(
    zip(WITH, (animal_ai, fractions, word_problems, time_horizons, general_scales), strict=True)
)


@pytest.mark.parametrize("name", WITH)
def test_chances_by_hand(name):
    values, dims, expected = BY_HAND[name]()
    outcome = scenarios.get(name).population().outcome
    found = np.ravel(evaluate(outcome, values, dims))
    assert found == pytest.approx(expected, abs=ROUNDING)
    rolled = {key: np.roll(value, 1, axis=0) for key, value in values.items() if "Abil" in key}
    rolled |= {key: np.roll(values[key], 1, axis=0) for key in LEVELS & set(values)}
    twin = np.ravel(evaluate(outcome, values | rolled, dims))
    assert twin != pytest.approx(expected, abs=0.1)  # the abilities of another row


LEVELS = {"skillLevel", "horizon", "ability"}


def test_the_command_draws_them(tmp_path):
    assert main(["draw", "gsm8k", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "gsm8k-population.svg").is_file()


@pytest.mark.slow
def test_a_population_is_run_where_a_study_has_one(tmp_path, monkeypatch):
    real = scenarios.get("gsm8k")
    few = real.simulate(1).evaluation
    few = few.select(subjects=few.subjects[:6], items=few.items.index[::40])
    cohort = replace(real.simulate(1), evaluation=few)
    small = replace(
        real,
        load=lambda folder: few,
        simulate=lambda seed: cohort,
        layouts={"recommended layout": real.layouts["recommended layout"]},
    )
    monkeypatch.setattr(scenarios, "get", lambda name: small)
    out = tmp_path / "out"
    asked = ["run", "gsm8k", "--population", "--draws", "20", "--out", str(out)]
    assert main(asked) == 0
    assert ml.load(out / "fit.nc").layout.name == "gsm8k-population"
    assert "weight" in " ".join(pd.read_csv(out / "population.csv")["node"]).lower()


def test_a_population_is_refused_where_a_study_has_none(tmp_path, capsys):
    assert main(["run", "math-exam", "--population", "--out", str(tmp_path / "out")]) == 2
    assert "math-exam has no population layout, only the layouts" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ability"),
    [
        ("gsm8k", "solvingAbility"),
        ("weirdml", "horizon"),
        ("adele", "generalLevel"),
        ("animal-ai-olympics", "visualAbility"),
        ("fraction-subtraction", "skillLevel"),
    ],
)
def test_abilities_are_found_again(name, ability):
    """Rank correlation of 30 subjects' ability, six outcomes a cell; the twin is shuffled."""
    scenario = scenarios.get(name)
    layout = scenario.population()
    items = scenario.simulate(1).evaluation.items
    items = items.sample(min(len(items), 60), random_state=1)
    people = pd.DataFrame(index=[f"s{number}" for number in range(30)])
    truth = ml.validation.draw_truth(layout, items, people, seed=6)
    made = ml.simulate(layout, items, truth, seed=5, trials=6)
    fit = ml.fit(layout, made, draws=150, tune=250, chains=2, seed=1, progressbar=False)
    found = fit.posterior[ability].mean(("chain", "draw"))
    known = truth[ability].sel(subject=found["subject"]).transpose(*found.dims)
    shuffled = np.random.default_rng(1).permutation(known.to_numpy().ravel())
    assert spearmanr(found.to_numpy().ravel(), known.to_numpy().ravel()).statistic > FOUND
    assert abs(spearmanr(found.to_numpy().ravel(), shuffled).statistic) < FOUND


FOUND = 0.57
"""Three standard errors of a rank correlation of 30 subjects."""
