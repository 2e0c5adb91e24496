"""Responses to situational judgment tests, the judge, people who check it, and self-reports."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.mock_situations import SCENARIOS, STATEMENTS, Mock, material_of
from sklearn.metrics import cohen_kappa_score

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.dispositions import (
    judge_agreement,
    judge_responses,
    label_sheet,
    self_ratings,
    situation_responses,
)

RESPONSES = pd.DataFrame(
    {
        "model": "m",
        "scenario": ["sleep-01", "sleep-01", "speak-02"],
        "sample": [1, 2, 1],
        "response": ["I would act.", "I would wait.", "Who knows."],
    }
)


def judged_by_words(question, _attempt):
    """Compares what is said with each action's first word."""
    shown = material_of(question)
    said = shown["response"].lower()
    fits = [number for number in (1, 2) if shown[f"action_{number}"].split()[0].lower() in said]
    return json.dumps({"explanation": "By its words.", "answer": fits[0] if fits else 0})


def test_a_model_answers_each_message_several_times_without_seeing_the_actions():
    mock = Mock(lambda *_: "Wait.")
    said = situation_responses(SCENARIOS, mock.model, samples=3)
    assert said.table[["scenario", "sample"]].values.tolist() == [
        [scenario, sample] for scenario in SCENARIOS.index for sample in (1, 2, 3)
    ]
    assert set(said.table["model"]) == {"mockllm/model"}
    assert len(mock.conversations) == 12
    for messages in mock.conversations:
        (question,) = messages  # no system message
        assert question.text.startswith("It is matter")
        assert "Wait with" not in question.text
    assert {config.temperature for config in mock.configs} == {1.0}
    plain = Mock(lambda *_: "Wait.")
    situation_responses(SCENARIOS[:1], plain.model, samples=1, temperature=None)
    assert plain.configs[0].temperature is None


def test_an_empty_answer_is_named_by_scenario():
    said = situation_responses(SCENARIOS[:1], Mock(lambda *_: " ").model, samples=1, attempts=2)
    failure = said.failures.loc[0]
    assert failure[["scenario", "sample", "attempts"]].tolist() == ["sleep-01", 1, 2]
    assert failure["reason"] == "there is no text"


# --- the judge -----------------------------------------------------------------------------------


def test_action_one_opposes_and_action_two_agrees():
    judge = Mock(judged_by_words)
    table = judge_responses(SCENARIOS, RESPONSES, judge.model).table
    assert table["answer"].tolist() == [1, 2, 0]
    assert table["choice"].tolist() == ["oppose", "agree", "undecided"]
    assert table["response"].tolist() == RESPONSES["response"].tolist()
    for question in judge.questions:
        shown = material_of(question)
        assert list(shown) == ["user_message", "response", "action_1", "action_2"]
        assert shown["action_1"].startswith("Act")
        assert shown["action_2"].startswith("Wait")
        assert "oppose" not in question
        assert "agree" not in question


@pytest.mark.parametrize("answer", [3, "2", 2.0, True, None])
def test_a_bad_judgement_is_asked_again_then_named(answer):
    bad = json.dumps({"explanation": "So.", "answer": answer})
    judge = Mock(lambda q, attempt: bad if attempt == 1 else judged_by_words(q, attempt))
    assert len(judge_responses(SCENARIOS, RESPONSES, judge.model).table) == 3
    never = judge_responses(SCENARIOS, RESPONSES, Mock(lambda *_: bad).model, attempts=1)
    assert never.failures["scenario"].tolist() == RESPONSES["scenario"].tolist()
    assert never.failures["reason"][0] == "the field 'answer' is not a whole number from 0 to 2"
    assert never.table.empty
    assert list(never.table.columns) == list(
        judge_responses(SCENARIOS, RESPONSES, judge.model).table.columns
    )


def test_responses_of_several_models_are_judged_at_once():
    both = pd.concat([RESPONSES, RESPONSES.assign(model="n")])
    assert len(judge_responses(SCENARIOS, both, Mock(judged_by_words).model).table) == 6


