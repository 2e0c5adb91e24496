"""`--subject-table`: properties of subjects go from file to file, and into the evaluation."""

from pathlib import Path

import pandas as pd
import pytest

from measurement_layouts.command import main
from measurement_layouts.commands.layout_file import load_layout
from measurement_layouts.commands.options import Data, FittedData
from measurement_layouts.commands.tables import fitted_evaluation, read_evaluation
from measurement_layouts.common.errors import DataError
from measurement_layouts.inference.fit import load

GRID = ["--method", "grid", "--draws", "500", "--chains", "2", "--jobs", "1"]
AGES = {"Ann": 30, "Bob": 40, "Zoë [x]": 50}
STEPS = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic

distance = ml.MetaFeature("distance", low=0, high=10, unit="m")
reach = ml.Capability("reach", low=0, high=10, unit="m")
done = logistic(reach - distance)
credit = ml.Score("credit", done, precision=2.5, places=4)
layout = ml.Layout("steps", credit, ml.Graded("grade", done))
"""


@pytest.fixture
def people(tmp_path):
    """A table of subjects, one of whom has no outcomes."""
    path = tmp_path / "people.csv"
    ages = {"Eve": 60} | AGES
    pd.DataFrame({"subject": list(ages), "age": list(ages.values())}).to_csv(path, index=False)
    return path


@pytest.fixture
def beside(data, tmp_path):
    """Outcomes with a column of the subjects."""
    path = tmp_path / "beside.csv"
    rows = pd.read_csv(data / "outcomes.csv", dtype=str)
    rows.assign(age=rows["subject"].map(AGES)).to_csv(path, index=False)
    return path


def ages(table):
    """By subject, of a table or of a file of one."""
    if not isinstance(table, pd.DataFrame):
        table = pd.read_csv(table, index_col="subject")
    assert list(table) == ["age"]
    return table["age"].to_dict()


def evaluated(layout, items, *outcomes, people=None):
    """What commands make of their tables."""
    data = Data(items=items, outcomes=list(map(str, outcomes)), subject_table=people)
    return read_evaluation(load_layout(str(layout)), data)


def test_import_writes_what_fit_reads(data, people, beside, tmp_path, capsys):
    for name, options in (
        ("given", [str(data / "outcomes.csv"), "--subject-table", str(people)]),
        ("found", [str(beside)]),
    ):
        out = tmp_path / name
        items = ["--items", str(data / "items.csv")]
        assert main(["import", "table", *options, *items, "--out", str(out)]) == 0
        assert ages(out / "subjects.csv") == AGES
        told = capsys.readouterr().err
        files = f"{data / 'layout.py'}:plain", out / "items.csv", out / "outcomes.csv"
        assert ages(evaluated(*files, people=out / "subjects.csv").subject_table) == AGES
        assert evaluated(*files).subject_table.columns.tolist() == []
    assert "property of the subjects: age differs within an item: 1" in told


def test_a_fit_keeps_them_beside_it(data, tables, people, fitted, tmp_path):
    """The draws are those of a fit without; the folder tells them to the commands that follow."""
    out, layout = tmp_path / "out", f"{data / 'layout.py'}:plain"
    known = ["--subject-table", str(people), "--subjects", "Bob", "Ann"]
    assert main(["fit", layout, *tables, *known, *GRID, "--out", str(out)]) == 0
    assert ages(out / "fitted_subjects.csv") == {"Bob": 40, "Ann": 30}
    fit, before = load(out / "fit.nc"), load(fitted / "fit.nc")
    for subject in ("Ann", "Bob"):
        now, then = (each.posterior["reach"].sel(subject=subject) for each in (fit, before))
        assert (now.to_numpy() == then.to_numpy()).all()
    for table in (people, None):
        evaluation = fitted_evaluation(fit, out, FittedData(subject_table=table))
        assert ages(evaluation.subject_table) == {"Bob": 40, "Ann": 30}
    (out / "fitted_subjects.csv").unlink()
    assert fitted_evaluation(fit, out).subject_table.columns.tolist() == []


def test_layouts_of_steps(data, beside, people, tmp_path):
    """From the table, else from the outcomes; what grades alone tell of has empty cells."""
    layout, grades = tmp_path / "layout.py", tmp_path / "grades.csv"
    layout.write_text(STEPS, encoding="utf-8")
    rows = pd.read_csv(data / "outcomes.csv", dtype=str)
    new = rows[rows["subject"] == "Bob"].assign(subject="Eve")
    pd.concat([rows, new]).to_csv(grades, index=False)
    read = layout, data / "items.csv", f"credit={beside}", f"grade={grades}"
    evaluation = evaluated(*read)
    assert evaluation.subjects == [*AGES, "Eve"]
    assert evaluation.subject_table["age"].fillna(-1).to_dict() == AGES | {"Eve": -1}
    assert ages(evaluated(*read, people=people).subject_table) == AGES | {"Eve": 60}


def test_a_subject_without_a_row_is_named(data, tables, people):
    table = pd.read_csv(people)
    table[table["subject"] != "Bob"].to_csv(people, index=False)
    with pytest.raises(DataError, match=r"1 subject\(s\) that `subjects` does not have: Bob; add"):
        evaluated(f"{data / 'layout.py'}:plain", *map(Path, tables[1::2]), people=people)
