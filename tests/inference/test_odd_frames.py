"""Frames that fuzzers found: refused by name, where another exception came out before."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import Capability, DataError, Evaluation, Graded, Layout, Score, simulate

ITEMS = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
ONCE = pd.DataFrame({"a": [1], "b": [0]}, index=["Ann"])


def layout_of(leaf):
    return Layout("one", leaf)


@pytest.mark.parametrize(
    ("outcomes", "complaint"),
    [
        (ONCE.set_axis(pd.Index(["half \ud800"], dtype=object)), "half a character, which no file"),
        (ONCE.set_axis(pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")]), axis=1), "2 levels; g"),
        (ONCE.astype(object).assign(a=[10**400]), "Ann on a: 1000"),
        (ONCE.astype(object).assign(a=[pd.Index(["a", "b"])]), r"Ann on a: Index\(\['a', 'b'\]"),
    ],
)
def test_odd_outcomes_are_refused(outcomes, complaint):
    with pytest.raises(DataError, match=complaint):
        Evaluation.from_wide(outcomes, ITEMS)


def test_counts_that_no_whole_number_holds_are_refused():
    with pytest.raises(DataError, match=r"no counts: Ann on a: 1e\+308; give whole numbers from 0"):
        Evaluation(ITEMS, ONCE, ONCE.astype(float).assign(a=[1e308]))


def test_properties_that_are_lists_are_compared():
    rows = pd.DataFrame(
        {"subject": ["Ann", "Bob"], "item": "a", "outcome": 1, "tags": [["x"], ["x"]]}
    )
    assert Evaluation.from_long(rows).items["tags"].tolist() == [["x"]]
    with pytest.raises(DataError, match="'tags' differs between rows of one item: a; a property"):
        Evaluation.from_long(rows.assign(tags=[["x"], ["y"]]))


def test_a_property_that_is_there_twice_is_refused():
    rows = pd.DataFrame([["Ann", "a", 1, 2, 3]], columns=["subject", "item", "outcome", "x", "x"])
    with pytest.raises(DataError, match="the table of outcomes has several columns x; keep one of"):
        Evaluation.from_long(rows)


@pytest.mark.parametrize("name", [["subject"], {}, "item"])
def test_columns_are_named_apart(name):
    rows = pd.DataFrame({"subject": ["Ann"], "item": ["a"], "outcome": [1]})
    with pytest.raises(
        DataError, match=r"subject, item and outcome are the columns .*; name three"
    ):
        Evaluation.from_long(rows, subject=name)


def test_outcomes_without_subjects_are_refused():
    layout = layout_of(Graded("grade", Capability("skill", low=0, high=1)))
    with pytest.raises(DataError, match="there are no outcomes; give at least one subject and one"):
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
