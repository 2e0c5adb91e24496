"""Abilities of the real models in one population, and the demands that assessors rest on."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from measurement_layouts.scenarios import adele
from measurement_layouts.scenarios.adele.battery import simulated_cohort
from measurement_layouts.scenarios.adele.reproduction import comparable, importance
from measurement_layouts.scenarios.adele.reproduction.assessed import FOREST

NAMES = [f"m{number}" for number in range(8)]


def series(values):
    return pd.Series(values, NAMES)


def test_what_is_sampled_is_the_same_each_time_and_knows_its_tasks():
    whole = simulated_cohort(items=120).evaluation
    some = comparable.sampled(whole, 50)
    assert len(some.items) == 50
    assert list(some.items.index) == list(comparable.sampled(whole, 50).items.index)
    assert len(comparable.sampled(whole, None).items) == len(comparable.sampled(whole).items) == 120
    assert (some.items["task"].str.split(" ").str.len() > 1).all()


def test_moves_are_measured_against_each_model_s_own_sd():
    """Against SciPy and sums by hand; twin: what all move together does not count apart."""
    rng = np.random.default_rng(3)
    before, accuracy = series(rng.normal(size=8)), series(rng.random(8))
    shift = rng.normal(0.4, 0.2, 8)
    spread = series(rng.uniform(0.2, 0.6, 8))
    found = comparable.moved(
        before, (before + shift).sample(frac=1, random_state=1), spread, accuracy
    )
    assert found["with all"] == pytest.approx(spearmanr(before, before + shift).statistic)
    assert found["with accuracy"] == pytest.approx(spearmanr(before + shift, accuracy).statistic)
    assert found["change"] == pytest.approx(np.abs(shift).mean())
    assert found["ratio"] == pytest.approx(np.mean(np.abs(shift) / spread))
    assert found["largest ratio"] == pytest.approx(np.max(np.abs(shift) / spread))
    assert found["apart"] < found["change"] / 2
    together = comparable.moved(before, before + 3, spread, accuracy)
    assert (together["apart"], together["with all"]) == pytest.approx((0, 1))


def test_verdicts_on_abilities():
    accuracy = series(np.linspace(0.2, 0.9, 8))
    models = pd.DataFrame({"mean": accuracy * 5, "accuracy": accuracy, "curves": -accuracy})
    without = pd.DataFrame(
        {"with accuracy": [0.95, 0.92], "ratio": [0.4, 0.8], "apart": 0.1, "sd": 0.5}, ["A", "B"]
    )
    figures = comparable.judge_comparable(models, without)
    assert [figure.obtained for figure in figures] == pytest.approx([1, 0.92, 0.8])
    assert all(figure.holds for figure in figures)
    assert "(by curves -1.00)" in figures[0].name
    assert "without B" in figures[2].name
    worse = comparable.judge_comparable(
        models.assign(mean=models["mean"].to_numpy()[::-1]),
        without.assign(**{"with accuracy": 0.8, "ratio": 1.2}),
    )
    assert not any(figure.holds for figure in worse)


def made_importance(values):
    """Importances of all dimensions for the forest."""
    columns = {"method": FOREST, "property": list(adele.DIMENSIONS), "importance": values}
    return pd.DataFrame(columns)


def test_importances_are_held_against_the_published_six():
    evaluation = simulated_cohort(items=200).evaluation
    values = [1.0 if name in importance.CHOSEN else 0.1 for name in adele.DIMENSIONS]
    table = importance.with_correlations(made_importance(values), evaluation)
    assert set(table.loc[table["published"], "property"]) == set(importance.CHOSEN)
    first = importance.judge_importance(table)[0]
    assert (first.obtained, first.published) == (6, 6)
    rates = evaluation.successes.sum() / evaluation.trials.sum()
    row = table[table["property"] == "QLl"].iloc[0]
    by_hand = spearmanr(evaluation.items["demand[QLl]"], rates).statistic
    assert row["correlation"] == pytest.approx(abs(by_hand))
    other = importance.with_correlations(made_importance([1 - x for x in values]), evaluation)
    assert importance.judge_importance(other)[0].obtained == 0  # twin


@pytest.mark.slow
def test_real_models_on_a_few_items(adele_data):
    """A short run says that the parts fit together; the figures are those of `reproduce`."""
    evaluation = adele.load(adele_data)
    sample = comparable.sampled(evaluation, 100)
    short = {"draws": 30, "tune": 80}
    whole = comparable.fitted(sample, **short)
    models = comparable.by_model(whole, sample)
    assert models["accuracy"].is_monotonic_increasing
    assert models["mean"].corr(models["accuracy"], method="spearman") > 0.7
    without = comparable.without_each(whole, sample, benchmarks=["SAT"], **short)
    assert without.loc["SAT", "with all"] > 0.7
    three = sample.select(subjects=sample.subjects[:3])
    found = importance.importances(three, folds=2, layout=False)
    assert len(importance.with_correlations(found, sample)) == len(adele.DIMENSIONS)
