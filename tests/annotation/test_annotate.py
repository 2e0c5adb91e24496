"""Annotating with a language model: whole runs against inspect-ai's mock model."""

import asyncio

import pandas as pd
import pytest
from helpers.mock_annotators import GOOD, ITEMS, Mock, output

from measurement_layouts.annotation import (
    AnnotationError,
    annotate,
    load_demand_rubric,
    load_rubric,
)

RUBRIC = load_rubric("risk_aversion")


def test_good_answers_become_bands_in_the_order_of_the_items():
    mock = Mock(lambda item, _: f"Interval: [-{'abcdef'.index(item) // 2}, 3]")
    said = annotate(ITEMS, RUBRIC, mock.model)
    expected = pd.DataFrame(
        {"low": [0, 0, -1, -1, -2, -2], "high": 3}, index=pd.Index(list(ITEMS), name="item")
    )
    pd.testing.assert_frame_equal(said.bands, expected, check_index_type=False)
    assert mock.calls.total() == 6
    assert said.failures.empty
    assert list(said.failures.columns) == ["item", "attempts", "reason", "answer"]
    assert said.answers["f"] == "Interval: [-2, 3]"
    assert repr(said) == (
        "<Annotations of 'risk aversion' by mockllm/model: 6 bands, 0 failed, 600 tokens in and "
        "60 out>"
    )


def test_a_bad_answer_is_asked_again_with_what_is_wrong():
    mock = Mock(lambda _, attempt: GOOD if attempt == 3 else f"Interval: [{attempt}, 3]")
    said = annotate({"a": ITEMS["a"]}, RUBRIC, mock.model)
    assert said.bands.loc["a"].tolist() == [-2, 1]
    assert said.usage.loc["a"].drop("seconds").tolist() == [3, 300, 30]
    roles = [message.role for message in mock.conversations[-1]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    first, second = (mock.conversations[-1][place].text for place in (3, 5))
    assert "the band [1, 3] does not contain 0" in first
    assert "the band [2, 3] does not contain 0" in second


def test_what_never_answers_well_is_listed():
    mock = Mock(lambda item, _: "I would rather not." if item == "b" else GOOD)
    said = annotate(ITEMS, RUBRIC, mock.model, attempts=2)
    assert said.failures.to_dict("records") == [
        {
            "item": "b",
            "attempts": 2,
            "reason": "no line starts with 'Interval:'",
            "answer": "I would rather not.",
        }
    ]
    assert list(said.bands.index) == list("acdef")
    assert said.total.drop("seconds").tolist() == [7, 700, 70]


def test_an_empty_answer_is_asked_again_and_not_sent_back():
    mock = Mock(lambda _, attempt: output("", stop_reason="max_tokens") if attempt < 2 else GOOD)
    assert len(annotate({"a": ITEMS["a"]}, RUBRIC, mock.model).bands) == 1
    assert [message.role for message in mock.conversations[-1]] == ["system", "user"]


def test_an_answer_cut_short_says_so():
    mock = Mock(lambda *_: output("0: STAYS", stop_reason="max_tokens"))
    said = annotate({"a": ITEMS["a"]}, RUBRIC, mock.model, attempts=1)
    assert "the provider ended it: max_tokens" in said.failures["reason"][0]


def test_an_error_of_the_model_stops_its_item_only():
    def reply(item, attempt):
        if item == "c" and attempt == 2:
            raise RuntimeError("overloaded\n" + "request " * 200)
        return "Interval: none" if item == "c" else GOOD

    mock = Mock(reply)
    said = annotate(ITEMS, RUBRIC, mock.model)
    failure = said.failures.loc[0]
    assert failure["item"] == "c"
    assert failure["attempts"] == 2
    assert failure["reason"].startswith("the model failed: RuntimeError('overloaded")
    assert len(failure["reason"]) < 400
    assert failure["answer"] == "Interval: none"
    assert len(said.bands) == 5


def test_tokens_of_a_cache_are_counted():
    cached = {"input_tokens_cache_read": 50, "input_tokens_cache_write": 25}
    mock = Mock(lambda _, attempt: output(GOOD if attempt == 2 else "no", **cached))
    said = annotate(ITEMS, RUBRIC, mock.model)
    assert said.usage.loc["a"].drop("seconds").tolist() == [2, 350, 20]
    assert said.total["input_tokens"] == 6 * 350


# --- at a time -----------------------------------------------------------------------------------


def test_a_running_loop_is_no_hindrance():
    """As in a notebook."""

    async def cell():
        return annotate(ITEMS, RUBRIC, Mock().model)

    loop = asyncio.new_event_loop()  # asyncio.run of Inspect's nest-asyncio leaves its loop open
    try:
        assert len(loop.run_until_complete(cell()).bands) == 6
    finally:
        loop.close()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "options", "complaint"),
    [
        ({}, {}, "no items; give at least one"),
        (["A or B?"], {}, "this is a list; give a"),
        ({"a": " "}, {}, "the item 'a' has no text"),
        ({"a": None}, {}, "the item 'a' has no text"),
        ({1: "A?", "1": "B?"}, {}, "the item '1' occurs more"),
        ({"a \ud800": "A?"}, {}, r"the item 'a \\ud800': its"),
        ({"a": "A\ud800?"}, {}, "the item 'a': its name or"),
        (ITEMS, {"attempts": 0}, "attempts=0; give a whole"),
        (ITEMS, {"temprature": 0}, "unknown option temprature;"),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(items, options, complaint):
    mock = Mock()
    with pytest.raises(AnnotationError, match=complaint):
        annotate(items, RUBRIC, mock.model, **options)
    assert mock.calls.total() == 0


def test_other_rubrics_and_kinds_are_refused():
    with pytest.raises(AnnotationError, match=r"give a Rubric, such as load_rubric\('haste'\)"):
        annotate(ITEMS, "haste", Mock().model)
    levels = annotate(ITEMS, load_demand_rubric("volume"), Mock(lambda *_: "Level: 2").model)
    assert (levels.levels["level"] == 2).all()
    with pytest.raises(AnnotationError, match=r"are levels, not bands; use \.levels"):
        _ = levels.bands
