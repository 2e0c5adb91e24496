"""What commands print in a terminal: text wrapped at words, and tables of whole columns."""

import io
import sys

import pandas as pd
import pytest

from measurement_layouts.command import main
from measurement_layouts.commands.printing import print_figures, print_tables
from measurement_layouts.commands.saying import say
from measurement_layouts.scenarios.figures import Figure

WIDTHS = pytest.mark.parametrize("width", [80, 120])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def in_terminal(monkeypatch, width, stream="stdout"):
    """Let a stream be a terminal of some width."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "50")
    monkeypatch.setenv("TERM", "dumb")  # no colours
    monkeypatch.setattr(sys, stream, terminal)
    return terminal


@WIDTHS
def test_an_error_has_no_broken_words(width, fitted, monkeypatch, capsys):
    nobody = "a rather long name of a subject that is not in this fit, nor in any other one"
    wrong = ["compare", str(fitted), "--subjects", nobody]
    assert main(wrong) == 2
    whole = capsys.readouterr().err
    terminal = in_terminal(monkeypatch, width, "stderr")
    assert main(wrong) == 2
    shown = terminal.getvalue()
    assert len(whole.splitlines()) == 1
    assert max(map(len, whole.splitlines())) > width
    assert max(map(len, shown.splitlines())) <= width
    assert shown.split() == whole.split()


def test_what_continues_a_line_is_indented_as_it_is(monkeypatch):
    terminal = in_terminal(monkeypatch, 20)
    say("a line of words\n  another line of words that is-long")
    assert terminal.getvalue() == "a line of words\n  another line of\n  words that is-long\n"


def test_a_long_name_stays_whole(monkeypatch):
    """So that it can be copied."""
    terminal = in_terminal(monkeypatch, 20)
    say(f"see {'x' * 30} first")
    assert terminal.getvalue() == f"see\n{'x' * 30}\nfirst\n"


LONG = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic

distance = ml.MetaFeature("distance", low=0, high=10)
first = ml.Capability("reach_of_the_arm_that_is_used_most", low=0, high=10)
second = ml.Capability("reach_of_the_arm_that_is_used_rarely", low=0, high=10)
layout = ml.Layout("arms", ml.Success("found", logistic((first + second) / 2 - distance)))
"""


@WIDTHS
def test_a_table_shows_the_elements_that_fit(width, tables, tmp_path, monkeypatch):
    (tmp_path / "layout.py").write_text(LONG, encoding="utf-8")
    out = tmp_path / "out"
    few = ["--subjects", "Ann", "Bob", "--method", "grid", "--draws", "10"]
    terminal = in_terminal(monkeypatch, width)
    command = ["fit", f"{tmp_path / 'layout.py'}:layout", *tables, "--out", str(out), *few]
    assert main(command) == 1
    shown = terminal.getvalue()
    assert max(map(len, shown[: shown.index(str(out))].splitlines())) <= width
    assert "…" not in shown
    assert "reach_of_the_arm_that_is_used_most" in shown
    assert ("reach_of_the_arm_that_is_used_rarely" in shown) == (width == 120)
    assert ("1 of 2 elements do not fit here; profiles.csv has" in shown) == (width == 80)
    told = [line for line in shown.splitlines() if not line.startswith("│")]
    assert "0 of 2 subjects ok, 2 not converged" in told
    assert any(line.startswith("Ann: not converged: ") for line in told)


