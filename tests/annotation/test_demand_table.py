"""Tables of demands: all rubrics, unguessability, cost counted, runs that go on."""

import re

import pandas as pd
import pytest
from helpers.mock_annotators import Sloppy

from measurement_layouts.annotation import (
    DEMAND_RUBRICS,
    AnnotationError,
    DemandLevel,
    DemandRubric,
    annotate_demands,
)

ITEMS = {f"q{number}": f"Question {number}: what follows?" for number in range(40)}
OPTIONS = {f"q{number}": 2 + number % 3 for number in range(20)}
TWO = ["logical_reasoning", "volume"]


@pytest.fixture(scope="module")
def said():
    return annotate_demands(ITEMS, Sloppy().model, TWO, options=OPTIONS, attempts=3)


def test_what_is_kept_asked_again_and_dropped_is_counted(said):
    """A quarter is kept at once, half is asked again, and a quarter is dropped."""
    answered = [name for name in ITEMS if int(name[1:]) % 8 > 1]
    assert list(said.table.index) == answered
    assert list(said.table.columns) == ["demand[QLl]", "demand[VO]", "unguessability"]
    for column in ("demand[QLl]", "demand[VO]"):
        assert (said.table[column] == [int(name[1:]) % 6 for name in answered]).all()
        counts = said.annotations[column].usage["attempts"].value_counts().to_dict()
        assert counts == {1: 10, 2: 20, 3: 10}  # at once; asked again; given up
    missing = said.failures.groupby("column").size().to_dict()
    assert missing == {"demand[QLl]": 10, "demand[VO]": 10, "unguessability": 4}
    assert said.failures["reason"].str.contains("no line starts with").all()


def test_unguessability_is_computed_from_options_and_asked_for_elsewhere(said):
    table = said.table["unguessability"]
    with_options = [name for name in table.index if name in OPTIONS]
    assert table[with_options].to_list() == [100 * (1 - 1 / OPTIONS[name]) for name in with_options]
    assert table["q21"] == 21 % 6
    assert set(said.annotations["unguessability"].usage.index) == set(ITEMS) - set(OPTIONS)


def test_all_eighteen_are_the_default():
    said = annotate_demands({"a": "b"}, Sloppy().model, options={"a": 2})
    assert len(said.annotations) == len(DEMAND_RUBRICS) == 18


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"options": {"q0": 1}}, "item 'q0' has 1; give whole"),
        ({"options": {"x": 2}}, "options:"),
        ({"options": [2, 3]}, "options:"),
        ({"speed": 1.5}, "unknown option speed; give"),
        ({"rubrics": []}, "no rubrics; give at least"),
        ({"rubrics": ["volume", "volume"]}, "rubric 'volume' has the"),
        (
            {
                "rubrics": [
                    DemandRubric(
                        "own", "d", (DemandLevel(0, "a", ("b",)), DemandLevel(1, "c", ("d",)))
                    )
                ]
            },
            "rubric 'own' has the code",
        ),
    ],
)
def test_bad_input_is_refused(changes, complaint):
    given = {"items": ITEMS, "rubrics": TWO} | changes
    with pytest.raises(AnnotationError, match=re.escape(complaint)):
        annotate_demands(model=Sloppy().model, **given)


def test_missing_options_are_asked_for():
    options = pd.Series({"q3": 4, "q4": None})
    model = Sloppy()
    table = annotate_demands(
        {name: ITEMS[name] for name in options.index}, model.model, TWO[:1], options=options
    ).table
    assert table["unguessability"].to_list() == [75, 4]
