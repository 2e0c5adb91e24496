"""Descriptions of subjects whose profile is known, and of fits that went wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import logistic
from measurement_layouts.reports import Rules
from measurement_layouts.reports.description.describe import Training
from measurement_layouts.validation.criticism.criticise import Criticism

COLUMNS = ["navigationAbility", "rightLeftBias", "visualAbility", "noiseLevel"]
PROFILES = {
    "blind": [5.2, 0.0, 0.05, 0.02],
    "lost": [0.1, 0.0, 1.88, 0.02],
    "right": [1.5, 1.5, 1.8, 0.02],
    "left": [1.5, -1.5, 1.8, 0.02],
    "noisy": [5.2, 0.0, 1.0, 0.5],
    "coin": [2.0, 0.0, 1.0, 1.0],
}
SAMPLING = {"draws": 300, "tune": 300, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}


@pytest.fixture(scope="module")
def layout():
    return small_layouts.animal_ai(toward=0.5)


@pytest.fixture(scope="module")
def evaluation(layout):
    profiles = pd.DataFrame.from_dict(PROFILES, orient="index", columns=COLUMNS)
    items = small_layouts.battery(count=120)
    simulated = ml.simulate(layout, items, profiles, seed=4, trials=10)
    successes, trials = (table.copy() for table in (simulated.successes, simulated.trials))
    successes.loc["ace"], trials.loc["ace"] = 10, 10
    return ml.Evaluation(items, successes, trials)


@pytest.fixture(scope="module")
def fit(layout, evaluation):
    return ml.fit(layout, evaluation, **SAMPLING)


@pytest.fixture(scope="module")
def description(fit):
    return ml.describe(fit)


def kinds(description, subject):
    """Kind of finding by element."""
    own = description.findings[description.findings["subject"] == subject]
    return own[own["where"] != ""].set_index("where")["what"].to_dict()


# --- known profiles ------------------------------------------------------------------------------


def test_weaknesses_are_those_of_the_profile(description):
    assert description.weaknesses("blind") == ["visualAbility"]
    assert description.weaknesses("lost") == ["navigationAbility"]
    assert "Weak in visualAbility: half solved at 0.0" in description.texts["blind"]
    assert kinds(description, "lost")["noiseLevel"] == "unremarkable"


def test_biases_have_a_direction(description):
    for subject, side in (("right", "positive"), ("left", "negative")):
        assert kinds(description, subject)["rightLeftBias"] == "bias"
        assert f"Bias: rightLeftBias is {side}" in description.texts[subject]
    assert kinds(description, "lost")["rightLeftBias"] == "unremarkable"


def test_noise_is_named(description):
    assert kinds(description, "noisy")["noiseLevel"] == "noise"
    assert "Noisy: about 0." in description.texts["noisy"]
    assert not description.is_uniform("noisy")


def test_of_a_coin_only_the_rate_and_the_noise_are_told(description):
    found = kinds(description, "coin")
    assert found.pop("noiseLevel") == "noise"
    assert set(found.values()) == {"unknown"}
    assert description.is_uniform("coin")
    assert (
        " of 1200 trials on 120 items, and under the layout success hardly depends"
        in description.texts["coin"]
    )
    assert "Not known" not in description.texts["coin"]


def test_all_passed(description):
    found = kinds(description, "ace")
    assert [found[name] for name in ("navigationAbility", "rightLeftBias")] == [
        "bounded",
        "unknown",
    ]
    assert description.rate("ace") == "nearly all"
    assert "ace solved all " in description.texts["ace"]
    assert "which bounds abilities on one side only" in description.texts["ace"]
    assert "Not known from these items: rightLeft" in description.texts["ace"]


def test_uniform_is_a_rule(fit):
    """The same subjects are told apart by another threshold."""
    strict = ml.describe(fit, subjects=["blind", "coin"], rules=Rules(spread=0.0001))
    assert not strict.overall["uniform"].any()
    loose = ml.describe(fit, subjects=["blind", "coin"], rules=Rules(spread=0.9))
    assert loose.overall["uniform"].all()
    assert loose.weaknesses("blind") == []


def test_levels_are_rules(fit):
    low = ml.describe(fit, subjects=["coin"], rules=Rules(nearly_nothing=0.6))
    high = ml.describe(fit, subjects=["coin"], rules=Rules(nearly_all=0.4))
    assert [low.rate("coin"), high.rate("coin")] == ["nearly nothing", "nearly all"]


def test_the_spread_is_that_of_the_forecast(fit, evaluation):
    forecast = fit.forecast(evaluation.items, subjects=["blind"])
    mean = forecast.data["mean"].to_numpy().ravel()
    training = Training.of(fit, fit.subjects.index("blind"))
    assert training.spread == pytest.approx(mean.std(), rel=1e-9)
    assert training.rate == evaluation.successes.loc["blind"].sum() / 1200


def test_items_alike_do_not_make_a_subject_uniform(rng):
    layout = small_layouts.coin()
    draws = {"p": rng.beta(91, 11, (1, 4, 500))}
    fit = small_layouts.crafted(layout, small_layouts.counts([45, 45], [50, 50]), draws)
    found = ml.describe(fit)
    assert not found.is_uniform("Ann")
    assert kinds(found, "Ann") == {"p": "strength"}


# --- whose, and whether to trust it --------------------------------------------------------------


def test_subjects_in_the_order_asked_for(fit, description):
    some = ml.describe(fit, subjects=["lost", "blind"])
    assert list(some.texts.index) == ["lost", "blind"]
    assert some.texts["lost"] == description.texts["lost"]
    with pytest.raises(FitError, match="nobody"):
        ml.describe(fit, subjects=["nobody"])


def test_draws_that_are_not_to_be_trusted(layout, evaluation, rng):
    draws = {name: rng.uniform(0.4, 0.6, (7, 4, 1000)) for name in COLUMNS}
    fit = small_layouts.crafted(
        layout, evaluation, draws, diverging=30, failures={"ace": "it fell"}
    )
    found = ml.describe(fit)
    assert "blind is not reliable yet (30 divergences in 4000 draws: raise" in found.texts["blind"]
    assert found.texts["ace"] == "ace could not be fitted (it fell)."
    sampling = found.findings[found.findings["what"] == "sampling"]
    assert list(sampling["subject"]) == [*PROFILES, "ace"]
    well = small_layouts.crafted(layout, evaluation, draws)
    assert "sampling" not in set(ml.describe(well).findings["what"])


# --- a criticism ---------------------------------------------------------------------------------


def alarms(fit, evaluation, rows, kind="candidate"):
    """A criticism with given rows, without its computation."""
    columns = ["subject", "property", "level", "observed", "expected", "effect", "low", "high"]
    table = pd.DataFrame(rows, columns=[*columns, "gain", "flagged"])
    table = table.assign(gain_se=1.0, p=0.5, kind=kind)
    none = pd.DataFrame(columns=["subject", "flagged", "p"]).astype({"flagged": bool})
    return Criticism(table, *[none] * 7, fit, evaluation, alpha=0.05, prob=0.9, seed=1)


ROWS = [
    ("blind", "colour", "red", 0.2, 0.7, -0.5, -0.6, -0.4, 31.0, True),
    ("blind", "shape", "round", 0.4, 0.5, -0.1, -0.2, 0.0, 6.0, True),
    ("blind", "smell", "sweet", 0.5, 0.5, 0.0, -0.1, 0.1, 3.0, True),
    ("lost", "colour", "red", 0.5, 0.5, 0.0, -0.1, 0.1, 9.0, False),
]


def test_what_the_layout_seems_to_miss(fit, evaluation):
    criticism = alarms(fit, evaluation, ROWS)
    found = ml.describe(fit, criticism)
    missing = found.findings[found.findings["what"] == "missing"]
    assert list(missing["where"]) == ["colour", "shape"]
    assert list(missing.iloc[0][["size", "low", "high"]]) == [-0.5, -0.6, -0.4]
    sentence = (
        "The layout seems to miss colour: where it is red, blind solves 0.20 instead of 0.70."
    )
    assert f"{sentence} It may also miss shape." in found.texts["blind"]
    assert "miss" not in found.texts["lost"]
    stricter = ml.describe(fit, criticism, rules=Rules(gain=7))
    assert "also miss" not in stricter.texts["blind"]


def test_forms_that_do_not_fit_and_outcomes_like_nobodys(fit, evaluation):
    agreement = pd.DataFrame(
        {"subject": ["blind"], "agreement": [0.01], "expected": [0.35], "low": [0.2]}
    ).assign(high=0.5, items=100, others=6, flagged=True)
    criticism = replace(alarms(fit, evaluation, ROWS, kind="used"), agreement=agreement)
    found = ml.describe(fit, criticism)
    own = found.findings[found.findings["subject"] == "blind"].set_index("what")
    assert list(own.loc["misfit", "where"]) == ["colour", "shape", "smell"]  # by p alone
    assert "missing" not in own.index
    text = found.texts["blind"]
    assert "The outcomes agree with no other subject's" in text
    assert "The layout's form does not fit colour: where it is red, blind solves 0.20" in text
    assert "Neither does it fit shape, smell." in text
    assert "nobody" not in found.texts["lost"]
    assert "does not fit" not in found.texts["lost"]


def test_a_property_that_matters_is_found(layout, rng):
    """The whole way, with a property that the layout does not use."""
    items = small_layouts.battery(count=120)
    items["colour"] = rng.permutation(items["colour"].to_numpy())
    profiles = pd.DataFrame([PROFILES["noisy"]], ["Ann"], COLUMNS)
    simulated = ml.simulate(layout, items, profiles, seed=4, trials=10)
    red = (items["colour"] == "red").to_numpy()
    successes = simulated.successes.where(~red[None, :], simulated.successes // 4)
    evaluation = ml.Evaluation(items, successes, simulated.trials)
    fit = ml.fit(layout, evaluation, **SAMPLING)
    criticism = ml.validation.criticise(fit, evaluation)
    text = ml.describe(fit, criticism).texts["Ann"]
    assert "The layout seems to miss colour: where it is " in text
    assert text.endswith(".")


def test_a_criticism_of_another_fit_is_refused(fit, evaluation, layout, rng):
    draws = {name: np.full((7, 2, 50), 0.5) for name in COLUMNS}

    def other(layout, evaluation, count=7):
        own = {name: values[:count] for name, values in draws.items()}
        return alarms(small_layouts.crafted(layout, evaluation, own), evaluation, ROWS)

    with pytest.raises(DataError, match="another fit, of layout 'animal-ai'"):
        ml.describe(fit, other(small_layouts.animal_ai(), evaluation))
    fewer = evaluation.select(subjects=["blind", "lost"])
    with pytest.raises(DataError, match="the subjects blind, lost; give"):
        ml.describe(fit, other(layout, fewer, 2))
    changed = ml.Evaluation(evaluation.items, 10 - evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match="other outcomes"):
        ml.describe(fit, other(layout, changed))
    assert ml.describe(fit, other(layout, evaluation)) is not None  # the same, fitted again


@pytest.mark.parametrize(
    ("failures", "words"),
    [
        (0, "solved all 400 items, which"),
        (1, "solved 399 of 400 items"),
        (399, "solved 1 of 400 items"),
        (400, "solved none of 400 items"),
    ],
)
def test_all_and_none_are_said_of_all_and_none(failures, words):
    items = pd.DataFrame({"demand": np.linspace(0, 9, 400)}).rename("i{}".format)
    outcomes = (np.arange(400) < 400 - failures).astype(int)
    evaluation = ml.Evaluation.from_wide(pd.DataFrame([outcomes], ["Ann"], items.index), items)
    demand = ml.MetaFeature("demand", low=0, high=9)
    reach = ml.Capability("reach", low=0, high=9)
    layout = ml.Layout("reaching", ml.Success("ok", logistic(reach - demand)))
    fit = ml.fit(layout, evaluation, method="grid", draws=100, chains=2, progressbar=False)
    assert f"Ann {words}" in ml.describe(fit).texts["Ann"]
