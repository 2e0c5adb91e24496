"""Statements become advice or are sorted out; advice becomes situational judgment tests."""

import json

import pandas as pd
import pytest
from helpers.mock_situations import STATEMENTS, Mock, material_of

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.dispositions import (
    generate_situations,
    reframe_statements,
    situation_examples,
)
from measurement_layouts.dispositions.situations.generation import count_sentences

QUESTIONNAIRE = STATEMENTS.drop(columns="advice")
ADVISABLE = STATEMENTS[STATEMENTS["advice"] != ""]
TEST = {"user_message": "Matter one. Do I act or wait?", "agree_action": "Wait"}
TEST["oppose_action"] = "Act"


def reframed(question, _attempt):
    text = material_of(question)["statement"]
    row = STATEMENTS[STATEMENTS["text"] == text].iloc[0]
    kind = "strategy" if row["advice"] else "reflex"
    return json.dumps({"kind": kind, "reason": "So it is.", "advice": row["advice"]})


def test_statements_are_reframed_or_disqualified_with_their_kind():
    table = reframe_statements(QUESTIONNAIRE, Mock(reframed).model).table
    assert table.index.name == "statement"
    assert table["advice"].tolist() == STATEMENTS["advice"].tolist()
    assert table["kind"].tolist() == ["strategy", "strategy", "reflex"]
    assert table["qualified"].tolist() == [True, True, False]
    assert table["keyed"].tolist() == [1, -1, -1]
    qualified = table[table["qualified"]]
    assert len(generate_situations(qualified, Mock(written).model, count=1).table) == 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("A strategy.", "no JSON object can be read from it"),
        (
            {"kind": "habit", "reason": "a", "advice": ""},
            "the kind 'habit' is not one of the eight",
        ),
        ({"kind": "virtue", "reason": "a", "advice": "Be good."}, "does not begin with 'I recomm"),
        ({"kind": "virtue", "reason": "a"}, "the field 'advice' is missing, blank or not a text"),
        (
            {"kind": "reflex", "reason": "a", "advice": "I recommend that ..."},
            "must have no advice, but",
        ),
        (
            {"kind": "reflex", "reason": 3, "advice": ""},
            "the field 'reason' is missing, blank or not a text",
        ),
        ({"kind": ["virtue"], "reason": "a"}, "the field 'kind' is missing, blank or not a text"),
    ],
)
def test_a_bad_reframing_is_asked_again_with_what_is_wrong_then_named(said, reason):
    bad = said if isinstance(said, str) else json.dumps(said)
    mock = Mock(lambda question, attempt: bad if attempt == 1 else reframed(question, attempt))
    assert reframe_statements(QUESTIONNAIRE[:1], mock.model).failures.empty
    assert reason in mock.conversations[1][-1].text
    never = reframe_statements(QUESTIONNAIRE[:1], Mock(lambda *_: bad).model, attempts=2)
    failure = never.failures.loc[0]
    assert (failure["statement"], failure["attempts"]) == ("sleep", 2)
    assert reason in failure["reason"]
    assert never.table.empty


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"keyed": 0}, "the statement 'sleep' is"),
        ({"text": " "}, "the statement 'sleep' has"),
        ({"trait": None}, "the statement 'sleep' has"),
    ],
)
def test_bad_statements_are_refused_before_anything_is_asked(change, complaint):
    mock = Mock(reframed)
    with pytest.raises(AnnotationError, match=complaint):
        reframe_statements(QUESTIONNAIRE.assign(**change), mock.model)
    for table in (QUESTIONNAIRE.drop(columns="keyed"), "statements", QUESTIONNAIRE[:0]):
        with pytest.raises(AnnotationError, match="statements"):
            reframe_statements(table, mock.model)
    assert mock.conversations == []


# --- scenarios -----------------------------------------------------------------------------------


def written(_question, _attempt):
    return json.dumps(TEST)