@pytest.mark.parametrize(
    ("responses", "complaint"),
    [
        (RESPONSES.assign(scenario="none"), "the scenario 'none' is unknown; add it to scenarios"),
        (RESPONSES.assign(sample=1), "the item 'm, sleep-01 #1' occurs twice"),
        (RESPONSES.drop(columns="sample"), "responses: there is no column 'sample'"),
        (RESPONSES.assign(response=""), "the item 'm, sleep-01 #1' has no text in 'response'"),
    ],
)
def test_bad_responses_are_refused(responses, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        judge_responses(SCENARIOS, responses, Mock(judged_by_words).model)


# --- people who check the judge ------------------------------------------------------------------


def answers(said):
    keys = {"model": "m", "scenario": "s", "sample": range(len(said))}
    return pd.DataFrame({**keys, "answer": said})


def test_the_sheet_for_people_is_a_sample_that_finds_its_way_back():
    judged = judge_responses(SCENARIOS, RESPONSES, Mock(judged_by_words).model).table
    sheet = label_sheet(SCENARIOS, judged, size=2)
    assert len(sheet) == 2
    assert not {"choice", "answer", "explanation"} & set(sheet.columns)
    labels = sheet.assign(answer=[{"I": 1}.get(text[0], 0) for text in sheet["response"]])
    found = judge_agreement(judged, labels, resamples=20)
    assert found["responses"].tolist() == [2, 2]
    merged = judged.merge(labels, on=["model", "scenario", "sample"])
    right = (merged["answer_x"] == merged["answer_y"]).mean()
    assert found.loc["right", "estimate"] == right


def test_columns_of_responses_and_labels_may_have_other_names():
    columns = {"model": "LLM", "response": "said"}
    own = RESPONSES.rename(columns=columns)
    judged, same = (
        judge_responses(SCENARIOS, given, Mock(judged_by_words).model, **options).table
        for given, options in ((own, {"columns": columns}), (RESPONSES, {}))
    )
    pd.testing.assert_frame_equal(judged, same)
    labels = judged.rename(columns={"answer": "label"})
    found = judge_agreement(judged, labels, resamples=20, columns={"answer": "label"})
    assert found.loc["right", "estimate"] == 1
    with pytest.raises(AnnotationError, match="labels: there is no column 'answer'"):
        judge_agreement(judged, labels)


def test_agreement_is_the_share_right_and_cohens_kappa():
    random = np.random.default_rng(3)
    people = random.choice([0, 1, 2], size=200, p=[0.1, 0.5, 0.4])
    judge = np.where(random.random(200) < 0.8, people, random.choice([0, 1, 2], size=200))
    found = judge_agreement(answers(judge), answers(people), prob=0.95, resamples=300)
    assert found.loc["right", "estimate"] == (judge == people).mean()
    kappa = found.loc["kappa"]
    assert kappa["estimate"] == pytest.approx(cohen_kappa_score(judge, people), rel=1e-12)
    weighted = cohen_kappa_score(judge, people, weights="quadratic")
    assert kappa["estimate"] != pytest.approx(weighted, rel=1e-3)
    # about 2 x 1.96 standard errors of 0.046 (Cohen's formula), give or take resampling
    assert 0.13 < kappa["high"] - kappa["low"] < 0.23


def test_all_right_and_all_alike():
    same = answers([1, 2] * 50)
    found = judge_agreement(same, same, prob=0.95, resamples=20)
    assert found.loc["right", ["estimate", "low", "high"]].tolist() == pytest.approx(
        [1, 0.963, 1], abs=5e-4
    )
    assert found.loc["kappa", "estimate"] == 1
    alike = judge_agreement(answers([1] * 5), answers([1] * 5), resamples=20)
    assert np.isnan(alike.loc["kappa", "estimate"])
    assert "all answers are equal" in alike.loc["kappa", "reason"]


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        (answers([3]), "labels: sample 0 of 'm' on 's' has the answer 3; give 0, 1 or 2"),
        (answers([1, 1, 1]), "labels: sample 2 of 'm' on 's' was not judged; drop"),
        (pd.concat([answers([1])] * 2), "occurs twice; give one answer"),
        (answers([]), "there is no answer"),
    ],
)
def test_bad_labels_are_refused(labels, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        judge_agreement(answers([1, 2]), labels)


# --- self-reports --------------------------------------------------------------------------------


def test_statements_are_rated_several_times_as_they_are():
    numbers = iter([7, 1, 4, 4])
    mock = Mock(lambda *_: f"Rating: {next(numbers)}")
    table = self_ratings(STATEMENTS[:2], mock.model, times=2, connections=1).table
    assert table.reset_index(drop=True).to_dict("list") == {
        "model": ["mockllm/model"] * 4,
        "statement": ["sleep", "sleep", "speak", "speak"],
        "time": [1, 2, 1, 2],
        "rating": [7, 1, 4, 4],
    }
    assert material_of(mock.questions[0]) == {"statement": STATEMENTS["advice"].iloc[0]}


@pytest.mark.parametrize("answer", ["Rating: 8", "Rating: 0", "7", "Rating: 6 or 7"])
def test_a_bad_rating_is_named(answer):
    said = self_ratings(STATEMENTS[:1], Mock(lambda *_: answer).model, times=1)
    assert said.failures["statement"].tolist() == ["sleep"]
    assert said.usage.loc["sleep #1", "attempts"] == 3
