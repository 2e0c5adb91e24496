"""Benchmarks' scores on a common scale: formula, data, and what is expected of cells."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import logistic

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.evaluations import read_scores, score_places
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import benchmark_scores as bs
from measurement_layouts.scenarios.benchmark_scores.data import FILES

SAMPLING = {"draws": 150, "tune": 250, "chains": 2, "seed": 1, "progressbar": False}
MODELS, TESTS = 16, 8


def chances(performance, precision, places):
    skill = ml.Capability("skill", low=0, high=1)
    outcome = ml.Success("score", bs.falls(skill, precision))
    known = {name: places[name].to_numpy() for name in ("low", "width")}
    return evaluate(outcome.expression, known | {"skill": performance}, ())


@pytest.mark.parametrize("performance", [0.02, 0.5, 0.93])
@pytest.mark.parametrize("precision", [0.7, 4.0, 20.0])
def test_a_score_falls_as_a_logistic_variable_does(performance, precision):
    """Held against SciPy's distribution; outermost places end 30 log-odds out."""
    places = score_places(["sums"], places=40)
    found = chances(performance, precision, places)
    about = logistic(np.log(performance / (1 - performance)), 1 / precision)
    ends = [about.cdf(at) for at in (places["low"], places["low"] + places["width"])]
    assert found == pytest.approx(ends[1] - ends[0], abs=1e-7)
    assert found.sum() == pytest.approx(1, abs=1e-7)
    other = chances(performance * 0.5, precision, places)
    assert other != pytest.approx(ends[1] - ends[0], abs=1e-4)  # the twin: another performance


def scores(seed=1):
    rng = np.random.default_rng(seed)
    ability, demand = rng.normal(size=(MODELS, 1)), rng.normal(size=TESTS)
    values = expit(1.5 * (ability - demand) + 0.2 * rng.logistic(size=(MODELS, TESTS)))
    rows, columns = np.indices(values.shape)
    years = np.linspace(-1, 1, MODELS)
    return pd.DataFrame(
        {
            "subject": [f"model {row:02d}" for row in rows.ravel()],
            "benchmark": [f"test {column}" for column in columns.ravel()],
            "score": values.ravel(),
            "year": years[rows.ravel()],
            "developer": [f"lab {row % 3}" for row in rows.ravel()],
        }
    )


@pytest.fixture(scope="module")
def held():
    return np.random.default_rng(2).random(MODELS * TESTS) < 0.25


@pytest.fixture(scope="module")
def fit(held):
    return ml.fit(bs.common_scale_layout(), read_scores(scores()[~held], places=50), **SAMPLING)


def test_expected_scores_are_those_of_all_places(fit):
    """The forecast of every place of a benchmark adds up to the same mean and interval."""
    places = score_places(["test 3"], places=50)
    who = ["model 01", "model 09"]
    parts = fit.forecast(places, subjects=who).data["mean"].to_numpy()
    found = bs.expected_scores(fit, ["test 3"], subjects=who, places=50)
    assert parts.sum(axis=1) == pytest.approx(1, abs=1e-6)
    middle = places["score"].to_numpy()
    assert found["mean"].to_numpy() == pytest.approx(parts @ middle, abs=2e-3)  # places' middles
    below = parts.cumsum(axis=1)
    for name, at in (("low", 0.05), ("high", 0.95)):
        exact = middle[(below < at).sum(axis=1)]
        assert found[name].to_numpy() == pytest.approx(exact, abs=0.0201)  # one place


def test_held_out_scores_are_foreseen_better_than_by_the_benchmark(fit, held):
    table = scores()
    asked = table[held]
    found = bs.expected_scores(fit, sorted(table["benchmark"].unique()))
    mean = found["mean"].loc[pd.MultiIndex.from_frame(asked[["subject", "benchmark"]])].to_numpy()
    average = asked["benchmark"].map(table[~held].groupby("benchmark")["score"].mean())
    ours, simple = (np.std(asked["score"] - one) for one in (mean, average))
    assert ours < 0.6 * simple
    shuffled = np.random.default_rng(1).permutation(mean)
    assert not np.std(asked["score"] - shuffled) < 0.6 * simple  # the twin


def test_a_new_model_and_a_new_benchmark_are_less_certain(fit):
    people = pd.DataFrame(index=["model 01", "stranger"])
    found = bs.expected_scores(fit, ["test 3", "test x"], subjects=people)
    wide = (found["high"] - found["low"]).unstack()
    assert wide.loc["stranger", "test 3"] > wide.loc["model 01", "test 3"]
    assert wide.loc["model 01", "test x"] > wide.loc["model 01", "test 3"]


def test_other_layouts_are_refused(fit):
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("plain", ml.Success("right", ml.linking.logistic(skill)))
    items = pd.DataFrame(index=["a"])
    plain = ml.fit(
        layout,
        ml.Evaluation.from_wide(pd.DataFrame({"a": [1]}, ["Ann"]), items),
        method="grid",
    )
    with pytest.raises(FitError, match="no node performance and no node precision; expected_score"):
        bs.expected_scores(plain, ["a"])
    with pytest.raises(FitError, match="prob=2"):
        bs.expected_scores(fit, ["test 3"], prob=2)


def test_the_recommended_layout_by_hand():
    layout = bs.recommended_layout()
    names = ("slope", "ability", "demand", "drift", "year", "strength")
    rng = np.random.default_rng(4)
    known = dict(zip(names, rng.uniform(0.2, 1, (6, 50)), strict=True))
    found = evaluate(layout.nodes["margin"].expression, known, ())
    slope, ability, demand, drift, year, strength = (known[name] for name in names)
    assert found == pytest.approx(slope * (ability - demand) + drift * year + strength, abs=1e-12)
    assert [category.name for category in layout.categories] == ["benchmark", "developer"]


@pytest.mark.parametrize(
    ("model", "maker"),
    [
        ("o3-mini-2025-01-31_high", "OpenAI"),
        ("DeepSeek-R1-Distill-Llama-70B", "DeepSeek"),
        ("Cerebras-GPT-13B", "Cerebras-GPT-13B"),
        ("open_llama_7b", "open_llama_7b"),
        ("LLaMA-7B", "Meta"),
    ],
)
def test_developers_by_name(model, maker):
    assert bs.developer(model) == maker


def test_the_real_data():
    from helpers.real_folders import study

    folder = study("benchmark_scores", *FILES.checksums)
    table, evaluation = bs.scores(folder), bs.load(folder)
    assert len(table) == 1324
    assert table["score"].between(0, 1).all()
    assert int(evaluation.trials.to_numpy().sum()) == 1324
    assert len(evaluation.subjects) == 179
    assert evaluation.items["benchmark"].nunique() == 38
    assert evaluation.subject_table["developer"].nunique() == 27