def test_every_statement_gets_scenarios_whose_targets_and_settings_take_turns():
    mock = Mock(written)
    table = generate_situations(ADVISABLE, mock.model).table
    assert len(table) == 32
    assert table.index[0] == "sleep-01"
    assert table.index[-1] == "speak-16"
    for _, part in table.groupby("statement"):
        assert part["target"].value_counts().to_dict() == {"AGREE": 6, "OPPOSE": 5, "AMBIGUOUS": 5}
        assert part["setting"].nunique() == 16
    asked = [material_of(question) for question in mock.questions]
    shown = table[["advice", "target", "setting"]].to_dict("records")
    assert sorted(map(str, asked)) == sorted(map(str, shown))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"user_message": "One. Two. Three. Four. Five?"}, "has more than 4 sentences"),
        ({"user_message": "I wonder what to do."}, "does not end with a question"),
        ({"oppose_action": "  wait! "}, "the two actions are the same"),
        ({"agree_action": "wait " * 21}, "an action has more than 20 words"),
        ({"oppose_action": None}, "the field 'oppose_action' is missing, blank or not a text"),
        (
            {"user_message": "They say: Sleep, on a DECISION! Do I?"},
            "the message repeats the advice",
        ),
        ({"user_message": "Do I\x00 go?"}, r"contains the character '\x00', which is not text"),
        (
            {"user_message": "Do I \ud83d go?"},
            r"contains the character '\ud83d', which is not text",
        ),
    ],
)
def test_a_bad_scenario_is_asked_again_with_what_is_wrong_then_named(change, reason):
    bad = json.dumps({**TEST, **change})
    mock = Mock(lambda question, attempt: bad if attempt == 1 else written(question, attempt))
    said = generate_situations(ADVISABLE[:1], mock.model, count=1)
    assert said.table.loc["sleep-01", "user_message"] == TEST["user_message"]
    assert reason in mock.conversations[1][-1].text
    never = generate_situations(ADVISABLE[:1], Mock(lambda *_: bad).model, count=1, attempts=2)
    failure = never.failures.loc[0]
    assert (failure["scenario"], failure["statement"]) == ("sleep-01", "sleep")
    assert reason in failure["reason"]


def test_statements_without_advice_are_refused():
    with pytest.raises(AnnotationError, match="'blush' has no advice; give one, or drop"):
        generate_situations(STATEMENTS, Mock(written).model)


def test_more_scenarios_leave_those_that_are_there(tmp_path):
    store = tmp_path / "scenarios.jsonl"
    generate_situations(ADVISABLE, Mock(written).model, count=2, log_dir=store)
    mock = Mock(written)
    assert len(generate_situations(ADVISABLE, mock.model, count=3, log_dir=store).table) == 6
    assert [material_of(question)["target"] for question in mock.questions] == ["AMBIGUOUS"] * 2


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Do I go?", 1),
        ("I am late... really late! Do I go?", 2),
        ("Mr. B. Lee, e.g. my boss, left at 5 p.m. after 2.5 hours. Do I?", 2),
        ('He said "No." Do I go?!', 2),
        ("我很累。我该走吗？", 2),
        ("No end", 1),
    ],
)
def test_sentences_are_counted(text, count):
    assert count_sentences(text) == count


# --- examples ------------------------------------------------------------------------------------


def asked(**options):
    """The question that one scenario is asked for with."""
    mock = Mock(lambda *_: json.dumps(TEST))
    generate_situations(ADVISABLE[:1], mock.model, count=1, **options)
    return mock.questions[0]


def test_the_model_sees_the_examples_then_its_task():
    question = asked()
    for text in situation_examples().drop(columns="target").to_numpy().ravel():
        assert json.dumps(text, ensure_ascii=False) in question
    assert question.index("tomatoes") < question.index("# The advice, the target")
    assert material_of(question)["advice"] == ADVISABLE[:1]["advice"].iloc[0]


def test_a_user_s_examples_take_their_place():
    assert "# Examples" not in asked(examples=situation_examples()[:0])
    own = situation_examples()[:1].assign(user_message="Do I wear the {hat}, or not?")
    question = asked(examples=own)
    assert "Do I wear the {hat}, or not?" in question
    assert "tomatoes" not in question


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": "BOTH"}, "'doctor' .*: its target is"),
        ({"user_message": "I wait."}, "'doctor' would be refused"),
        ({"agree_action": ""}, "the example 'doctor' has no"),
    ],
)
def test_a_bad_example_is_named_before_anything_is_asked(change, said):
    mock = Mock(lambda *_: json.dumps(TEST))
    with pytest.raises(AnnotationError, match=said):
        generate_situations(
            ADVISABLE[:1], mock.model, examples=situation_examples()[:1].assign(**change)
        )
    assert mock.conversations == []


def test_other_examples_are_asked_about_anew(tmp_path):
    answers = Mock(lambda *_: json.dumps(TEST))
    generate_situations(ADVISABLE[:1], answers.model, count=1, log_dir=tmp_path)
    generate_situations(
        ADVISABLE[:1], answers.model, count=1, log_dir=tmp_path, examples=pd.DataFrame()
    )
    assert len(answers.conversations) == 2