def test_a_fit_that_is_ok_has_no_footnote(data, tables, tmp_path, capsys):
    plain = f"{data / 'layout.py'}:plain"
    assert main(["fit", plain, *tables, "--out", str(tmp_path), "--method", "grid"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == ["3 of 3 subjects ok", str(tmp_path)]
    assert not any("prior-dominated" in line or "separate modes" in line for line in printed)


def test_a_terminal_shows_the_first_subjects(data, tables, tmp_path, monkeypatch, capsys):
    """And a file all of them."""
    monkeypatch.setattr("measurement_layouts.commands.printing._ROWS", 2)
    command = ["fit", f"{data / 'layout.py'}:plain", *tables, "--method", "grid", "--out"]
    assert main([*command, str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out.count("│ ok ") == 3
    terminal = in_terminal(monkeypatch, 120)
    assert main([*command, str(tmp_path / "b")]) == 0
    assert terminal.getvalue().count("│ ok ") == 2
    assert "the first 2 of 3 subjects are shown; profiles.csv has them all" in terminal.getvalue()


def shown_by(command, width, monkeypatch):
    """What a command shows; nothing of it is wider than the terminal, and no cell is cut."""
    terminal = in_terminal(monkeypatch, width)
    assert main(list(map(str, command))) == 0
    shown = terminal.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    return shown


@WIDTHS
def test_forecasts_are_a_table_in_a_terminal(width, fitted, new, monkeypatch, capsys):
    """And CSV elsewhere. Of 60 rows 50 are shown."""
    shown = shown_by(["forecast", fitted, *new[:2]], width, monkeypatch)
    rows = [line.split("│") for line in shown.splitlines() if line.startswith("│ Ann")]
    assert len(rows) == 20
    found = pd.read_csv(io.StringIO(_csv(["forecast", fitted, *new[:2]], monkeypatch, capsys)))
    means = found.loc[found["subject"] == "Ann", "mean"]
    assert [float(row[3]) for row in rows] == pytest.approx(list(means), abs=0.005 + 1e-12)
    assert "the first 50 of 60 forecasts are shown" in shown


def _csv(command, monkeypatch, capsys):
    monkeypatch.undo()
    capsys.readouterr()
    assert main(list(map(str, command))) == 0
    return capsys.readouterr().out


@WIDTHS
def test_scores_are_shown_beside_success_rates(width, fitted, data, new, monkeypatch):
    shown = shown_by(["score", fitted, *new], width, monkeypatch)
    assert "brier" in shown
    assert ("not shown at this width: " in shown) == (width == 80)
    known, unknown = (pd.read_csv(folder / "outcomes.csv") for folder in (data, data / "new"))
    rates = known.groupby("subject")["outcome"].mean()
    error = (unknown["outcome"] - unknown["subject"].map(rates)) ** 2
    aggregate = error.groupby(unknown["subject"]).mean().mean()
    said = " ".join(shown.split())
    assert f"success rate in the fit is its forecast: {aggregate:.3f}" in said
    printed = float(said.split("mean Brier score: ")[1].split(";")[0])
    assert 0 < printed < aggregate  # the layout is the law that made the outcomes


@WIDTHS
def test_a_comparison_says_who_is_ahead(width, fitted, monkeypatch):
    shown = shown_by(["compare", fitted], width, monkeypatch)
    said = " ".join(shown.split())
    assert "Zoë [x] is ahead of Ann by" in said
    assert "in success, on more like these 40 items." in said


def test_equal_subjects_are_not_decided(data, tmp_path, tables, capsys):
    outcomes = pd.read_csv(data / "outcomes.csv", dtype={"item": str})
    own = outcomes[outcomes["subject"] == "Ann"]
    pd.concat([own, own.assign(subject="Eve")]).to_csv(tmp_path / "two.csv", index=False)
    given = [*tables[:2], "--outcomes", str(tmp_path / "two.csv"), "--out", str(tmp_path / "fit")]
    assert main(["fit", f"{data / 'layout.py'}:plain", *given, "--method", "grid"]) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "fit")]) == 0
    assert "cannot be told apart (the best is one of them" in capsys.readouterr().out


MANY = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic, product

names = [f"a_rather_long_name_of_part_{number}" for number in range(3)]
demand = ml.MetaFeature("demand", low=0, high=10, unit="metre", labels=names)
reach = ml.Capability("reach", low=0, high=10, unit="metre", labels=names)
parts = product(logistic(reach - demand), over="dimension")
layout = ml.Layout("parts", ml.Success("found", parts))
"""


@WIDTHS
def test_a_check_has_whole_columns_and_lines(width, tables, tmp_path, monkeypatch):
    (tmp_path / "layout.py").write_text(MANY, encoding="utf-8")
    items = pd.read_csv(tables[1], dtype={"item": str})
    for number in range(3):
        items[f"demand[a_rather_long_name_of_part_{number}]"] = items["distance"]
    items.to_csv(tmp_path / "items.csv", index=False)
    terminal = in_terminal(monkeypatch, width)
    given = ["--items", str(tmp_path / "items.csv"), *tables[2:]]
    assert main(["check", f"{tmp_path / 'layout.py'}:layout", *given]) == 1
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.startswith("  reach[a_rather_long_name_of_part_")]
    assert len(rows) == {120: 6, 80: 12}[width]  # columns that do not fit are written below
    assert any("informed_by" in line for line in lines)
    problem = next(place for place, line in enumerate(lines) if line.startswith("  1. "))
    follows = lines[problem + 1]
    assert len(lines[problem]) + len(follows.split()[0]) >= width  # no line is broken early


@WIDTHS
def test_tables_and_figures_of_a_study(width, monkeypatch):
    """Whole columns, the names of the others, and a sentence at the end."""
    columns = ["brier", "calibration", "refinement", "auroc", "ece", "log_score", "subjects"]
    rows = ["recommended layout", "aggregate"]
    scores = pd.DataFrame(0.123456, rows, columns)
    terminal = in_terminal(monkeypatch, width)
    print_tables({"scores": scores})
    name = "mean Brier score of the recommended layout minus that of the aggregate, new items"
    print_figures([Figure(name, -0.02, "<=", -0.01), Figure("false alarms", 0.2, "<=", 0.05)])
    shown = terminal.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    assert shown.count("0.123") == 2 * (len(columns) if width == 120 else 5)
    assert ("not shown at this width: log_score, subjects; --json" in shown) == (width == 80)
    assert shown.endswith("figures that meet their goals: 1 of 2; the others: 'false alarms'\n")
    print_figures([Figure("false alarms", 0.02, "<=", 0.05)])
    assert terminal.getvalue().endswith("figures that meet their goals: 1 of 1\n")
