"""A long table taken for a wide one, or with other names, is met by the call that reads it."""

import re
import shlex

import pandas as pd
import pytest

from measurement_layouts import DataError, Evaluation
from measurement_layouts.command import main
from measurement_layouts.evaluations.logs.table import read_table
from measurement_layouts.evaluations.recognising import likely_columns

ITEMS = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
WIDE = pd.DataFrame([[1, 0, 0], [0, 1, 1]], ["Ann", "Bob"], list("abc"))
LONG = WIDE.stack().rename_axis(["subject", "item"]).rename("outcome").reset_index()
NAMES = [
    ("subject", "item", "outcome"),
    (" subject", "Item ", "outcome"),
    ("model", "task id", "is correct"),
    ("Participant", "question_number", "passed?"),
    ("who", "task", "score"),  # one name says nothing: what is left
    ("agent", "which", "acc"),
    ("person", "item", "x"),  # only one column holds outcomes
]


def named(names, table=LONG):
    return table.set_axis([*names, *table.columns[3:]], axis=1)


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_columns_are_recognised(names):
    for table in (named(names), named(names).assign(size=1.5, colour="red")):
        told = "colour" not in table or {"who", "which"}.isdisjoint(names)
        assert tuple((likely_columns(table) or {}).values()) == (names if told else ())
        told = told or "who" not in names  # items are known by their names
        found = likely_columns(table, ITEMS.index) or {}
        assert tuple(found.values()) == (names if told else ())


@pytest.mark.filterwarnings("ignore:.*renamed")
@pytest.mark.parametrize("names", NAMES, ids=" ".join)
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("indexed", [None, 0, 1])
def test_the_call_that_is_named_reads_a_long_table(names, repeated, indexed):
    """What the message of `from_wide` says is run, and gives the evaluation."""
    outcomes = named(names, pd.concat([LONG] * (1 + repeated)))
    if indexed is not None:
        outcomes = outcomes.set_index(names[indexed])
    with pytest.raises(DataError, match=r"^outcomes: this table is long, a row per") as raised:
        Evaluation.from_wide(outcomes, ITEMS)
    call = str(raised.value).partition("read it with ")[2]
    read = eval(call, {"Evaluation": Evaluation, "outcomes": outcomes, "items": ITEMS})
    assert (read.successes == WIDE * (1 + repeated)).all(axis=None)
    assert (read.trials == 1 + repeated).all(axis=None)


@pytest.mark.filterwarnings("ignore:.*renamed")
@pytest.mark.parametrize("names", NAMES[1:], ids=" ".join)
def test_the_options_that_are_named_read_a_long_table(names, tmp_path, capsys):
    """In Python and in the terminal."""
    file = tmp_path / "rows.csv"
    named(names).to_csv(file, index=False)
    expected = read_table(LONG).outcomes
    for read, source in (
        (lambda **given: Evaluation.from_long(named(names), ITEMS, **given).trials, "from_long"),
        (lambda **given: read_table(file, **given).outcomes, "read_table"),
    ):
        with pytest.raises(DataError, match=r"give .* \(in the terminal: ") as raised:
            read()
        options = re.search(r"give (.*) \(in the terminal", str(raised.value))[1]
        found = read(**eval(f"dict({options})"))
        if source == "read_table":
            pd.testing.assert_frame_equal(found, expected)
    typed = re.search(r"in the terminal: (.*)\), or", str(raised.value))[1]
    assert main(["import", "table", str(file), *shlex.split(typed), "--out", str(tmp_path)]) == 0
    written = pd.read_csv(tmp_path / "outcomes.csv")
    assert written["outcome"].tolist() == expected["outcome"].tolist()
    capsys.readouterr()


@pytest.mark.parametrize(
    "table",
    [
        WIDE,
        WIDE.rename_axis("subject").reset_index(),
        WIDE.rename_axis("model").reset_index().rename(columns={"a": "item 1", "b": "item 2"}),
        WIDE.T.rename_axis("item").reset_index(),
        WIDE.rename_axis("model").reset_index().assign(task="sums"),
        pd.DataFrame({"model": ["A", "B"], "item": ["a", "b"], "outcome": [1, 0]}),  # none repeats
        LONG.assign(outcome=[7, 0, 1, 1, 0, 1]),
        LONG.iloc[:0],
        LONG.set_axis(pd.MultiIndex.from_product([["x"], LONG.columns]), axis=1),
        LONG.set_axis(["subject", "item", "item"], axis=1),
    ],
    ids=range(10),
)
def test_other_tables_are_not_taken_for_long_ones(table):
    assert likely_columns(table) is None


def test_wide_tables_that_are_wrong_keep_their_own_message():
    for table, said in (
        (WIDE.replace(1, 7), "neither 0 nor 1"),
        (pd.concat([WIDE, WIDE]), r"the subject name\(s\) Ann, Bob occur more than once"),
        (WIDE.drop(columns="a"), "are not those of items: missing a"),
    ):
        with pytest.raises(DataError, match=said):
            Evaluation.from_wide(table, ITEMS)
        if "missing" not in said:
            with pytest.raises(DataError, match=r"outside|occur more than once"):
                read_table(table.rename_axis("subject").reset_index(), ITEMS)


def test_names_that_nothing_tells_are_asked_for():
    rows = LONG.set_axis(["p", "q", "r s"], axis=1)
    said = "the columns are p, q, 'r s'; give their names, as in subject='model', or rename"
    with pytest.raises(DataError, match=said):
        Evaluation.from_long(rows, ITEMS.rename(index=str.upper))


def test_a_property_with_capitals_in_its_name_is_found():
    from measurement_layouts import Capability, Layout, MetaFeature, Success, fit
    from measurement_layouts.linking import logistic

    size = MetaFeature("size", low=0, high=4)
    layout = Layout("looking", Success("found", logistic(Capability("s", 0, 4) - size)))
    given = Evaluation.from_wide(WIDE, ITEMS.rename(columns={"size": "Size"}))
    with pytest.raises(DataError, match=r"no column size; the columns are Size; names") as raised:
        fit(layout, given)
    call = re.search(r"table\.(rename\(.*\))", str(raised.value))[1]
    mended = eval(f"table.{call}", {"table": given.items})
    assert list(mended.columns) == ["size"]
