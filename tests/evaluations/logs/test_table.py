"""Tables of outcomes, long and wide, in every kind of file."""

import pandas as pd
import pytest

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs.table import read_table

LONG = pd.DataFrame(
    {
        "subject": ["Ann", "Ann", "Bob", "Bob"],
        "item": ["001", "01", "001", "01"],
        "outcome": [1, 0, 0.5, 1],
        "size": [1.5, 2, 1.5, 2],
        "kind": ["a", "b", "a", "b"],
    }
)
WIDE = pd.DataFrame({"subject": ["Ann", "Bob"], "001": [1, 0.5], "01": [0, 1]})
ITEMS = LONG.loc[:1, ["item", "size", "kind"]]


def notes_of(imported):
    return imported.notes.set_index("what")["count"].to_dict()


def saved(table, path):
    """Write a table in the format that the file's name tells."""
    match path.suffix:
        case ".csv":
            table.to_csv(path, index=False)
        case ".parquet":
            table.to_parquet(path, index=False)
        case _:
            table.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl", None])
def test_long_and_wide_tables_are_the_same(tmp_path, name):
    given = {"long": LONG, "wide": WIDE, "items": ITEMS}
    if name is not None:
        given = {key: saved(table, tmp_path / f"{key}-{name}") for key, table in given.items()}
    long, wide = read_table(given["long"]), read_table(given["wide"], given["items"])
    pd.testing.assert_frame_equal(long.outcomes, wide.outcomes)
    pd.testing.assert_frame_equal(long.items, wide.items)
    assert long.outcomes["item"].tolist() == ["001", "01", "001", "01"]
    assert long.outcomes["outcome"].tolist() == [1, 0, 0.5, 1]
    assert long.items.to_dict("list") == {"size": [1.5, 2.0], "kind": ["a", "b"]}
    assert notes_of(long) == {"long table: a row per outcome": 4}
    assert notes_of(wide) == {"wide table: subjects by items": 2}


def test_a_table_with_items_as_rows_is_turned(tmp_path):
    turned = WIDE.set_index("subject").T.rename_axis("item")
    expected = read_table(WIDE).outcomes
    for table in (turned, turned.reset_index()):
        pd.testing.assert_frame_equal(read_table(table).outcomes, expected)
    unnamed = turned.rename_axis("question")
    pd.testing.assert_frame_equal(read_table(unnamed, ITEMS).outcomes, expected)
    path = saved(unnamed.reset_index(), tmp_path / "turned.csv")
    imported = read_table(path, ITEMS)
    pd.testing.assert_frame_equal(imported.outcomes, expected)
    assert notes_of(imported)["rows named by the first column"] == 1


def test_repeated_rows_are_attempts_numbered_or_not():
    rows = pd.DataFrame({"subject": ["Ann"] * 3, "item": ["a"] * 3, "outcome": [1, 0, None]})
    imported = read_table(rows)
    assert imported.outcomes["attempt"].tolist() == [1, 2]
    assert notes_of(imported)["repeated rows: further attempts"] == 2
    assert imported.evaluation().trials.loc["Ann", "a"] == 2
    numbered = read_table(rows.assign(attempt=[3, 1, 2]))
    assert numbered.outcomes["attempt"].tolist() == [3, 1]
    with pytest.raises(DataError, match=r"2 row\(s\) repeat .* Ann on a, attempt 1"):
        read_table(rows.assign(attempt=1))
    with pytest.raises(DataError, match=r"'attempt': 1 cell.* are no whole numbers: 1\.5"):
        read_table(rows.assign(attempt=[1, 1.5, 2]))


def test_columns_may_have_other_names():
    renamed = LONG.rename(columns={"subject": "model", "item": "task", "outcome": "score"})
    names = {"subject": "model", "item": "task", "outcome": "score"}
    pd.testing.assert_frame_equal(read_table(renamed, **names).outcomes, read_table(LONG).outcomes)
    with pytest.raises(DataError, match="no column outcome; the columns are subject, item, score"):
        read_table(LONG.rename(columns={"outcome": "score"}))
    with pytest.raises(DataError, match="name three"):
        read_table(LONG, item="subject")


def test_what_is_dropped_or_mapped_is_listed():
    rows = LONG.assign(answer=list("wxyz"), tags=[["a"]] * 4, outcome=["yes", True, "0.5", None])
    imported = read_table(rows)
    assert imported.items.columns.tolist() == ["size", "kind"]
    assert notes_of(imported) == {
        "long table: a row per outcome": 4,
        "dropped: field tags contains lists": 1,
        "dropped: answer differs within an item": 1,
        "mapped: outcome, 'yes' is 1": 1,
        "dropped: outcome is missing": 1,
    }


