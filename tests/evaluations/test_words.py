"""Outcomes in words and in numbers as text are read as 0 and 1; a bad cell is named alone."""

import re

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation
from measurement_layouts.evaluations.logs.table import read_table
from measurement_layouts.evaluations.words import KNOWN, WORDS
from measurement_layouts.linking import logistic

PAIRS = [
    *(("yes", "no"), ("Y", "N"), ("TRUE", "False"), ("T", "f"), ("Pass", "FAIL")),
    *(("passed", "failed"), ("Correct", "incorrect"), ("right", "WRONG"), ("success", "failure")),
    *((" y ", "n"), ("1", "0"), ("1.0", " 0 "), (True, "no")),
]
ITEMS = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
WIDE = pd.DataFrame([[1, 0, None], [0, 1, 1]], ["Ann", "Bob"], list("abc"), dtype=object)
LAYOUT = ml.Layout(
    "looking",
    ml.Success("found", logistic(ml.Capability("s", 0, 4) - ml.MetaFeature("size", low=0, high=4))),
)


def long_of(wide):
    rows = wide.stack(future_stack=True).rename_axis(["subject", "item"]).rename("outcome")
    return rows.reset_index()


def read_csv(wide, folder):
    long_of(wide).to_csv(folder / "rows.csv", index=False)
    return read_table(folder / "rows.csv", ITEMS).evaluation()


READERS = {
    "wide": lambda wide, _: Evaluation.from_wide(wide, ITEMS),
    "long": lambda wide, _: Evaluation.from_long(long_of(wide), ITEMS),
    "outcomes": lambda wide, _: Evaluation.of_outcomes(LAYOUT, {"found": wide}, ITEMS),
    "long outcomes": lambda wide, _: Evaluation.of_outcomes(
        LAYOUT, {"found": long_of(wide)}, ITEMS
    ),
    "csv": read_csv,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_words_are_the_numbers(pair, reader, tmp_path):
    words = WIDE.map(lambda cell: cell if cell is None else pair[1 - cell])
    read, expected = reader(words, tmp_path), Evaluation.from_wide(WIDE, ITEMS)
    for name in ("successes", "trials"):
        pd.testing.assert_frame_equal(
            getattr(read, name), getattr(expected, name), check_names=False
        )


def test_every_word_was_tried():
    tried = {str(word).strip().lower() for pair in PAIRS for word in pair}
    assert set(WORDS) <= tried
    assert set(re.findall(r"\w+", KNOWN.partition(": ")[2])) == set(WORDS)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("cell", ["maybe", "C", "nan#12"])
def test_other_words_are_named_alone_with_the_known_ones(cell, reader, tmp_path):
    words = WIDE.map(lambda own: own if own is None else str(own))
    words.loc["Bob", "c"] = cell
    with pytest.raises(DataError, match=r"\b1 (outcome|value)\(s\) are neither") as raised:
        reader(words, tmp_path)
    said = str(raised.value)
    assert repr(cell) in said
    assert KNOWN in said
    assert "Ann" not in said


def test_words_are_no_scores_and_no_grades():
    skill = ml.Capability("skill", low=0, high=1)
    for leaf, what in (
        (ml.Score("credit", skill, precision=5, places=4), "no score in"),
        (ml.Graded("credit", skill), "none of its grades"),
    ):
        layout = ml.Layout("essays", leaf)
        with pytest.raises(DataError, match=rf"1 outcome\(s\) are {what}.*Bob on b: 'yes'"):
            Evaluation.of_outcomes(layout, {"credit": WIDE.replace({"b": {1: "yes"}})}, ITEMS)
        text = Evaluation.of_outcomes(layout, {"credit": WIDE.astype("str")[["a", "b"]]}, ITEMS[:2])
        plain = Evaluation.of_outcomes(layout, {"credit": WIDE[["a", "b"]]}, ITEMS[:2])
        pd.testing.assert_frame_equal(text.successes, plain.successes)


@pytest.mark.parametrize("kind", ["str", "object"])
def test_a_bad_cell_is_named_alone_among_numbers_as_text(kind):
    """One bad cell turns a column of a file to text; the others are no fault of their own."""
    given = Evaluation.from_wide(
        WIDE, ITEMS.assign(size=pd.Series(["1", "nan#12", "3"], list("abc"), dtype=kind))
    )
    said = r"size is not a number on 1 item\(s\): b \(size = 'nan#12'\) \(2 more are numbers, but"
    with pytest.raises(DataError, match=said):
        ml.fit(LAYOUT, given)
    with pytest.raises(DataError, match=r"on 1 of 3 items: b \(size = 'nan#12'\) \(2 more are"):
        ml.check(LAYOUT, given)
    every = Evaluation.from_wide(WIDE, ITEMS.astype("str"))
    assert every.items["size"].tolist() == [1.0, 2.0, 3.0]


def test_an_import_notes_what_keeps_a_column_from_being_numbers():
    sizes = [str(number) for number in range(9)]
    rows = pd.DataFrame({"subject": "Ann", "item": list("abcdefghi"), "outcome": 1})
    noted = read_table(rows.assign(size=[*sizes[:8], "nan#12"])).notes.set_index("what")
    told = noted.loc["read as texts: size, for cells that are no numbers"]
    assert told.tolist() == [1, "8 ('nan#12')"]
    for column in (sizes, list("abcdefgh9"), [*"abcdef", *"123"], [*sizes[:8], np.nan]):
        assert not any("no numbers" in what for what in read_table(rows.assign(size=column)).notes)
