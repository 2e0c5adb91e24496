"""Items written by one mock model and annotated by another: which are dropped, and why."""

import json

import pandas as pd
import pytest
from helpers.mock_situations import Mock, material_of
from helpers.rubrics import ladder

from measurement_layouts.dispositions import generate_items, incite

HASTE = ladder()
COUNT = 36
UNWRITTEN, TWICE, MALFORMED = {3}, {6, 7}, {9}
UNANNOTATED, OTHER_RIGHT, OTHER_LEANING, BAND = {12}, {15, 16}, {18, 19, 20}, {21, 22}
"""Numbers of the items with which something is the matter, from 1."""


def write(question, attempt):
    """Write an item by its plan; the texts of its options name it, and their roles."""
    plan = material_of(question)
    number = int(plan["number"])
    if number in UNWRITTEN or (number in MALFORMED and attempt == 1):
        return "I have no idea."
    name = 5 if number in TWICE else number
    return json.dumps(
        {
            "question": f"Matter {name}?",
            **{
                role: f"{role} {plan['right']} {plan['levels that take it']} {number}"
                for role in ("negative", "positive", "third")
            },
        }
    )


def seen(question):
    """What an annotator sees: number of the item, roles by letter, the right role and its band."""
    item = question[question.rindex("<item>") : question.rindex("</item>")]
    lines = [line.split(": ", 1) for line in item.splitlines() if line[1:2] == ":"]
    letters = {text.split()[0]: letter for letter, text in lines}
    _, right, low, _, high, number = lines[0][1].split()
    return int(number), letters, right, int(low), int(high)


def annotate_item(question, _):
    """Annotate a band as planned, or choices that fit it, but where something is the matter."""
    number, letters, right, low, high = seen(question)
    if "Interval: [" in question:
        if number in UNANNOTATED:
            return "Who knows."
        return "Interval: [-2, 2]" if number in BAND else f"Interval: [{low}, {high}]"
    said = {
        "at_lowest": letters["negative"],
        "at_zero": letters[right],
        "at_highest": letters["positive"],
    }
    if number in OTHER_RIGHT:
        said["at_zero"] = letters["third" if right != "third" else "positive"]
    if number in OTHER_LEANING:
        said["at_lowest"] = letters["positive"]
    return json.dumps(said)


@pytest.fixture(scope="module")
def made():
    return generate_items(HASTE, Mock(write).model, Mock(annotate_item).model, count=COUNT)


def test_inconsistent_items_are_dropped_and_counted(made):
    planned = {
        "not written": UNWRITTEN,
        "written twice": TWICE,
        "not annotated": UNANNOTATED,
        "another right option": OTHER_RIGHT,
        "another leaning": OTHER_LEANING,
        "band against choices": BAND,
    }
    expected = {f"item-{n:02d}": reason for reason, numbers in planned.items() for n in numbers}
    assert made.dropped.set_index("item")["reason"].to_dict() == expected
    counts = {"kept": COUNT - len(expected)} | {why: len(which) for why, which in planned.items()}
    assert made.counts.to_dict() == counts
    lost = set(expected)
    assert list(made.items.index) == [
        name for n in range(1, COUNT + 1) if (name := f"item-{n:02d}") not in lost
    ]


def test_items_are_as_their_plan_says(made):
    bands = set()
    for _, row in made.items.iterrows():
        right, *_ = row[row["right"]].split()
        _, planned, low, _, high, _ = row[row["right"]].split()
        assert right == planned
        assert row["negative"] != row["positive"]
        assert row[row["negative"]].startswith("negative")
        assert row[row["positive"]].startswith("positive")
        assert row[["low", "high"]].tolist() == [int(low), int(high)]
        assert row[["planned_low", "planned_high"]].tolist() == [int(low), int(high)]
        assert (right == "negative") == (low == "-2")
        assert (right == "positive") == (high == "2")
        bands.add((int(low), int(high)))
    assert {(-2, 0), (-2, 1), (-1, 2), (0, 2), (-1, 0), (0, 0), (0, 1), (-1, 1)} == bands
    assert set(made.items["right"]) == {"A", "B", "C"}  # in an order drawn for each


def test_usage_is_of_both_models(made):
    writer, annotator = Mock(write), Mock(annotate_item)
    again = generate_items(HASTE, writer.model, annotator.model, count=COUNT)
    assert again.usage.loc["writer", "attempts"] == len(writer.conversations)
    assert again.usage.loc["annotator", "attempts"] == len(annotator.conversations)
    assert again.usage.loc["all", "attempts"] == again.usage["attempts"].iloc[:2].sum()
    pd.testing.assert_frame_equal(again.items, made.items)
    for page in annotator.questions:  # it is not told the plan
        assert "The plan" not in page
        assert "setting" not in page


def test_more_items_keep_those_that_are_there(tmp_path, made):
    writer, annotator = Mock(write), Mock(annotate_item)
    generate_items(HASTE, writer.model, annotator.model, count=2, log_dir=tmp_path)
    assert (len(writer.conversations), len(annotator.conversations)) == (2, 4)
    more = generate_items(HASTE, writer.model, annotator.model, count=5, log_dir=tmp_path)
    assert (len(writer.conversations), len(annotator.conversations)) == (2 + 2 + 3, 8)
    pd.testing.assert_frame_equal(more.items, made.items.iloc[:4])
    assert more.usage.loc["writer", "attempts"] == 7


def test_nothing_written_is_no_item():
    silent = Mock(lambda *_: "No.")
    found = generate_items(HASTE, silent.model, silent.model, count=2, attempts=1)
    assert found.counts.to_dict() == {"kept": 0, "not written": 2}
    assert found.items.empty
    assert "right" in found.items


def test_a_scale_with_one_side_has_items_too():
    thrift = ladder("thrift", "spends", "saves", lowest=0, highest=3)
    found = generate_items(thrift, Mock(write).model, Mock(annotate_item).model, count=2)
    assert found.items[["low", "high"]].to_numpy().tolist() == [[0, 0], [0, 1]]


def test_what_is_made_can_be_asked(made):
    subject = Mock(lambda *_: "Answer: A")
    said = incite(made.items, HASTE, {"m": subject.model}, levels=[1])
    assert said.counts.loc["all", "kept"] == len(made.items)
    rate = (made.items["right"] == "A").mean()
    assert said.evaluation.success_rates()["m +1"] == pytest.approx(rate)
