"""A layout with a population through the commands: check, fit, forecast and report."""

import pandas as pd
import pytest
from helpers import shared_layouts

from measurement_layouts.command import main

LAYOUT = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic

tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
mean = ml.Bias("mean", per="population") + ml.Bias("gain", per="population") * tests
ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=ml.Spread("spread")))
ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread")))
layout = ml.Layout("shared", ml.Success("solved", logistic(ability + ease)))
"""
FEW = ["--draws", "100", "--tune", "200", "--chains", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of twelve subjects and six items, and the layout."""
    path = tmp_path_factory.mktemp("population")
    (path / "layout.py").write_text(LAYOUT, encoding="utf-8")
    evaluation = shared_layouts.simulated(shared_layouts.explanatory(), 12, 6)[0]
    items = evaluation.items.assign(task=list("aabbcc"))
    items.to_csv(path / "items.csv", index_label="item")
    evaluation.successes.to_csv(path / "outcomes.csv", index_label="subject")
    people = evaluation.subject_table.assign(school=["east", "west"] * 6)
    people.to_csv(path / "people.csv", index_label="subject")
    new = shared_layouts.subjects(2).set_axis(["Eve", "Sam"])
    new.to_csv(path / "new.csv", index_label="subject")
    return path


@pytest.fixture(scope="module")
def tables(folder):
    """The options that name them."""
    named = {"--items": "items", "--outcomes": "outcomes", "--subject-table": "people"}
    return [
        part for option, name in named.items() for part in (option, str(folder / f"{name}.csv"))
    ]


@pytest.fixture(scope="module")
def fitted(folder, tables):
    """The folder that the command writes."""
    out = folder / "fitted"
    status = main(["fit", f"{folder / 'layout.py'}:layout", *tables, *FEW, "--out", str(out)])
    assert status in (0, 1)
    return out


def test_check_tells_what_effects_rest_on(folder, tables, capsys):
    assert main(["check", f"{folder / 'layout.py'}:layout", *tables]) in (0, 1)
    assert "least_trials" in capsys.readouterr().out


def test_fit_writes_shared_values_and_leaves_no_store(fitted):
    assert set(pd.read_csv(fitted / "population.csv")["node"]) == {
        "mean",
        "gain",
        "spread",
        "easeSpread",
    }
    assert pd.read_csv(fitted / "item_effects.csv")["item"].tolist() == [
        f"item {number}" for number in range(6)
    ]
    assert not (fitted / "store").exists()


def test_new_subjects_are_forecast(folder, fitted, data, capsys):
    asked = ["forecast", str(fitted), "--items", str(folder / "items.csv")]
    assert main([*asked, "--subject-table", str(folder / "new.csv")]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("Eve,") == shown.out.count("Sam,") == 6
    assert "new subjects" in shown.err
    both = ["--subjects", "subject 1", "--subject-table", str(folder / "new.csv")]
    assert main([*asked, *both]) == 2
    assert "give either --subjects or --subject-table" in capsys.readouterr().err


def test_a_report_has_what_is_shared(fitted, folder):
    page = folder / "page.html"
    assert main(["report", str(fitted), "--out", str(page)]) == 0
    assert "What is shared" in page.read_text(encoding="utf-8")


def test_groups_and_testlets_that_are_named(fitted, folder, tables, capsys):
    page = folder / "groups.md"
    asked = ["report", str(fitted), "--out", str(page), *tables]
    assert main([*asked, "--by", "shool"]) == 2
    assert "by: the subjects have no column shool" in capsys.readouterr().err
    assert main([*asked, "--by", "school", "--testlets", "task"]) == 0
    assert page.is_file()
