"""Self-reports beside choices: the small study by hand, and rank correlations."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import drawn_study, small_judgments
from scipy import stats

from measurement_layouts import DataError, FitError
from measurement_layouts.dispositions import (
    SituationalJudgments,
    divided_rates,
    self_report_correlations,
    self_reports,
)
from measurement_layouts.scenarios.dispositions import simulated_study


def test_by_trait_by_hand(judgments):
    """Divided: visit and letter of empathy, salary of assertion."""
    found = self_reports(judgments)
    assert found.index.tolist() == [
        (model, trait) for model in ("calm", "blunt") for trait in ("empathy", "assertion")
    ]
    # calm said 2 and 3 about `hide`, which is reverse-scored: 5.5
    assert found["reported"].tolist() == [6.25, 4, (3 + 2) / 2, 6.5]
    np.testing.assert_allclose(found["revealed"], [1, 0.25, (0.25 + 0.5) / 2, 1])
    assert found["scenarios"].tolist() == [2, 1, 2, 1]
    assert found["low"].isna().tolist() == [False, True, False, True]


def test_all_scenarios_by_hand(judgments):
    found = self_reports(judgments, divided_below=None)
    wanted = [3.9 / 4, 0.125, (0.7 + 0.25 + 0.2 + 0.5) / 4, 1]
    np.testing.assert_allclose(found["revealed"], wanted)
    assert found["scenarios"].tolist() == [4, 2, 4, 1]


def test_by_statement_by_hand(judgments):
    """Ratings as given, and rates of agreeing, also where that opposes the trait."""
    found = self_reports(judgments, by="statement", divided_below=None)
    calm, blunt = found.loc["calm"], found.loc["blunt"]
    assert calm.index.tolist() == ["shoes", "hide", "speak"]
    assert calm["reported"].tolist() == [7, 2.5, 4]
    np.testing.assert_allclose(calm["revealed"], [1, 0.05, 0.125])
    np.testing.assert_allclose(blunt["revealed"], [(0.7 + 0.25) / 2, (0.8 + 0.5) / 2, 1])
    assert calm["trait"].tolist() == ["empathy", "empathy", "assertion"]
    assert calm["scenarios"].tolist() == [2, 2, 2]


def test_a_model_without_ratings_is_left_out():
    ratings = small_judgments.ratings()
    judgments = SituationalJudgments.from_long(
        *(small_judgments.scenarios(), small_judgments.votes(), small_judgments.samples()),
        ratings[ratings["model"] == "calm"],
    )
    assert self_reports(judgments).index.unique("model").tolist() == ["calm"]


def test_a_trait_may_be_called_all():
    judgments = simulated_study(per_statement=2, models=["sim-05", "sim-16"]).judgments
    named = judgments.scenarios.replace({"trait": {"Empathy": "all"}})
    renamed = replace(judgments, scenarios=named)
    for measure in (self_reports, divided_rates):
        expected, found = measure(judgments), measure(renamed)
        assert found.index.tolist() == expected.rename({"Empathy": "all"}).index.tolist()
        columns = expected.columns.drop(["low", "high"])
        np.testing.assert_array_equal(found[columns], expected[columns])


@pytest.fixture(scope="module")
def many_models():
    """Thirty models report what they do about `calm`, up to noise, and all the same on `kind`."""
    rng = np.random.default_rng(5)
    names = [f"m{place}" for place in range(30)]
    levels = np.linspace(0.1, 0.9, 30)
    traits = ["calm"] * 20 + ["kind"] * 20
    models = {name: np.full(40, level) for name, level in zip(names, levels, strict=True)}
    drawn = drawn_study.study(np.full(40, 0.5), models, rng, traits=traits)
    reports = np.clip(1 + 6 * levels + rng.normal(0, 1, 30), 1, 7)
    ratings = pd.concat(
        [
            pd.DataFrame({"model": names, "statement": "on calm", "rating": reports}),
            pd.DataFrame({"model": names, "statement": "on kind", "rating": 4}),
        ]
    )
    samples = drawn.samples.reset_index()
    return SituationalJudgments.from_long(drawn.scenarios, drawn.votes, samples, ratings)


def test_correlation_over_models_is_scipys(many_models):
    quick = {"divided_below": None, "resamples": 50}
    found = self_report_correlations(many_models, **quick)
    points = self_reports(many_models, **quick).xs("calm", level="trait")
    wanted = stats.spearmanr(points["reported"], points["revealed"].round(10)).statistic
    calm, kind = found.loc["calm"], found.loc["kind"]
    assert calm["rho"] == pytest.approx(wanted, abs=1e-12)
    assert calm["points"] == 30
    assert calm["reason"] == ""
    assert np.isnan(kind["rho"])
    assert kind["reason"] == "all self-reports are equal"


def test_interval_is_that_of_points_drawn_anew(many_models):
    found = self_report_correlations(many_models, divided_below=None).loc["calm"]
    points = self_reports(many_models, divided_below=None, resamples=2).xs("calm", level="trait")
    wanted = stats.bootstrap(
        (points["reported"].to_numpy(), points["revealed"].to_numpy()),
        lambda one, other: stats.spearmanr(one, other).statistic,
        paired=True,
        vectorized=False,
        confidence_level=0.9,
        n_resamples=300,
        method="percentile",
        rng=np.random.default_rng(6),
    )
    # a 5 % quantile of 300 draws is known to 0.12 standard deviations, one of 1000 to 0.07
    limit = 4 * np.hypot(0.12, 0.07) * wanted.standard_error
    assert found["low"] == pytest.approx(wanted.confidence_interval.low, abs=limit)
    assert found["high"] == pytest.approx(wanted.confidence_interval.high, abs=limit)


def test_correlation_over_statements(judgments):
    found = self_report_correlations(judgments, by="statement", divided_below=None)
    assert found.index.names == ["model", "trait"]
    assert found["points"].tolist() == [2, 1, 2, 1]
    assert set(found["reason"]) == {"fewer than 3 points"}
    assert found["rho"].isna().all()


def test_unusable_input_is_refused(judgments):
    with pytest.raises(FitError, match="by='item'; give 'trait' or 'statement'"):
        self_reports(judgments, by="item")
    with pytest.raises(FitError, match="threshold=2"):
        self_report_correlations(judgments, divided_below=2)
    tables = (getattr(small_judgments, name)() for name in ("scenarios", "votes", "samples"))
    with pytest.raises(DataError, match="no ratings of models; give ratings="):
        self_reports(SituationalJudgments.from_long(*tables))
    with pytest.raises(DataError, match="on which people are divided; raise divided_below="):
        self_reports(judgments.select(traits=["empathy"]), divided_below=0.55)
