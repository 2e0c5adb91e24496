"""Layouts whose outcomes are several, graded or scores, from the command line."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.command import main

LAYOUT = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic

size = ml.MetaFeature("size", low=0, high=10)
skill = ml.Capability("skill", low=0, high=10)
done = logistic(skill - size)
layout = ml.Layout(
    "several", ml.Success("solved", done), ml.Graded("grade", done, grades=("no", "partly", "yes"))
)
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A folder with a layout of two outcomes and a file for each."""
    folder = tmp_path_factory.mktemp("several")
    rng = np.random.default_rng(1)
    names = [f"{place:02}" for place in range(30)]
    size = rng.uniform(0, 10, 30)
    passed = rng.random(30) < 1 / (1 + np.exp(size - 5))
    grades = np.where(passed, "yes", np.where(rng.random(30) < 0.5, "partly", "0"))
    rows = {"subject": "Ann", "item": names}
    pd.DataFrame({"item": names, "size": size}).to_csv(folder / "items.csv", index=False)
    pd.DataFrame({**rows, "outcome": passed * 1}).to_csv(folder / "solved.csv", index=False)
    pd.DataFrame({**rows, "outcome": grades}).to_csv(folder / "grades.csv", index=False)
    (folder / "layout.py").write_text(LAYOUT, encoding="utf-8")
    return folder


def test_a_file_for_each_outcome(several, tmp_path, capsys):
    layout, items, solved = (several / name for name in ("layout.py", "items.csv", "solved.csv"))
    read = ["--items", str(items), "--outcomes", f"solved={solved}"]
    grid = ["--method", "grid", "--draws", "200", "--chains", "4", "--out", str(tmp_path / "out")]
    assert main(["fit", str(layout), *read, *grid]) == 2
    wanted = "layout 'several' takes --outcomes solved=FILE grade=FILE; give one file for each"
    assert wanted in capsys.readouterr().err
    read += [f"grade={several / 'grades.csv'}"]
    assert main(["fit", str(layout), *read, *grid]) == 0
    assert "skill" in capsys.readouterr().out
    training = ["score", str(tmp_path / "out"), *read, "--training-items", "--json"]
    assert main(training) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["subject"] == "Ann"
    assert main(["check", str(layout), *read]) == 0
    printed = capsys.readouterr().out
    assert "60 to 60 trials each" in printed
    new = tmp_path / "new.csv"
    pd.DataFrame({"item": ["far"], "size": [9.0]}).to_csv(new, index=False)
    page = tmp_path / "report.html"
    told = ["report", str(tmp_path / "out"), "--out", str(page), "--forecast", str(new)]
    assert main(told) == 0
    text = page.read_text(encoding="utf-8")
    for part in ("<dt>Attempts</dt><dd>60</dd>", "mean grade, from no (0) to yes (1)", ">far</th>"):
        assert part in text
    assert main([*told, "--overwrite", *read]) == 0


def test_columns_may_have_other_names(several, tmp_path, capsys):
    """Of successes and of grades; without the names, the message says how to type them."""
    names = {"subject": "model", "item": "task id", "outcome": "result"}
    for name in ("solved", "grades"):
        table = pd.read_csv(several / f"{name}.csv", dtype=str).rename(columns=names)
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [f"solved={tmp_path / 'solved.csv'}", f"grade={tmp_path / 'grades.csv'}"]
    items = tmp_path / "items.csv"
    pd.read_csv(several / "items.csv", dtype=str).to_csv(items, index=False)
    read = ["check", str(several / "layout.py"), "--items", str(items), "--outcomes", *files]
    assert main(read) == 2
    typed = "--subject model --item 'task id' --outcome result"
    assert "--subject model" in capsys.readouterr().err
    assert main([*read, *shlex.split(typed)]) == 0
    assert "60 to 60 trials each" in capsys.readouterr().out
