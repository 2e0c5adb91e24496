"""Grading of open answers: what graders are shown, and how their scores become outcomes."""

import itertools

import pandas as pd
import pytest
from helpers.mock_annotators import output
from inspect_ai.model import get_model

from measurement_layouts.annotation import AnnotationError, grade, settle_grades

SUBJECTS, ITEMS = ["Ann", "Bob"], ["capital", "river", "lake"]
ANSWERS = pd.DataFrame(itertools.product(SUBJECTS, ITEMS), columns=["subject", "item"]).assign(
    question="Which one?", reference="The first.", answer=["1", "2", "", "1", "2", "3"]
)
NAMES = [f"{subject}: {item}" for subject in SUBJECTS for item in ITEMS]


def scores(*values):
    return pd.Series(values, NAMES[: len(values)])


def test_scores_are_asked_for_answer_by_answer():
    pages = []

    def reply(messages, _tools, _choice, _config):
        pages.append(messages[1].text)
        said = messages[1].text.split('"answer": "')[1].split('"')[0]
        return output({"1": "Rating: 5", "2": "Rating: 2", "3": "So so."}.get(said, "Rating: 1"))

    said = grade(ANSWERS, get_model("mockllm/model", custom_outputs=reply), attempts=1)
    assert said.ratings["score"].to_dict() == dict(zip(NAMES[:5], [5, 2, 1, 5, 2], strict=True))
    assert said.failures["item"].to_list() == ["Bob: lake"]
    assert all('"reference": "The first."' in page for page in pages)
    graded = settle_grades(ANSWERS, {"mock": said})
    assert graded["outcome"].to_list() == [1, 0, 0, 1, 0, pd.NA]
    assert graded["ungraded"].to_list() == [""] * 5 + ["no score"]


@pytest.mark.parametrize(("one", "two"), [*itertools.product(range(1, 6), repeat=2)])
def test_outcomes_are_where_all_graders_agree(one, two):
    graded = settle_grades(ANSWERS[:1], {"a": scores(one), "b": scores(two)})
    expected = 1 if min(one, two) > 3 else 0 if max(one, two) < 3 else pd.NA
    assert graded["outcome"].to_list() == [expected]
    reason = "cannot be told" if 3 in (one, two) else "graders disagree"
    assert graded["ungraded"].to_list() == [reason if expected is pd.NA else ""]


def test_a_disputed_item_can_be_left_out_for_everybody_or_be_settled():
    grades = {"a": scores(5, 1, 5, 5, 1, 1), "b": scores(5, 1, 5, 5, 5, 1)}
    assert settle_grades(ANSWERS, grades)["outcome"].count() == 5
    whole = settle_grades(ANSWERS, grades, whole_items=True)
    assert set(whole.dropna()["item"]) == {"capital", "lake"}
    assert sorted(whole["ungraded"])[-2:] == ["graders disagree", "its item is disputed"]
    settled = settle_grades(ANSWERS, grades, settled={("Bob", "river"): 1}, whole_items=True)
    assert settled["outcome"].to_list() == [1, 0, 1, 1, 1, 0]


def test_the_published_rule_leaves_out_the_items_on_which_one_subject_is_disputed():
    """Of the items that whole_items leaves out, those disputed in others' answers stay."""
    grades = {"a": scores(5, 1, 5, 5, 1, 1), "b": scores(5, 2, 3, 5, 5, 1)}
    one = settle_grades(ANSWERS[ANSWERS["subject"] == "Ann"], grades)
    kept = set(one.dropna()["item"])
    published = settle_grades(ANSWERS[ANSWERS["item"].isin(kept)], grades)
    whole = settle_grades(ANSWERS, grades, whole_items=True)
    assert kept == {"capital", "river"}
    assert published["outcome"].count() == 3
    assert set(whole.dropna()["item"]) == {"capital"}


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: settle_grades(ANSWERS, {}), "no grades"),
        (lambda: settle_grades(ANSWERS, {"a": scores(6)}), "grader 'a': the score of"),
        (
            lambda: settle_grades(ANSWERS, {"a": scores(1)}, settled={("Cem", "river"): 1}),
            "settled:",
        ),
        (lambda: grade(ANSWERS.drop(columns="answer"), "x"), "no column 'answer'"),
        (lambda: grade(ANSWERS.assign(answer=None), "x"), "answer 'Ann: capital' is"),
        (lambda: grade(ANSWERS.assign(question=" "), "x"), "'Ann: capital' has no"),
        (lambda: grade(pd.concat([ANSWERS, ANSWERS]), "x"), "the answer 'Ann: capital'"),
    ],
)
def test_bad_input_is_refused(call, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        call()
