"""Responses to situational judgment tests, the judge, people who check it, and self-reports."""

import json

import pandas as pd
import pytest
from helpers.mock_situations import SCENARIOS, STATEMENTS, Mock, material_of

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.dispositions import judge_responses, self_ratings, situation_responses

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


@pytest.mark.parametrize(
    ("responses", "complaint"),
    [
        (RESPONSES.assign(scenario="none"), "the scenario 'none' is"),
        (RESPONSES.assign(sample=1), "the item 'm, sleep-01 #1'"),
        (RESPONSES.drop(columns="sample"), "responses:"),
        (RESPONSES.assign(response=""), "the item 'm, sleep-01 #1'"),
    ],
)
def test_bad_responses_are_refused(responses, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        judge_responses(SCENARIOS, responses, Mock(judged_by_words).model)


# --- self-reports --------------------------------------------------------------------------------


def test_statements_are_rated_several_times_as_they_are():
    numbers = iter([7, 1, 4, 4])
    mock = Mock(lambda *_: f"Rating: {next(numbers)}")
    table = self_ratings(STATEMENTS[:2], mock.model, times=2, max_connections=1).table
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
