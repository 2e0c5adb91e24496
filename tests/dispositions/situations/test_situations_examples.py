"""Examples of the generation prompt: shown as they are given, checked, and part of the store."""

import json

import pandas as pd
import pytest
from helpers.mock_situations import STATEMENTS, Mock, material_of

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.dispositions import generate_situations, situation_examples
from measurement_layouts.dispositions.situations.generation import TARGETS

ONE = STATEMENTS[:1]
TEST = {"user_message": "Do I act or wait?", "agree_action": "Wait", "oppose_action": "Act"}


def asked(**options):
    """The question that one scenario is asked for with."""
    mock = Mock(lambda *_: json.dumps(TEST))
    generate_situations(ONE, mock.model, count=1, **options)
    return mock.questions[0]


def test_there_is_one_example_for_each_target():
    assert sorted(situation_examples()["target"]) == sorted(TARGETS)


def test_the_model_sees_the_examples_then_its_task():
    question = asked()
    for text in situation_examples().drop(columns="target").to_numpy().ravel():
        assert json.dumps(text, ensure_ascii=False) in question
    assert question.index("tomatoes") < question.index("# The advice, the target")
    assert material_of(question)["advice"] == ONE["advice"].iloc[0]


def test_a_user_s_examples_take_their_place():
    own = situation_examples()[:1].assign(user_message="Do I wear the {hat}, or not?")
    question = asked(examples=own)
    assert "Do I wear the {hat}, or not?" in question
    assert "tomatoes" not in question


def test_no_examples_leave_no_trace():
    assert "# Examples" not in asked(examples=situation_examples()[:0])
    assert "# Examples" in asked()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": "BOTH"}, "'doctor' .*: its target is not one of AGREE"),
        ({"user_message": "I wait."}, "'doctor' would be refused as a reply: the message does not"),
        ({"agree_action": ""}, "the example 'doctor' has no agree_action"),
    ],
)
def test_a_bad_example_is_named_before_anything_is_asked(change, said):
    mock = Mock(lambda *_: json.dumps(TEST))
    with pytest.raises(AnnotationError, match=said):
        generate_situations(ONE, mock.model, examples=situation_examples()[:1].assign(**change))
    assert mock.conversations == []


def test_other_examples_are_asked_about_anew(tmp_path):
    answers = Mock(lambda *_: json.dumps(TEST))
    generate_situations(ONE, answers.model, count=1, log_dir=tmp_path)
    generate_situations(ONE, answers.model, count=1, log_dir=tmp_path, examples=pd.DataFrame())
    assert len(answers.conversations) == 2
