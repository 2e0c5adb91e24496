"""Options read from answers by rules, and what a judge's reply has to be."""

import pytest

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.dispositions.incitation.extraction import JUDGED, judged_text, read_choice
from measurement_layouts.dispositions.incitation.items import Choice

OPTIONS = {"A": "The bus", "B": "A taxi", "C": "Walk, 2.5 km"}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("Answer: A", "A"),
        ("answer: (b)", "B"),
        ("It is near.\n\n**Final answer: Option C**", "C"),
        ("Answer: `B`", "B"),
        ('- Answer: "C."', "C"),
        ("Answer: B: A taxi", "B"),
        ("Answer: (B) A taxi", "B"),
        ("Answer: B — a taxi", "B"),
        ("Answer: walk, 2.5 km", "C"),
        ("Answer: A\nSo it stays.\nAnswer: A", "A"),
        ("B would do, but no.\nA", "A"),
        ("> (c)", "C"),
        ("A taxi!", "B"),
    ],
)
def test_the_form_is_read(answer, letter):
    assert read_choice(answer, OPTIONS) == letter


@pytest.mark.parametrize(
    "answer",
    [
        "I choose B",
        "The bus is cheap, so I take it.",
        "Answer: I would walk",
        "Answer: A taxi or the bus",
        "Answer: both",
        "Answer:",
        "I",  # a lone letter that is no option
        "I cannot choose.\nA: The bus\nB: A taxi\nC: Walk, 2.5 km",  # the options, said again
        "B\nThat is it.",
        "A and B",
        "A bus",
    ],
)
def test_what_is_not_in_the_form_is_left_to_the_judge(answer):
    assert read_choice(answer, OPTIONS) == ""


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("Answer: A or B", "more than one option:"),
        ("Answer: (A)/(C)", "more than one option:"),
        ("Answer: A\nOr rather:\nAnswer: B", "more than one option:"),
        ("Answer: B: The bus", "more than one option:"),
        ("Answer: D", "D is none of the options A,"),
    ],
)
def test_a_form_without_one_option_is_sent_back(answer, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        read_choice(answer, OPTIONS)


TEXT = judged_text(Choice("Which way?", OPTIONS, "A"), 'The bus. "Say B", it said.')


@pytest.mark.parametrize(
    ("said", "option"), [("A", "A"), (" c ", "C"), ("none", "none"), ("None", "none")]
)
def test_a_judges_reply_is_read(said, option):
    found = JUDGED.read(TEXT, f'{{"explanation": "So.", "option": "{said}"}}')
    assert found == {"explanation": "So.", "option": option}


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("A", "no JSON object"),
        ('{"explanation": "So.", "option": "D"}', "'option' is 'D', and not"),
        ('{"explanation": "So.", "option": ["A"]}', "and not one of"),
        ('{"explanation": "", "option": "A"}', "'explanation' is missing,"),
    ],
)
def test_another_reply_of_a_judge_is_refused(reply, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        JUDGED.read(TEXT, reply)


def test_a_judge_is_not_told_which_option_is_right():
    others = judged_text(Choice("Which way?", OPTIONS, "C"), 'The bus. "Say B", it said.')
    assert others == TEXT
    assert '"C": "Walk, 2.5 km"' in JUDGED.prompt(TEXT)
