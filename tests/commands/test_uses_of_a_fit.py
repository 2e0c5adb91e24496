"""Commands that use a fit (`forecast`, `score`, `compare` and `report`), and `check`."""

import io
import json

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main


def test_check_finds_problems(data, tables, tmp_path, capsys):
    """A meta-feature that never varies tells nothing of the capability; status 1."""
    assert main(["check", f"{data / 'layout.py'}:plain", *tables]) == 0
    assert "No problems found" in capsys.readouterr().out
    items = tmp_path / "items.csv"
    pd.read_csv(data / "items.csv", dtype=str).assign(distance=5).to_csv(items, index=False)
    read = ["--items", str(items), *tables[2:]]
    assert main(["check", f"{data / 'layout.py'}:noisy", *read]) == 1
    assert "distance" in capsys.readouterr().out


def test_forecasts_are_those_of_the_library(fitted, new, data, tmp_path, capsys):
    asked = ["forecast", str(fitted), *new[:2], "--subjects", "Bob"]
    assert main(asked) == 0
    printed = capsys.readouterr()
    items = pd.read_csv(data / "new" / "items.csv").set_index("item")
    expected = ml.load(fitted / "fit.nc").forecast(items, subjects=["Bob"]).to_frame()
    out = tmp_path / "forecasts.csv"
    assert main([*asked, "--out", str(out)]) == 0
    for source in (io.StringIO(printed.out), out):
        table = pd.read_csv(source, keep_default_na=False)
        pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert "1 subject, 20 items, 0 of them outside a declared range" in printed.err
    assert capsys.readouterr().out == ""
    assert main([*asked, "--out", str(out)]) == 2
    assert "exists already; give another --out" in capsys.readouterr().err
    assert main([*asked, "--out", str(out), "--overwrite"]) == 0


def test_scores_beside_success_rates(fitted, data, new, capsys):
    assert main(["score", str(fitted), *new, "--json"]) == 0
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content["layout"] == "reaching"
    scores = pd.DataFrame(content["scores"]).set_index("subject")
    assert main(["score", str(fitted), *new]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    known, unknown = (pd.read_csv(folder / "outcomes.csv") for folder in (data, data / "new"))
    rates = known.groupby("subject")["outcome"].mean()
    error = (unknown["outcome"] - unknown["subject"].map(rates)) ** 2
    aggregate = error.groupby(unknown["subject"]).mean().mean()
    assert f"success rate in the fit is its forecast: {aggregate:.3f}" in shown
    assert f"mean Brier score: {scores['brier'].mean():.3f};" in shown
    assert 0 < scores["brier"].mean() < aggregate  # the layout is the law that made the outcomes


def test_score_refuses_what_was_trained_on(fitted, tables, capsys):
    assert main(["score", str(fitted), *tables]) == 2
    assert "120 outcome(s) to be scored were trained on" in capsys.readouterr().err
    assert main(["score", str(fitted), *tables, "--training-items"]) == 0


def test_compare_subjects(fitted, tables, capsys):
    assert main(["compare", str(fitted), "--by", "reach", "--subjects", "Ann", "Bob"]) == 0
    assert "Bob is ahead of Ann by" in capsys.readouterr().out
    assert main(["compare", *tables]) == 0
    assert "in outcomes, on the" in capsys.readouterr().out
    assert main(["compare", str(fitted), "--cluster", "colour"]) == 0
    clustered = ml.compare(
        ml.load(fitted / "fit.nc"),
        cluster=pd.read_csv(fitted / "fitted_items.csv", dtype=str).set_index("item")["colour"],
    )
    assert str(clustered) in capsys.readouterr().out


def test_compare_layouts(fitted, fit_file, capsys):
    """The same fit twice: of equal rank but for the order, named by where they lie."""
    assert main(["compare", str(fitted), fit_file, "--subjects", "Ann"]) == 0
    printed = capsys.readouterr().out
    assert "elpd_diff" in printed
    assert "more than 2 dse, and 4, from 0" in printed


def test_a_report_on_one_page(fitted, new, tmp_path, capsys):
    out = tmp_path / "deep" / "report.html"
    command = ["report", str(fitted), "--out", str(out), "--title", "Reach & co"]
    assert main([*command, "--forecast", new[1]]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    text = out.read_text(encoding="utf-8")
    for word in ("Reach &amp; co", "Zoë [x]", "colour", "new-000"):
        assert word in text
    assert main(command) == 2
    assert f"{out} exists already" in capsys.readouterr().err


def test_a_report_from_a_file_alone(fit_file, tmp_path):
    out = tmp_path / "report.md"
    out.write_text("old")
    assert main(["report", fit_file, "--out", str(out), "--overwrite"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "Zoë" in text
    assert "colour" not in text


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("compare nothing", "there is no file or store"),
        ("compare .", "has no fit; give a folder of"),
        ("compare {fit} --subjects Eve", "not in this fit:"),
        ("compare {fit}/fit.nc --cluster colour", "fitted_items.csv"),
        ("report {fit} --out report.doc", "end it in .html or .md"),
        ("report {fit}/fit.nc --out report.md --by age", "give the items with all"),
        ("forecast {fit} --items a --subjects b --subject-table c", "give either --subjects or"),
    ],
)
def test_what_cannot_be_used(typed, message, fitted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(typed.format(fit=fitted).split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


OWN = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic


@ml.linking.linking_function(range=(0, 1))
def halved(chance):
    return chance / 2


distance = ml.MetaFeature("distance", low=0, high=10, unit="m")
reach = ml.Capability("reach", low=0, high=10, unit="m")
layout = ml.Layout("halved", ml.Success("found", halved(logistic(reach - distance))))
"""


def test_linking_functions_of_ones_own(tables, tmp_path, capsys):
    path, out = tmp_path / "own.py", tmp_path / "out"
    path.write_text(OWN, encoding="utf-8")
    few = ["--method", "grid", "--draws", "100", "--chains", "4", "--subjects", "Ann", "Bob"]
    assert main(["fit", str(path), *tables, "--out", str(out), *few]) == 0
    assert main(["compare", str(out)]) == 2
    assert "--layout LAYOUT.py:name" in capsys.readouterr().err
    assert main(["compare", str(out), "--layout", str(path)]) == 0
