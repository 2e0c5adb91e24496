"""What an import found, written and read back."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement_layouts.common.errors import DataError
from measurement_layouts.common.names import plain
from measurement_layouts.evaluations.logs.imported import Notes
from measurement_layouts.evaluations.logs.table import read_table
from measurement_layouts.evaluations.properties import typed, without_mixed

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6
).filter(plain)
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(),
    st.just(10**400),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    st.sampled_from(
        ["001", "1_0", "True", "NA", "nan", " 1", "1e3", "-inf", "\r", "a,b", '"', "\n"]
    ),
)


@st.composite
def tables(draw):
    """Rows with odd names, and properties of items and subjects of mixed kinds."""
    items = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=plain))
    subjects = draw(st.lists(NAMES, min_size=1, max_size=2, unique_by=plain))
    fields = draw(st.lists(NAMES, max_size=3, unique_by=plain))
    features = {
        name: draw(st.lists(CELLS, min_size=len(items), max_size=len(items))) for name in fields
    }
    rows = [
        {"subject": who, "item": what, "outcome": draw(st.floats(0, 1))}
        for who in subjects
        for what in items
    ]
    of_subjects = {
        name: draw(st.lists(CELLS, min_size=len(subjects), max_size=len(subjects)))
        for name in draw(st.lists(NAMES, max_size=2, unique_by=plain))
    }
    return (
        pd.DataFrame(rows),
        pd.DataFrame(features, pd.Index(items, name="item"), dtype=object),
        pd.DataFrame(of_subjects, pd.Index(subjects, name="subject"), dtype=object),
    )


@settings(max_examples=10)
@given(tables())
def test_written_tables_are_read_back(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("written")
    rows, items, subjects = made
    first = read_table(rows, items, subjects=subjects)
    first.write(folder)
    written = [folder / f"{name}.csv" for name in ("outcomes", "items", "subjects")]
    second = read_table(*written[:2], subjects=written[2])
    pd.testing.assert_frame_equal(second.outcomes, first.outcomes)
    pd.testing.assert_frame_equal(second.items, first.items)
    pd.testing.assert_frame_equal(second.subjects, first.subjects)
    assert len(pd.read_csv(folder / "notes.csv")) == len(first.notes)


def test_writing_replaces_its_own_files_and_no_others(tmp_path):
    rows = pd.DataFrame({"subject": ["Ann"], "item": ["a"], "outcome": [1]})
    folder = tmp_path / "deep" / "data"
    read_table(rows.assign(outcome=0)).write(folder)
    (folder / "mine.txt").write_text("mine")
    read_table(rows).write(folder)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["items.csv", "mine.txt", "notes.csv", "outcomes.csv", "subjects.csv"]
    assert (folder / "outcomes.csv").read_text() == "subject,item,attempt,outcome\nAnn,a,1,1.0\n"
    assert (folder / "subjects.csv").read_text() == "subject\nAnn\n"
    with pytest.raises(DataError, match="cannot be written"):
        read_table(rows).write(folder / "mine.txt")


def test_partial_credit_is_no_success():
    rows = pd.DataFrame({"subject": ["Ann"] * 2, "item": ["a", "b"], "outcome": [0.25, 1]})
    imported = read_table(rows)
    told = r"1 of 2 outcomes are neither 0 nor 1: 0\.25 \(such as Ann on a\).*Score or Graded"
    with pytest.raises(DataError, match=told):
        imported.evaluation()
    table = imported.table()
    table["outcome"] = 0.0
    assert imported.outcomes["outcome"].tolist() == [0.25, 1]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1", "2"], [1, 2]),
        (["001", "2.5"], [1.0, 2.5]),
        (["1", None], [1.0, math.nan]),
        (["1", "NA"], [1.0, math.nan]),
        (["NA", "a"], ["NA", "a"]),
        (["True", "false"], [True, False]),
        ([True, None], [1.0, math.nan]),
        ([True, 2], ["True", "2"]),
        ([1, "2"], [1, 2]),
        (["1_000", "2"], ["1_000", "2"]),
        ([2**60, 1], [float(2**60), 1.0]),
        ([10**400, 1], [str(10**400), "1"]),
        ([None, ""], [math.nan, math.nan]),
    ],
)
def test_columns_have_one_kind(cells, read):
    notes = Notes()
    table = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    found = without_mixed(typed(table, notes), notes)["a"]
    assert all(one == other or one != one for one, other in zip(found, read, strict=True))
    assert [type(one) for one in found.tolist()] == [type(other) for other in read]
    changed = any(isinstance(cell, str) and cell for cell in cells) and found.dtype != "str"
    mixed = cells in ([True, 2], [10**400, 1])
    assert len(notes.frame()) == (changed or mixed)
