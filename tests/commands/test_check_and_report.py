"""`measurement-layouts check` and `report`."""

import pandas as pd

from measurement_layouts.command import main


def test_a_layout_that_fits_the_data(data, tables, capsys):
    assert main(["check", f"{data / 'layout.py'}:plain", *tables]) == 0
    out = capsys.readouterr().out
    assert "reach" in out
    assert "No problems found" in out


def test_problems_are_printed(data, tables, tmp_path, capsys):
    """A meta-feature that never varies tells nothing of the capability; status 1."""
    items = tmp_path / "items.csv"
    table = pd.read_csv(data / "items.csv", dtype=str).assign(distance=5)
    table.to_csv(items, index=False)
    read = ["--items", str(items), *tables[2:]]
    assert main(["check", f"{data / 'layout.py'}:noisy", *read]) == 1
    assert "distance" in capsys.readouterr().out


def test_a_report_on_one_page(fitted, new, tmp_path, capsys):
    out = tmp_path / "deep" / "report.html"
    command = ["report", str(fitted), "--out", str(out), "--title", "Reach & co"]
    assert main([*command, "--forecast", new[1]]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out}\n"
    assert printed.err == "The report is one file with all its pictures; open it in a browser.\n"
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


def test_an_ending_that_is_none(fitted, tmp_path, capsys):
    assert main(["report", str(fitted), "--out", str(tmp_path / "report.doc")]) == 2
    assert "end it in .html or .md" in capsys.readouterr().err
