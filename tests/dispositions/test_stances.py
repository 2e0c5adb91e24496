"""Graded stances of people and models: against SciPy's distance, binary choices, and chance."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.mock_situations import SCENARIOS, Mock, material_of
from scipy.stats import wasserstein_distance

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.common.errors import DataError
from measurement_layouts.dispositions import (
    SituationalJudgments,
    compare_choices,
    grade_responses,
    stance_misalignment,
)
from measurement_layouts.dispositions.stances import STEPS

KEYED = {"a": 1, "b": -1, "c": 1}


def drawn(seed, people, models, *, steps=STEPS, votes=9, samples=20, keyed=KEYED):
    """Judgments, votes and samples of one model, from chances of the steps."""
    rng = np.random.default_rng(seed)
    tests = pd.DataFrame(
        {
            "scenario": list(keyed),
            "trait": "calm",
            "statement": list(keyed),
            "keyed": keyed.values(),
        }
    )
    said = [
        (name, rater, int(rng.choice(steps, p=people))) for name in keyed for rater in range(votes)
    ]
    voted = pd.DataFrame(said, columns=["scenario", "rater", "stance"])
    voted["vote"] = voted["stance"].map(lambda x: ["oppose", "neutral", "agree"][np.sign(x) + 1])
    own = [(name, int(rng.choice(steps, p=models))) for name in keyed for _ in range(samples)]
    sampled = pd.DataFrame(own, columns=["scenario", "stance"]).assign(model="m")
    sampled["choice"] = sampled["stance"].map(
        lambda x: ["oppose", "undecided", "agree"][np.sign(x) + 1]
    )
    return SituationalJudgments.from_long(tests, voted, sampled, least=1), voted, sampled


EVEN = [0.2] * 5
FIRM = [0.5, 0, 0, 0, 0.5]


def test_it_is_wasserstein_s_distance():
    judgments, votes, samples = drawn(1, EVEN, [0.1, 0.1, 0.2, 0.2, 0.4])
    expected = []
    for name, key in KEYED.items():
        own, theirs = (
            table[table["scenario"] == name]["stance"] * key for table in (votes, samples)
        )
        expected.append(wasserstein_distance(own, theirs) / 4)
    found = stance_misalignment(judgments, votes, samples, resamples=50).loc[("m", "calm")]
    assert found["misalignment"] == pytest.approx(np.mean(expected))
    assert found["low"] <= found["misalignment"] <= found["high"]


def test_without_grades_it_is_the_published_misalignment():
    judgments, votes, samples = drawn(2, [0.3, 0.7], [0.6, 0.4], steps=(-2, 2))
    row = stance_misalignment(judgments, votes, samples, resamples=10).loc[("m", "all")]
    compared = compare_choices(judgments)
    for name in ("misalignment", "chance", "corrected"):
        assert row[name] == pytest.approx(compared[name].mean())
    assert row["disposition"] == pytest.approx(
        4 * (compared["model_rate"] - compared["human"]).mean()
    )


def test_firmness_is_seen_where_choices_agree():
    """People lean as often to each side as the model does, but less firmly."""
    people, model = [0, 0.5, 0, 0.5, 0], FIRM
    judgments, votes, samples = drawn(3, people, model, votes=200, samples=200)
    row = stance_misalignment(judgments, votes, samples, resamples=10).loc[("m", "all")]
    assert row["firmness"] == 2
    assert row["peoples_firmness"] == 1
    assert row["misalignment"] == pytest.approx(0.25, abs=0.05)
    assert compare_choices(judgments)["misalignment"].mean() < 0.12


def test_corrected_is_0_on_average_for_one_distribution():
    """On 300 scenarios; the twin, without correction, is far from 0."""
    keyed = {f"s-{number}": 1 for number in range(300)}
    found = stance_misalignment(*drawn(7, EVEN, EVEN, keyed=keyed)).loc[("m", "all")]
    error = (found["high"] - found["low"]) / 3.3
    assert abs(found["corrected"]) < 4 * error
    assert found["misalignment"] > 20 * error


def test_what_has_no_stance_or_another_is_told():
    judgments, votes, samples = drawn(1, EVEN, EVEN)
    fewer = votes.astype({"stance": float})
    fewer.loc[fewer["scenario"] == "a", "stance"] = None
    assert stance_misalignment(judgments, fewer, samples)["scenarios"].tolist() == [2, 2]
    with pytest.raises(DataError, match=r"column 'stance': 1 cell.*give -2, -1, 0, 1 or 2"):
        stance_misalignment(judgments, votes.assign(stance=[3, *votes["stance"][1:]]), samples)
    with pytest.raises(DataError, match="model"):
        stance_misalignment(judgments, votes, samples.drop(columns="model"))


def test_a_judge_s_grades_become_stances_and_choices():
    grades = {"Act.": 1, "Act, though.": 2, "Who knows.": 3, "Wait, though.": 4, "Wait.": 5}
    responses = pd.DataFrame(
        {"model": "m", "scenario": "sleep-01", "sample": range(5), "response": list(grades)}
    )

    def judged(question, attempt):
        grade = grades[material_of(question)["response"]]
        return json.dumps({"explanation": "So.", "grade": grade if attempt > 1 else 6})

    mock = Mock(judged)
    table = grade_responses(SCENARIOS, responses, mock.model).table
    assert table["stance"].tolist() == list(STEPS)
    assert table["choice"].tolist() == ["oppose", "oppose", "undecided", "agree", "agree"]
    assert "not a whole number from 1 to 5" in mock.conversations[-1][-1].text
    assert material_of(mock.questions[0])["action_1"] == "Act on 0"
    with pytest.raises(AnnotationError, match="'elsewhere' is unknown"):
        grade_responses(SCENARIOS, responses.assign(scenario="elsewhere"), mock.model)
