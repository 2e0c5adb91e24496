"""Properties of subjects: by every reader, in parts and sums, and each fault by its name."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import (
    Capability,
    DataError,
    Evaluation,
    Graded,
    Layout,
    MetaFeature,
    Success,
    fit,
    simulate,
)
from measurement_layouts.linking import logistic
from measurement_layouts.validation.prediction.splits import masked

ITEMS = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
WIDE = pd.DataFrame({"a": [1, 0], "b": [0, None], "c": [1, 1]}, index=["Bob", "Ann"], dtype=object)
PEOPLE = pd.DataFrame(
    {"age": [30, 40, 50], "school": ["x", "y", "x"], "odd": [None, 1.5, 2]}, ["Ann", "Bob", "Cyd"]
)
LONG = WIDE.rename_axis("subject").melt(ignore_index=False, var_name="item", value_name="outcome")
LONG = LONG.reset_index()
KNOWN = PEOPLE.loc[["Bob", "Ann"]].rename_axis("subject")


def raises(pattern):
    return pytest.raises(DataError, match=pattern)


def counted(subjects=None):
    trials = WIDE.notna().astype(int)
    return Evaluation(ITEMS, WIDE.fillna(0).astype(int), trials, subjects=subjects)


def equal(one, other):
    for name in ("items", "successes", "trials", "subject_table"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    "read",
    [
        counted,
        lambda people: Evaluation.from_wide(WIDE, ITEMS, subjects=people),
        lambda people: Evaluation.from_wide(WIDE.T, ITEMS, subjects=people),
        lambda people: Evaluation.from_long(LONG, ITEMS, subjects=people),
        lambda people: Evaluation.from_long(LONG, subjects=people),
        lambda people: Evaluation.of_outcomes(LAYOUT, {"heads": WIDE}, ITEMS, subjects=people),
        lambda people: Evaluation.of_outcomes(LAYOUT, {"heads": LONG}, ITEMS, subjects=people),
        lambda people: Evaluation.of_outcomes(GRADED, {"grade": WIDE}, ITEMS, subjects=people),
    ],
)
def test_every_reader_takes_them(read):
    """In the order of the subjects; those who have no outcomes are not kept."""
    found = read(PEOPLE)
    assert found.subjects == ["Bob", "Ann"]
    pd.testing.assert_frame_equal(found.subject_table, KNOWN, check_index_type=False)
    assert found.subject_table.index.equals(found.trials.index)
    bare = read(None).subject_table
    assert (list(bare.index), list(bare.columns)) == (["Bob", "Ann"], [])


LAYOUT = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
GRADED = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))


def test_rows_of_outcomes_bring_them():
    """A column belongs to the item, else to the subject, whatever the order of the rows."""
    merged = LONG.merge(PEOPLE[["age", "school"]], left_on="subject", right_index=True)
    merged = merged.merge(ITEMS, left_on="item", right_index=True).assign(battery="first")
    for seed in range(3):
        rows = merged.sample(frac=1, random_state=seed)
        found = Evaluation.from_long(rows)
        assert found.items.columns.tolist() == ["size", "battery"]
        table = found.subject_table.loc[["Bob", "Ann"]]
        pd.testing.assert_frame_equal(table, KNOWN[["age", "school"]], check_index_type=False)
        given = Evaluation.from_long(rows, subjects=PEOPLE[["odd"]])
        assert given.subject_table.columns.tolist() == ["odd"]
        beside = Evaluation.from_long(rows, ITEMS).subject_table
        pd.testing.assert_frame_equal(beside, found.subject_table)


def test_a_property_that_differs_within_one_subject_is_refused():
    """Twin: a cell that is missing is taken from the subject's other rows."""
    rows = LONG.assign(age=LONG["subject"].map(PEOPLE["age"]))
    for read in (Evaluation.from_long, Evaluation.from_table):
        with raises("age .* of subject Bob: 41 in row 0, 40 in row 2"):
            read(rows.assign(age=rows["age"].where(rows.index > 0, 41)))
        missing = read(rows.assign(age=rows["age"].where(rows.index > 0)))
        assert missing.subject_table["age"].to_dict() == {"Bob": 40, "Ann": 30}


def test_a_column_of_attempts_is_dropped():
    """One that differs everywhere; a mark of a few rows is dropped with a warning."""
    rows = pd.concat([LONG.assign(day=day) for day in (1, 2)], ignore_index=True)
    found = Evaluation.from_table(rows.assign(seconds=range(len(rows))))
    assert found.items.columns.tolist() + found.subject_table.columns.tolist() == []
    assert "dropped: seconds differs within an item" in found.notes["what"].tolist()
    with pytest.warns(UserWarning, match="late is dropped"):
        Evaluation.from_table(rows.assign(late=rows.index == 3))