def test_properties_of_subjects(tmp_path):
    """Beside the outcomes or in a table of their own, in every kind of file."""
    people = pd.DataFrame({"subject": ["Cyd", "Bob", "Ann"], "age": [50, 40, 30]})
    people["school"] = ["x", "y", "x"]
    beside = LONG.assign(age=[30, 30, 40, 40], school=["x", "x", "y", "y"], seconds=[1, 2, 3, 4])
    imported = read_table(beside)
    assert imported.items.columns.tolist() == ["size", "kind"]
    assert imported.subjects.to_dict("index") == {
        "Ann": {"age": 30, "school": "x"},
        "Bob": {"age": 40, "school": "y"},
    }
    notes = notes_of(imported)
    assert notes["property of the subjects: age differs within an item"] == 1
    assert notes["dropped: seconds differs within an item"] == 1
    with_items = read_table(beside, ITEMS)
    pd.testing.assert_frame_equal(with_items.subjects, imported.subjects)
    assert notes_of(with_items)["dropped: columns beside a table of items"] == 2
    for name in ("people.csv", "people.parquet", "people.jsonl"):
        given = read_table(WIDE, ITEMS, subjects=saved(people, tmp_path / name))
        assert given.subjects.to_dict("index") == imported.subjects.to_dict("index")
        assert notes_of(given)["dropped: subjects without rows of outcomes"] == 1
    own = read_table(beside.assign(age=99), subjects=people)
    assert own.subjects["age"].to_dict() == {"Ann": 30, "Bob": 40}
    assert own.items["age"].tolist() == [99, 99]
    assert read_table(beside, ITEMS, subjects=people).subjects["age"].to_dict() == {
        "Ann": 30,
        "Bob": 40,
    }
    with pytest.raises(DataError, match=r"1 subject\(s\) that `subjects` does not have: Ann; add"):
        read_table(WIDE, ITEMS, subjects=people.iloc[:2])
    with pytest.raises(DataError, match=r"subjects: the subject name\(s\) Ann occur more"):
        read_table(WIDE, ITEMS, subjects=people.assign(subject="Ann"))


def test_a_subject_without_outcomes_is_listed():
    imported = read_table(WIDE.assign(**{"001": [1, None], "01": [0, None]}))
    assert notes_of(imported)["left out, without any outcome: subjects"] == 1


def test_marks_of_other_programs_do_no_harm(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("\ufeffsubject,item,outcome\r\n\r\nNA,None,1\r\n".encode())
    assert read_table(path).outcomes.to_dict("records") == [
        {"subject": "NA", "item": "None", "attempt": 1, "outcome": 1.0}
    ]


def test_counts_are_written_and_read_back(tmp_path):
    rows = pd.DataFrame(
        {"subject": "Ann", "item": ["a", "b"], "successes": [9, 0], "trials": [12, 3]}
    )
    read = read_table(rows)
    read.write(tmp_path)
    again = read_table(tmp_path / "outcomes.csv", tmp_path / "items.csv")
    pd.testing.assert_frame_equal(again.outcomes, read.outcomes)
    assert again.evaluation().trials.loc["Ann"].tolist() == [12, 3]


PEOPLE = pd.DataFrame(
    {"subject": ["Ann", "Bob", "Cat"], "female": [1, 0, 1], "q1": [1, 0, 1], "q2": [0, 1, 1]}
)


@pytest.mark.parametrize(
    ("table", "stated", "items"),
    [
        (PEOPLE, None, ["female", "q1", "q2"]),
        (PEOPLE, ["female"], ["q1", "q2"]),
        (PEOPLE.assign(q3=1), ["female", "q3"], ["q1", "q2"]),
        (PEOPLE, [], ["female", "q1", "q2"]),
    ],
)
def test_a_property_of_subjects_is_no_item(tmp_path, table, stated, items):
    read = read_table(saved(table, tmp_path / "answers.csv"), subjects=stated)
    assert read.items.index.tolist() == items
    others = [name for name in table if name not in (*items, "subject")]
    assert read.subjects.columns.tolist() == others
    for name in others:
        assert read.subjects[name].tolist() == table[name].tolist()
    assert all(any(name in what for what in read.notes["what"]) for name in others)
    assert all(any(name in text for text in read.notes["example"]) for name in items)
    assert all(name in repr(read) for name in (*items, *others))


def test_stated_properties_of_subjects_must_be_columns_of_a_wide_table():
    for table, told in (
        (PEOPLE, "no column school"),
        (LONG, "is long"),
        (PEOPLE.set_index("subject").T.rename_axis("item"), "no column school"),
    ):
        with pytest.raises(DataError, match=told):
            read_table(table, subjects=["school"])


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("table", [PEOPLE, LONG], ids=["wide", "long"])
def test_a_column_without_a_name_is_left_out(tmp_path, table, rows):
    path = tmp_path / "answers.csv"
    table = table.head(rows).drop(columns="female", errors="ignore")
    table.to_csv(path)  # with the index of pandas, in a column without a name
    plain = read_table(table)
    for source in (path, pd.read_csv(path, dtype={"item": str}), table.reset_index()):
        read = read_table(source)
        pd.testing.assert_frame_equal(read.outcomes, plain.outcomes)
        assert read.items.columns.tolist() == plain.items.columns.tolist()
        assert notes_of(read)["dropped: columns without a name"] == 1


def test_a_column_without_a_name_is_no_property(tmp_path):
    ITEMS.reset_index(drop=True).to_csv(tmp_path / "items.csv")
    read = read_table(WIDE, tmp_path / "items.csv")
    assert read.items.columns.tolist() == ["size", "kind"]


def test_names_of_rows_may_stand_in_a_column_without_a_name(tmp_path):
    table = PEOPLE.set_index("subject").rename_axis(None)
    table.to_csv(tmp_path / "answers.csv")
    for source in (tmp_path / "answers.csv", pd.read_csv(tmp_path / "answers.csv")):
        assert read_table(source).evaluation().subjects == ["Ann", "Bob", "Cat"]


def test_two_texts_under_one_item_are_refused():
    rows = LONG.assign(question=["2+2", "9+1", "2+2 ", "57*13"])
    with pytest.raises(DataError, match=r"question .* of item 01: '9\+1' in row 1"):
        read_table(rows)
    assert len(read_table(rows.replace("57*13", "9+1")).outcomes) == 4
