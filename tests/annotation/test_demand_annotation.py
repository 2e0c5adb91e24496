"""Levels of demands: answers read, and whole runs against inspect-ai's mock model."""

import pandas as pd
import pytest
from helpers.mock_annotators import GOOD, ITEMS, Mock

from measurement_layouts.annotation import (
    AnnotationError,
    annotate,
    load_demand_rubric,
    load_rubric,
    read_level,
)
from measurement_layouts.annotation.answer import read_rating

RUBRIC = load_demand_rubric("quantitative_reasoning")
STEPS = "Two steps of arithmetic.\n\nLevel: 2"


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("Level: 2", 2),
        ("**Level: 2**", 2),
        ("**Level:** `0`", 0),
        ("level : [4].", 4),
        ("Final level: 3.0", 3),
        ("> - Level:5+", 5),
        ("Level: 5 +", 5),
        ("Level: +1", 1),
        ("Level: 3\nNo, the second step is of level 4.\n\nLevel: 4\r\n", 4),
        ("Level: 2\nThat is my answer.", 2),
        ("## Level 3: intermediate\nLevel: 2", 2),
    ],
)
def test_the_last_level_is_read(answer, level):
    assert read_level(answer) == level


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no line starts with 'Level:'"),
        ("Level 3", "no line starts with 'Level:'"),
        ("So the level: 3", "no line starts with 'Level:'"),
        ("Level: 2\nLevel: unclear", "a single number cannot be read from 'unclear'"),
        ("Level: N", "a single number cannot be read from 'N'"),
        ("Level: 2 or 3", "a single number cannot be read"),
        ("Level: 2-3", "a single number cannot be read"),
        ("Level: 3 out of 5", "a single number cannot be read"),
        ("Level: 4+", "a single number cannot be read"),
        ("Level: 5 + 1", "a single number cannot be read"),
        ("Level: 2.5", "the level 2.5 is not a whole number"),
        ("Level: 6", "the level 6 is not one of 0 to 5"),
        ("Level: -1", "the level -1 is not one of 0 to 5"),
    ],
)
def test_everything_else_is_refused_with_a_reason(answer, reason):
    with pytest.raises(AnnotationError, match=reason):
        read_level(answer)


def test_ratings_end_at_1_and_at_5():
    assert [read_rating(f"Rating: {rating}") for rating in (1, 5)] == [1, 5]
    with pytest.raises(AnnotationError, match="the rating 0 is not one of 1 to 5"):
        read_rating("Rating: 0")
    with pytest.raises(AnnotationError, match="a single number cannot be read from '5\\+'"):
        read_rating("Rating: 5+")


# --- runs ----------------------------------------------------------------------------------------


def test_good_answers_become_levels_in_the_order_of_the_items():
    mock = Mock(lambda item, _: f"Level: {'abcdef'.index(item)}")
    said = annotate(ITEMS, RUBRIC, mock.model)
    expected = pd.DataFrame({"level": range(6)}, index=pd.Index(list(ITEMS), name="item"))
    pd.testing.assert_frame_equal(said.levels, expected, check_index_type=False)
    assert "'quantitative reasoning' by mockllm/model: 6 levels, 0 failed" in repr(said)
    page = mock.conversations[0][1].text
    assert RUBRIC.levels[5].description in page
    assert ITEMS["a"] in page


def test_an_interval_is_no_level_and_a_level_no_interval():
    """Each rubric reads its own answers only."""
    assert len(annotate(ITEMS, RUBRIC, Mock(lambda *_: GOOD).model).failures) == 6
    bands = annotate(ITEMS, load_rubric("risk_aversion"), Mock(lambda *_: STEPS).model)
    assert len(bands.failures) == 6
    assert list(bands.bands.columns) == ["low", "high"]


def test_levels_are_no_bands():
    said = annotate(ITEMS, RUBRIC, Mock(lambda *_: STEPS).model)
    with pytest.raises(AnnotationError, match=r"are levels, not bands; use \.levels"):
        _ = said.bands
