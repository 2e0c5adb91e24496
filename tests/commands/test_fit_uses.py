"""Commands that use a fit: `forecast`, `score` and `compare`."""

import io
import json

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main


def test_forecast_prints_csv(fitted, new, data, capsys):
    assert main(["forecast", str(fitted), *new[:2], "--subjects", "Bob"]) == 0
    printed = capsys.readouterr()
    table = pd.read_csv(io.StringIO(printed.out), keep_default_na=False)
    items = pd.read_csv(data / "new" / "items.csv").set_index("item")
    expected = ml.load(fitted / "fit.nc").forecast(items, subjects=["Bob"]).to_frame()
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert printed.err == "forecast: 1 subject, 20 items, 0 of them outside a declared range, " + (
        "90% intervals\n"
    )


def test_what_lies_outside_training_items_is_printed(fitted, data, tmp_path, capsys):
    """Inside the declared range of 10 m, 0.125 m beyond the farthest item that was fitted."""
    far = pd.read_csv(data / "items.csv")["distance"].max()
    assert far < 9.875
    (tmp_path / "items.csv").write_text(f"item,distance\nnear,{far - 1}\nfar,{far + 0.125}\n")
    (tmp_path / "outcomes.csv").write_text("subject,item,outcome\nAnn,near,1\nAnn,far,0\n")
    files = [f"--{name}={tmp_path / name}.csv" for name in ("items", "outcomes")]
    assert main(["forecast", str(fitted), files[0], "--subjects", "Ann"]) == 0
    printed = capsys.readouterr()
    near, told = pd.read_csv(io.StringIO(printed.out), keep_default_na=False).to_dict("records")
    assert (near["outside_training"], near["remark"]) == (False, "")
    assert (told["extrapolated"], told["outside_training"]) == (False, True)
    assert "is 0.125 above the training items (" in told["remark"]
    assert "1 outside a subject's training items" in printed.err
    assert main(["score", str(fitted), *files, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["scores"]
    assert row["outside_training"] == 1
    assert main(["score", str(fitted), *files]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "outside the training items: 1 of 2 items (distance)" in shown


def test_forecast_into_a_file(fit_file, new, tmp_path, capsys):
    command = ["forecast", fit_file, *new[:2], "--out", str(tmp_path / "forecasts.csv")]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "forecasts.csv has a row for each subject and item: 3 subjects, 20 items" in printed.err
    assert len(pd.read_csv(tmp_path / "forecasts.csv")) == 60
    assert main(command) == 2
    assert "exists already; move it away, or give another --out" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0


def test_score(fitted, new, capsys):
    assert main(["score", str(fitted), *new]) == 0
    out = capsys.readouterr().out
    for word in ("brier", "auroc", "Zoë [x]"):
        assert word in out


def test_score_as_json(fitted, new, capsys):
    assert main(["score", str(fitted), *new, "--json", "--subjects", "Ann"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["layout"] == "reaching"
    (row,) = found["scores"]
    assert row["subject"] == "Ann"
    assert row["trials"] == 20
    assert 0 < row["brier"] < 0.25


def test_score_refuses_what_was_trained_on(fitted, tables, capsys):
    assert main(["score", str(fitted), *tables]) == 2
    assert "120 outcome(s) to be scored were trained on" in capsys.readouterr().err
    assert main(["score", str(fitted), *tables, "--training-items"]) == 0


def test_compare_subjects(fitted, tables, capsys):
    assert main(["compare", str(fitted), "--by", "reach", "--subjects", "Ann", "Bob"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Bob is ahead of Ann by" in out
    assert "in reach." in out
    assert main(["compare", *tables]) == 0
    assert "in outcomes, on the" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", str(fitted), *tables]) == 2
    assert "--outcomes is for a comparison without a fit" in capsys.readouterr().err
    assert main(["compare"]) == 2
    assert "nothing to compare was given" in capsys.readouterr().err


def test_compare_layouts(fitted, fit_file, capsys):
    """The same fit twice: of equal rank but for the order, named by where they lie."""
    assert main(["compare", str(fitted), fit_file, "--subjects", "Ann"]) == 0
    out = capsys.readouterr().out
    assert "elpd_diff" in out
    assert main(["compare", str(fitted), fit_file, "--by", "reach"]) == 2
    assert "--by and --cluster are for the subjects of a single fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("what", "message"),
    [("nothing", "there is no file or store"), (".", "has no fit, neither fit.nc nor a store")],
)
def test_there_is_no_fit(what, message, tmp_path, capsys):
    assert main(["compare", str(tmp_path / what)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_an_unknown_subject(fitted, capsys):
    assert main(["compare", str(fitted), "--subjects", "Eve"]) == 2
    assert "not in this fit: Eve; it has Ann, Bob, Zoë [x]" in capsys.readouterr().err


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


@pytest.mark.slow
def test_linking_functions_of_ones_own(tables, tmp_path, capsys):
    path, out = tmp_path / "own.py", tmp_path / "out"
    path.write_text(OWN, encoding="utf-8")
    few = ["--method", "grid", "--draws", "100", "--chains", "4", "--subjects", "Ann", "Bob"]
    assert main(["fit", str(path), *tables, "--out", str(out), *few]) == 0
    assert main(["compare", str(out)]) == 2
    assert "here: --layout LAYOUT.py:name" in capsys.readouterr().err
    assert main(["compare", str(out), "--layout", str(path)]) == 0
