"""Frames that fuzzers found: refused by name, where another exception came out before."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import Capability, DataError, Evaluation, Graded, Layout, Score, simulate
from measurement_layouts.evaluations import read_table

ITEMS = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
ONCE = pd.DataFrame({"a": [1], "b": [0]}, index=["Ann"])
ROWS = pd.DataFrame({"subject": ["Ann", "Ann"], "item": ["a", "b"], "outcome": [1, 0]})


def layout_of(leaf):
    return Layout("one", leaf)


HALF = "half \ud800"


def with_half(where):
    """Items of which a column's name or a cell holds half a character."""
    found = ITEMS.assign(
        colour=pd.Series(
            ["red", HALF if where == "cell" else "blue"], dtype=object, index=["a", "b"]
        )
    )
    if where == "category":
        found["colour"] = pd.Categorical(pd.Series(["red", HALF], dtype=object))
    if where == "column":
        found.columns = pd.Index(["size", HALF], dtype=object)
    return found


HALVES = {
    "cell": r"'colour' contains half a character, .*: 'half \\ud800'; correct",
    "category": r"'colour' contains half a character",
    "column": r"the name 'half \\ud800' of column \d, counted from 0, contains half a ch",
}


@pytest.mark.parametrize("where", HALVES)
def test_half_a_character_of_an_item_is_refused(where):
    """Pyarrow would stumble over it, in criticism and in reports."""
    items = with_half(where)
    layout = layout_of(Score("credit", Capability("skill", low=0, high=1), precision=1))
    for read in (
        lambda: Evaluation.from_wide(ONCE, items),
        lambda: Evaluation.from_long(ROWS, items),
        lambda: Evaluation.of_outcomes(layout, {"credit": ONCE}, items),
        lambda: Evaluation(items, ONCE, ONCE + 1),
        lambda: simulate(layout, items, pd.DataFrame({"skill": [0.5]}, index=["Ann"]), seed=1),
    ):
        with pytest.raises(DataError, match=HALVES[where]):
            read()


@pytest.mark.parametrize("where", HALVES)
def test_half_a_character_beside_the_outcomes_is_refused(where):
    beside = with_half(where)
    names = pd.Index([*ROWS.columns, *beside.columns], dtype=object)
    rows = ROWS.join(beside.set_axis(["x", "y"], axis=1), on="item").set_axis(names, axis=1)
    for read in (Evaluation.from_long, read_table):
        with pytest.raises(DataError, match=HALVES[where]):
            read(rows)


@pytest.mark.parametrize(
    "table",
    [
        ONCE.set_axis(pd.Index([HALF], dtype=object)),
        ONCE.set_axis(pd.Index([HALF], dtype=object, name="subject")),
        ONCE.set_axis(pd.Index(["a", HALF], dtype=object), axis=1),
        ROWS.assign(subject=pd.Series(["Ann", HALF], dtype=object)),
        ROWS.assign(outcome=pd.Series([1, HALF], dtype=object)),
    ],
)
def test_half_a_character_of_a_name_or_an_outcome_is_refused(table):
    with pytest.raises(DataError, match=r"half \\ud800.*half a character|half a character.*ud800"):
        Evaluation.from_table(table)


def test_properties_that_are_lists_are_dropped():
    rows = ROWS.assign(tags=[["x"], ["y"]])
    evaluation = Evaluation.from_table(rows)
    assert evaluation.items.columns.tolist() == []
    assert "dropped: field tags contains lists" in evaluation.notes["what"].tolist()


def test_columns_of_several_levels_are_refused():
    levels = pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")])
    with pytest.raises(DataError, match="2 levels"):
        Evaluation.from_wide(ONCE.set_axis(levels, axis=1), ITEMS)


@pytest.mark.parametrize("name", [["subject"], {}, "item"])
def test_columns_are_named_apart(name):
    rows = pd.DataFrame({"subject": ["Ann"], "item": ["a"], "outcome": [1]})
    with pytest.raises(
        DataError, match=r"subject, item and outcome are the columns .*; name three"
    ):
        Evaluation.from_long(rows, subject=name)


def test_outcomes_without_subjects_are_refused():
    layout = layout_of(Graded("grade", Capability("skill", low=0, high=1)))
    with pytest.raises(DataError, match="there are no outcomes"):
        Evaluation.of_outcomes(layout, {"grade": ONCE.iloc[:0]}, ITEMS)


def test_a_score_beyond_all_numbers_is_refused():
    layout = layout_of(Score("credit", Capability("skill", low=0, high=1), precision=1))
    table = ONCE.astype(float).assign(a=[1e308])
    with pytest.raises(DataError, match=r"no score in \[0, 1\]: Ann on a: 1e\+308"):
        Evaluation.of_outcomes(layout, {"credit": table}, ITEMS)


def test_simulation_needs_items_and_each_column_once():
    layout = layout_of(Score("credit", Capability("skill", low=0, high=1), precision=1))
    profiles = pd.DataFrame({"skill": [0.5]}, index=["Ann"])
    with pytest.raises(DataError, match="there are no items; give at least one"):
        simulate(layout, ITEMS.iloc[:0], profiles, seed=1)
    with pytest.raises(
        DataError, match="the profiles have several columns skill; keep one of each"
    ):
        simulate(layout, ITEMS, pd.concat([profiles, profiles], axis=1), seed=1)


def test_names_asked_for_are_a_list():
    evaluation = Evaluation.from_wide(ONCE, ITEMS)
    with pytest.raises(DataError, match="the subjects asked for: 3 is no list of names; give one"):
        evaluation.select(subjects=3)
    with pytest.raises(DataError, match=r"the items asked for: .* is no list of names; give one"):
        evaluation.select(items=np.array(0.5))


def test_columns_and_options_that_are_arrays_are_refused():
    rows = pd.DataFrame({"subject": ["Ann"], "item": ["a"], "outcome": [1]})
    with pytest.raises(DataError, match=r"repeats=array.*; give 'refuse' or 'trials'"):
        Evaluation.from_long(rows, repeats=np.array(["trials", "refuse"]))
