"""What commands print: whole columns, wrapped texts, advice as options, closed streams."""

import io
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.command import application, main
from measurement_layouts.commands.printing import in_options, print_figures, print_table, say
from measurement_layouts.inference.sampling.convergence import Convergence, faults
from measurement_layouts.scenarios.figures import Figure


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


@pytest.mark.parametrize(("width", "left_out"), [(46, "b"), (78, "b"), (79, ""), (200, "")])
def test_columns_are_whole_or_left_out(width, left_out, monkeypatch):
    """Subject 20, a 10, b 30, status 6, three between two cells and one more: 79."""
    row = {"subject": "s" * 60, "a": "1.0 ± 0.1*", "b": "n" * 30, "status": "ok"}
    terminal = in_terminal(monkeypatch, width)
    print_table(pd.DataFrame([row]), "title", needed=("status",), more="; more")
    text = terminal.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert ("n" * 30 in text) == (not left_out)
    assert ("not shown at this width: b; more" in text) == bool(left_out)
    assert "1.0 ± 0.1*" in text
    assert text.count("s") >= 60
    assert "…" not in text


def test_numbers_have_three_digits(capsys):
    columns = {"mean": 14.31234, "low": 9.13, "high": 22.51, "elpd": -109.08123}
    table = pd.DataFrame([{"name": "x", **columns, "auroc": np.nan, "tied": True, "trials": 20}])
    print_table(table, "title")
    row = capsys.readouterr().out.splitlines()[4]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells == ["x", "14.3", "9.13", "22.5", "−109", "–", "yes", "20"]


def test_a_terminal_shows_the_first_rows_and_a_file_all(monkeypatch, capsys):
    table = pd.DataFrame({"item": [f"item {number}" for number in range(60)]})
    print_table(table, "title")
    assert capsys.readouterr().out.count("item ") == 61
    terminal = in_terminal(monkeypatch, 80)
    print_table(table, "title", more="; all.csv has all")
    assert terminal.getvalue().count("│ item ") == 50
    assert "the first 50 of 60 rows are shown; all.csv has all" in terminal.getvalue()


def test_figures_that_fall_short_are_named(capsys):
    """Brackets and colons in names are no markup; no number is not reached."""
    name = "addition[as] of [bold]Ann[/bold] :smile:"
    print_figures([Figure(name, float("nan"), ">", 0.0), Figure("alarms", 0.02, "<=", 0.05)])
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if "Ann" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [name, "–", "–", "above 0", "no"]
    assert out.endswith(f"figures that meet their goals: 1 of 2; the others: '{name}'\n")


@pytest.mark.parametrize("width", [80, 120])
def test_an_error_has_no_broken_words(width, fitted, monkeypatch, capsys):
    nobody = f"a rather long name of a subject that is not in this fit {'x' * 90}"
    wrong = ["compare", str(fitted), "--subjects", nobody]
    assert main(wrong) == 2
    whole = capsys.readouterr().err
    terminal = in_terminal(monkeypatch, width, "stderr")
    assert main(wrong) == 2
    shown = terminal.getvalue()
    assert len(whole.splitlines()) == 1 < len(shown.splitlines())
    assert max(len(line) for line in shown.splitlines() if "x" * 90 not in line) <= width
    assert shown.split() == whole.split()


@pytest.mark.parametrize("command", ["fit", "forecast", "score", "compare"])
@pytest.mark.parametrize("width", [80, 120])
def test_results_fit_the_terminal(command, width, data, fitted, new, tables, tmp_path, monkeypatch):
    typed = {
        "fit": [f"{data / 'layout.py'}:plain", *tables, "--method", "grid", "--out", tmp_path],
        "forecast": [fitted, *new[:2]],
        "score": [fitted, *new],
        "compare": [fitted],
    }
    terminal = in_terminal(monkeypatch, width)
    assert main([command, *map(str, typed[command])]) == 0
    lines = [line for line in terminal.getvalue().splitlines() if line != str(tmp_path)]
    assert max(map(len, lines)) <= width
    assert sum("Zoë [x]" in line for line in lines) >= (command != "forecast")
    assert "…" not in terminal.getvalue()


@pytest.mark.parametrize(
    "fault",
    [
        Convergence(divergences=0, rhat=1.004, ess=150, draws=300),
        Convergence(divergences=0, rhat=1.7, ess=20, draws=300, tune=300),
        Convergence(divergences=1, rhat=1.0, ess=900),
    ],
)
def test_commands_take_what_is_advised(fault):
    """Nothing of the advice is Python, and each option is read with its number."""
    advised = " ".join(in_options(text) for text in faults(fault, chains=2))
    assert "=" not in advised
    words = advised.replace(",", "").split()
    options = [
        word
        for at, word in enumerate(words)
        if word.startswith("--") and words[at + 1][0].isdigit()
        for word in words[at : at + 2]
    ]
    assert options
    typed = shlex.split("fit layout.py --outcomes a.csv --out b") + options
    assert application().parse_args(typed, exit_on_error=False, print_error=False)


def test_other_words_are_not_changed(capsys):
    plain = "ask for 3 draws, tune it, chains=many; draws of names such as my_draws=3 stay"
    say(plain)
    assert capsys.readouterr().out == f"{plain}\n"


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("command", ["compare", "forecast"])
def test_streams_that_take_little(command, fitted, new, monkeypatch, capsys):
    """A closed pipe, no standard output at all, and one that has only ASCII."""
    typed = [command, str(fitted), *(new[:2] if command == "forecast" else [])]
    written = io.BytesIO()
    ascii_only = io.TextIOWrapper(written, encoding="ascii")
    for stream, status in ((Closed(), 141), (None, 0), (ascii_only, 0)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(typed) == status
        assert "Traceback" not in capsys.readouterr().err
    assert rb"Zo\xeb [x]" in written.getvalue()


def test_ctrl_c_and_mistakes_of_ours(fitted, monkeypatch, capsys):
    def fail(error):
        def compare(*arguments, **options):
            raise error

        monkeypatch.setattr("measurement_layouts.validation.comparing.compare.compare", compare)

    fail(KeyboardInterrupt)
    assert main(["compare", str(fitted)]) == 130
    assert capsys.readouterr().err == "measurement-layouts: stopped\n"
    fail(ValueError("ours"))
    with pytest.raises(ValueError, match="ours"):
        main(["compare", str(fitted)])


def test_labels_are_shown_before_what_takes_time_is_imported(data, fitted, tables, new, tmp_path):
    layout = f"{data / 'layout.py'}:plain"
    typed = {
        "check": [layout, *tables],
        "fit": [layout, *tables, "--out", tmp_path / "fit"],
        "forecast": [fitted, *new[:2]],
        "score": [fitted, *new, "--json"],
        "compare": [fitted],
        "report": [fitted, "--out", tmp_path / "page.md"],
    }
    code = f"""
import sys
from measurement_layouts.command import main
from measurement_layouts.common import progress

def shown():
    sys.exit(" ".join({{"pandas", "scipy", "xarray", "pymc"}} & set(sys.modules)) or 7)

progress._console = shown
for arguments in {[[command, *map(str, rest)] for command, rest in typed.items()]!r}:
    try:
        print(arguments[0], main(arguments))
    except SystemExit as stopped:
        print(arguments[0], stopped.code)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == [f"{command} 7" for command in typed], run.stderr
