"""Commands label what they do at once, on standard error; standard output stays as it is."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from measurement_layouts.command import main
from measurement_layouts.common import progress

LABELS = {
    "check": "checking the layout",
    "fit": "reading the layout and the tables",
    "forecast": "forecasting the items",
    "score": "scoring the forecasts",
    "compare": "comparing the subjects",
    "report": "writing the report",
}


@pytest.fixture
def typed(data, fitted, tables, new, tmp_path):
    """What follows each command."""
    layout = f"{data / 'layout.py'}:plain"
    return {
        "check": [layout, *tables],
        "fit": [layout, *tables, "--method", "grid", "--draws", "50", "--out", tmp_path / "fit"],
        "forecast": [fitted, *new[:2]],
        "score": [fitted, *new, "--json"],
        "compare": [fitted],
        "report": [fitted, "--out", tmp_path / "page.md"],
    }


@pytest.mark.parametrize("command", LABELS)
def test_a_terminal_shows_what_goes_on(command, typed, monkeypatch, capsys):
    arguments = [command, *map(str, typed[command])]
    status = main(arguments)
    silent = capsys.readouterr().out
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(progress, "_console", lambda: terminal)
    assert main([*arguments, *["--overwrite"] * (command in ("fit", "report"))]) == status
    assert LABELS[command] in terminal.file.getvalue()
    assert capsys.readouterr().out == silent != ""


def test_it_is_shown_before_what_takes_time_is_imported(typed):
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
