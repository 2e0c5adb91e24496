"""What `--help` and `--version` say, how little they need, and wrong arguments."""

import re
import shlex
import subprocess
import sys
from importlib import metadata

import pytest

from measurement_layouts import scenarios
from measurement_layouts.command import application, main

COMMANDS = ["check", "draw", "fit", "forecast", "score", "compare", "report", "run", "reproduce"]
HEAVY = ("numpy", "pandas", "pymc", "pytensor", "nutpie", "arviz_stats", "xarray", "matplotlib")


def help_of(command, capsys):
    assert main([*command.split(), "--help"]) == 0
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_help_lists_every_command_and_exit_status(capsys):
    text = help_of("", capsys)
    assert [name for name in [*COMMANDS, "import"] if f" {name} " not in text] == []
    assert [status for status in (0, 1, 2, 130, 141) if f"• {status}: " not in text] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_can_be_typed(command, capsys):
    _, example = help_of(command, capsys).split("Example: measurement-layouts ")
    function, *_ = application().parse_args(shlex.split(example), exit_on_error=False)
    assert function.__name__ == command


def test_every_option_is_explained():
    text = application().generate_docs()
    assert text.count("\n* `--") > 70
    assert re.findall(r"^\* `([^`]+)`:? *(?:\*\*?\[.*)?$", text, re.MULTILINE) == []


def test_help_names_scenarios_and_says_that_files_are_executed(capsys):
    for command in ("run", "reproduce"):
        assert ", ".join(scenarios.NAMES) in help_of(command, capsys)
    for command in ("fit", "check", "draw", "report"):
        assert "is executed" in help_of(command, capsys)


def test_version(capsys):
    assert main(["--version"]) == 0
    version = metadata.version("measurement-layouts")
    assert capsys.readouterr().out == f"measurement-layouts {version}\n"


@pytest.mark.parametrize("command", ["", "fit", "run", "import inspect"])
def test_help_imports_nothing_heavy(command):
    code = f"""
import sys
from measurement_layouts.command import main
main({[*command.split(), "--help"]!r})
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("chess", "'chess'"),
        ("run", "SCENARIO"),
        ("run chess", f"'chess' is none of {', '.join(scenarios.NAMES)}"),
        ("run adele --seed -1", "at least 0"),
        ("run adele --seed one", "'one'"),
        ("fit layout.py --outcomes a.csv", "--out requires"),
        ("fit layout.py --outcomes a.csv --out b --drawz 3", "Did you mean --draws"),
        ("fit layout.py --outcomes a.csv --out b --method x", "'nuts', 'grid'"),
        ("import inspect a.eval --out b --value P", "'P'; write SCORE=NUMBER"),
        ("import inspect a.eval --out b --value P=one", "'P=one'; write SCORE=NUMBER"),
        ("import inspect a.eval --out b --scorer x y", "write TASK=NAME for each"),
        ("compare", "give either a FIT, or"),
        ("compare a --outcomes b", "give either a FIT, or"),
        ("compare a b --by reach", "for subjects of a single fit"),
    ],
)
def test_wrong_arguments_are_one_line(typed, message, capsys):
    assert main(typed.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err.replace('"', "'")
    assert printed.err.startswith("measurement-layouts: ")
    assert printed.err.count("\n") == 1