def test_names_are_texts():
    numbered = pd.DataFrame([[1, 0]], index=[7], columns=["a", "b"])
    found = Evaluation.from_wide(numbered, ITEMS[:2], subjects=pd.DataFrame({"age": [30]}, [7]))
    assert found.subject_table["age"].to_dict() == {"7": 30}


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (PEOPLE.loc[["Ann"]], "no row for 1 subject .*,"),
        (PEOPLE.rename(index={"Ann": "Anne"}), "no row for 1 subject with"),
        (PEOPLE.iloc[:0], "no row for 2 subjects with"),
        (KNOWN.reset_index(), "no row for 2 subjects .*as"),
        (pd.concat([PEOPLE, PEOPLE.iloc[:1]]), r"the subject name\(s\) Ann"),
        (PEOPLE.set_axis(["Ann", "Bob", None]), "subjects, subject: no name"),
        (pd.DataFrame({"s": ["\ud800", ""]}, ["Ann", "Bob"], dtype=object), "Ann:"),
        (["Ann", "Bob"], "subjects:"),
        (PEOPLE["age"], "subjects:"),
    ],
)
def test_tables_that_are_refused(table, told):
    with raises(told):
        counted(table)


def test_a_subject_that_is_left_out_needs_no_row():
    empty = WIDE.T.assign(Eve=None).T
    with pytest.warns(UserWarning, match="left out, without any outcome"):
        found = Evaluation.from_wide(empty, ITEMS, subjects=PEOPLE)
    equal(found, counted(PEOPLE))


def test_they_are_the_evaluations_own():
    given = PEOPLE.copy()
    found = counted(given)
    before = copy.deepcopy(given)
    found.select(subjects=["Ann"])
    pd.testing.assert_frame_equal(given, before)
    given.loc["Ann", "age"] = 99
    assert found.subject_table.at["Ann", "age"] == 30
    with pytest.raises(AttributeError):
        found.subject_table = given


def test_select_and_pickle_keep_them():
    whole = counted(PEOPLE)
    part = whole.select(items=["c"], subjects=["Ann", "Bob"])
    pd.testing.assert_frame_equal(part.subject_table, whole.subject_table.loc[["Ann", "Bob"]])
    equal(pickle.loads(pickle.dumps(whole)), whole)
    equal(copy.deepcopy(whole), whole)
    pd.testing.assert_frame_equal(masked(whole, ["b"]).subject_table, whole.subject_table)


def test_parts_add_up_to_the_whole():
    whole = counted(PEOPLE)
    one, other = whole.select(subjects=["Bob"]), whole.select(subjects=["Ann"])
    equal(one + other, whole)
    equal(other + one, whole.select(subjects=["Ann", "Bob"]))
    equal(whole.select(items=["a", "c"]) + whole, whole.select(items=["a", "c", "b"]))
    equal(counted() + whole, whole)
    graded = Evaluation.of_outcomes(GRADED, {"grade": WIDE}, ITEMS, subjects=PEOPLE)
    equal(graded.select(items=["a", "c"]) + graded, graded.select(items=["a", "c", "b"]))


def test_properties_of_one_are_missing_for_the_others_subjects():
    whole = counted()
    one, other = (
        Evaluation(each.items, each.successes, each.trials, subjects=table)
        for each, table in (
            (whole.select(subjects=["Bob"]), PEOPLE[["age"]]),
            (whole.select(subjects=["Ann"]), PEOPLE[["school"]]),
        )
    )
    found = (one + other).subject_table
    assert found["age"].fillna(0).to_dict() == {"Bob": 40, "Ann": 0}
    assert found["school"].isna().to_dict() == {"Bob": True, "Ann": False}


def test_a_clash_is_refused_by_name():
    with raises("subject Ann has age = 30 in one evaluation and 31 in the other: it is another su"):
        counted(PEOPLE) + counted(PEOPLE.replace({"age": {30: 31}}))
    missing = counted(PEOPLE.astype({"age": object}).replace({"age": {30: None}}))
    assert (missing + counted(PEOPLE)).subject_table["age"].to_dict() == {"Bob": 40, "Ann": 30}


def test_repr_says_them():
    whole = "<Evaluation: 2 subjects, 3 items, 5 trials, properties size"
    assert repr(counted()) == f"{whole}>"
    assert repr(counted(PEOPLE)) == f"{whole}, of subjects age, school, odd>"


def test_a_fit_of_subjects_one_by_one_does_not_see_them():
    """Bit for bit; and a twin whose outcomes differ."""
    options = {"method": "grid", "draws": 100, "chains": 2, "seed": 1, "progressbar": False}
    bare, known = (fit(LAYOUT, counted(people), **options) for people in (None, PEOPLE))
    np.testing.assert_array_equal(bare.posterior["p"], known.posterior["p"])
    turned = Evaluation(ITEMS, counted().trials - counted().successes, counted().trials)
    assert (fit(LAYOUT, turned, **options).posterior["p"] != bare.posterior["p"]).any()


@pytest.mark.parametrize("outcome", [Success, Graded])
def test_simulated_outcomes_carry_them(outcome):
    skill, size = Capability("skill", low=0, high=9), MetaFeature("size", low=0, high=9)
    layout = Layout("sizes", outcome("done", logistic(skill - size)))
    profiles = pd.DataFrame({"skill": [2.0, 3.0]}, ["Bob", "Ann"])
    found = simulate(layout, ITEMS, profiles, seed=1, subjects=PEOPLE)
    assert found.subject_table["age"].to_dict() == {"Bob": 40, "Ann": 30}
    bare = simulate(layout, ITEMS, profiles, seed=1)
    pd.testing.assert_frame_equal(found.successes, bare.successes)
    with raises("no row for 1 subject with outcomes, Bob"):
        simulate(layout, ITEMS, profiles, seed=1, subjects=PEOPLE.drop(index="Bob"))
