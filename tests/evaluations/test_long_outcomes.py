"""Reading outcomes in rows, one each: names, properties, repeats, and every fault by its name."""

import copy

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError, Evaluation
from measurement_layouts.common.given import kind_of

ITEMS = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
LONG = pd.DataFrame(
    {
        "subject": ["Zoe", "Ann", "Zoe", "Ann", "Ann"],
        "item": ["b", "a", "a", "b", "c"],
        "outcome": [1, 0, np.nan, True, 0],
        "size": [2.0, 1.0, 1.0, 2.0, np.nan],
        "colour": ["red", "blue", "blue", "red", "red"],
    }
)


def values(evaluation):
    return evaluation.successes.to_numpy().tolist(), evaluation.trials.to_numpy().tolist()


def raises(pattern):
    return pytest.raises(DataError, match=pattern)


def test_long_takes_the_items_from_the_other_columns():
    evaluation = Evaluation.from_long(LONG)
    assert evaluation.subjects == ["Zoe", "Ann"]  # in order of appearance
    assert list(evaluation.items.index) == ["b", "a", "c"]
    assert values(evaluation) == ([[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 1]])
    assert evaluation.items["colour"].tolist() == ["red", "blue", "red"]
    assert evaluation.items["size"].tolist()[:2] == [2.0, 1.0]
    assert np.isnan(evaluation.items.at["c", "size"])  # alike in all rows of the item


def test_long_with_a_table_of_items():
    evaluation = Evaluation.from_long(LONG, ITEMS)
    assert values(evaluation) == ([[0, 1, 0], [0, 1, 0]], [[0, 1, 0], [1, 1, 1]])


def test_long_equals_wide():
    wide = pd.DataFrame({"a": [1, 0], "b": [0, None], "c": [1, 1]}, index=["Ann", "Bob"])
    rows = wide.rename_axis("who").melt(ignore_index=False, var_name="what", value_name="right")
    names = {"subject": "who", "item": "what", "outcome": "right"}
    assert values(Evaluation.from_long(rows.reset_index(), ITEMS, **names)) == values(
        Evaluation.from_wide(wide, ITEMS)
    )


def test_long_with_categories_and_numbered_names():
    rows = LONG.assign(
        subject=LONG["subject"].astype(pd.CategoricalDtype(["Ann", "nobody", "Zoe"])),
        item=pd.Categorical(LONG["item"].map({"a": 10, "b": 7, "c": 3}), categories=[3, 7, 10, 11]),
        outcome=LONG["outcome"].astype(object).astype("category"),
        colour=LONG["colour"].astype("category"),
    )
    evaluation = Evaluation.from_long(rows)
    assert evaluation.subjects == ["Zoe", "Ann"]
    assert list(evaluation.items.index) == ["7", "10", "3"]
    assert values(evaluation) == values(Evaluation.from_long(LONG))


def test_long_without_properties():
    evaluation = Evaluation.from_long(LONG[["subject", "item", "outcome"]])
    assert list(evaluation.items.columns) == []
    assert values(evaluation) == values(Evaluation.from_long(LONG))


def test_repeats_are_refused_or_counted():
    twice = pd.concat([LONG, LONG.iloc[[1, 3, 3]].assign(outcome=[1, 1, None])])
    with raises("3 repeated row.*: Ann on a, Ann on b, Ann on b; .*repeats='trials'"):
        Evaluation.from_long(twice)
    evaluation = Evaluation.from_long(twice, repeats="trials")
    assert evaluation.trials.loc["Ann", ["a", "b", "c"]].tolist() == [2, 2, 1]
    assert evaluation.successes.loc["Ann", ["a", "b", "c"]].tolist() == [1, 2, 0]
    with raises("repeats='sum'; give 'refuse' or 'trials'"):
        Evaluation.from_long(twice, repeats="sum")


@pytest.mark.parametrize("column", ["subject", "item", "outcome"])
def test_long_without_a_column(column):
    with raises(f"the table of outcomes has no column {column}; the columns are "):
        Evaluation.from_long(LONG.drop(columns=column), ITEMS)
    with raises(f"the table of outcomes has several columns {column}; keep one"):
        Evaluation.from_long(pd.concat([LONG, LONG[[column]]], axis=1))


def test_long_property_that_differs_within_an_item():
    with raises("'size' differs between rows of one item: b, c; a property belongs"):
        Evaluation.from_long(pd.concat([LONG, LONG.iloc[[0, 4]].assign(size=9.0, subject="New")]))


@pytest.mark.parametrize("column", ["subject", "item"])
def test_long_without_a_name(column):
    with raises(rf"column '{column}': no name in row\(s\) 2"):
        Evaluation.from_long(LONG.assign(**{column: ["a", "b", None, "d", "e"]}))


@pytest.mark.parametrize("wrong", [[[1, 0]], None, {"a": [1]}, np.ones((2, 3))])
def test_not_a_data_frame(wrong):
    with raises(f"outcomes: this is {kind_of(wrong)}; give a pandas DataFrame"):
        Evaluation.from_long(wrong)


def test_inputs_stay_as_they_are():
    given = [LONG, ITEMS]
    before = copy.deepcopy(given)
    Evaluation.from_long(LONG, ITEMS)
    Evaluation.from_long(LONG)
    for table, same in zip(given, before, strict=True):
        pd.testing.assert_frame_equal(table, same)
        assert table.index.name == same.index.name
