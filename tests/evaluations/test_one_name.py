"""Names that differ in blanks or in the composition of Unicode only are one, with a note."""

import json

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations import read_lm_eval, read_table
from measurement_layouts.linking import logistic

COMPOSED, APART = "Zo\u00eb B", "Zoe\u0308 B"
WRITTEN = [" Zo\u00eb B", "Zo\u00eb B ", "Zo\u00eb  B", "Zo\u00eb\u00a0B", "Zo\u00eb\tB", APART]


def rows(name):
    return pd.DataFrame(
        {
            "subject": [COMPOSED, name, "Ann"],
            "item": ["x", "y", "x"],
            "outcome": [1, 0, 1],
            "species": ["jay", "jay", "crow"],
        }
    )


@pytest.mark.parametrize("name", [*WRITTEN, f"\u200b{COMPOSED}"])
def test_subjects_are_one(name):
    read = read_table(rows(name))
    assert read.evaluation().subjects == [COMPOSED, "Ann"]
    assert read.notes["what"].str.startswith("renamed: names that differ in blanks").sum() == 1
    with pytest.warns(UserWarning, match=r"^renamed: .* is 'Zo"):
        evaluation = ml.Evaluation.from_long(rows(name))
    assert evaluation.subjects == [COMPOSED, "Ann"]
    assert evaluation.select(subjects=[name]).subjects == [COMPOSED]


@pytest.mark.parametrize("name", WRITTEN)
def test_items_of_two_tables_are_one(name):
    items = pd.DataFrame({"size": [1.0, 2.0]}, index=[name, "b"])
    wide = pd.DataFrame({COMPOSED: [1], "b": [0]}, index=["Ann"])
    read = read_table(wide, items)
    assert read.items["size"].to_dict() == {COMPOSED: 1.0, "b": 2.0}
    with pytest.warns(UserWarning, match="^renamed: names that differ"):
        evaluation = ml.Evaluation.from_wide(wide, items)
    assert evaluation.items["size"].to_dict() == {COMPOSED: 1.0, "b": 2.0}
    with pytest.warns(UserWarning, match="renamed 1 name"):
        counted = ml.Evaluation(items, wide, wide * 0 + 1)
    assert counted.items.index.tolist() == [COMPOSED, "b"]


def test_two_rows_of_one_name_are_refused():
    wide = pd.DataFrame({"a": [1, 0]}, index=["Ann", "Ann "])
    with pytest.raises(DataError, match="Ann occur more than once"):
        read_table(wide)
    with pytest.raises(DataError, match="Ann occur more than once"):
        ml.Evaluation.from_wide(wide, pd.DataFrame(index=["a"]))
    with pytest.raises(DataError, match=r"column.*size occur more than once"):
        ml.Evaluation.from_wide(
            pd.DataFrame({"a": [1]}, index=["Ann"]),
            pd.DataFrame({"size": [1], "size ": [2]}, index=["a"]),
        )


def test_columns_are_one():
    given = rows("Bob").rename(columns={"subject": "subject ", "species": " species"})
    read = read_table(given)
    assert read.items.columns.tolist() + read.subjects.columns.tolist() == ["species"]
    with pytest.warns(UserWarning, match="^renamed: names that differ"):
        evaluation = ml.Evaluation.from_long(given, subject="subject ")
    assert evaluation.subjects == [COMPOSED, "Bob", "Ann"]


def test_levels_are_one_and_longer_texts_are_kept():
    given = rows("Bob").assign(species=["jay", "jay ", "crow"], about=["a  b", "c", "d"])
    read = read_table(given)
    assert read.subjects["species"].to_dict() == {COMPOSED: "jay", "Bob": "jay", "Ann": "crow"}
    assert read.subjects["about"].tolist() == ["a  b", "c", "d"]
    assert any("in column species" in what for what in read.notes["what"])
    items = pd.DataFrame({"kind": ["sum", "sum\u00a0"]}, index=["x", "y"])
    with pytest.warns(UserWarning, match="renamed: in column kind"):
        evaluation = ml.Evaluation.from_long(rows("Ann"), items)
    assert evaluation.group_rates("kind")["group"].unique().tolist() == ["sum"]


def test_two_evaluations_with_one_level_are_joined():
    first, more = (
        ml.Evaluation.from_wide(
            pd.DataFrame({"x": [1]}, index=[who]), pd.DataFrame({"kind": [kind]}, index=["x"])
        )
        for who, kind in (("Ann", "sum"), ("Bob", "sum "))
    )
    assert (first + more).items["kind"].tolist() == ["sum"]


def test_a_level_is_that_of_the_layout():
    topic = ml.Category("topic", levels=("sum", "word "))
    ease = ml.Bias("ease", per=topic, prior=ml.Prior("Normal", mu=0, sigma=1))
    skill = ml.Capability("skill", per="subject", prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("l", ml.Success("won", logistic(skill + ease)))
    items = pd.DataFrame({"topic": ["sum\u00a0", "word"]}, index=["x", "y"])
    given = pd.DataFrame([[1, 0], [0, 1]], ["Ann", "Bob"], items.index)
    fit = ml.fit(layout, ml.Evaluation.from_wide(given, items), draws=4, tune=4, chains=1, seed=1)
    assert {"sum", "word"} == set(fit.data["posterior"]["topic"].values)


def test_models_and_documents_of_logs_are_one(tmp_path):
    for model, name in (("a", "q 1"), ("b", "q  1")):
        (tmp_path / model).mkdir()
        line = {"doc_id": name, "doc": {"size ": 2}, "metrics": ["acc"], "acc": 1.0}
        (tmp_path / model / "samples_sums.jsonl").write_text(json.dumps(line))
    read = read_lm_eval(tmp_path)
    assert read.items.to_dict() == {"size": {"sums/q 1": 2}}
    assert read.notes["what"].str.startswith("renamed: names that differ").sum() == 1
