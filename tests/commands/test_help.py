"""What `--help` and `--version` say, and how little they need for it."""

import shlex
import subprocess
import sys
from importlib import metadata

import pytest

from measurement_layouts.command import main, parser

COMMANDS = {
    **{name: (0, 2, 130) for name in ("forecast", "score", "describe", "compare", "report")},
    "explain": (0, 2, 130),
    **{name: (0, 2, 130) for name in ("scenarios", "draw", "run", "design", "record")},
    **{
        name: (0, 1, 2, 130)
        for name in ("fit", "check", "sbc", "criticise", "reproduce", "validate", "next")
    },
    **{
        f"import{kind}": (0, 2, 130)
        for kind in ("", " inspect", " lm-eval", " openai-evals", " table")
    },
}
HEAVY = ("pymc", "pytensor", "nutpie", "arviz", "pandas", "xarray", "matplotlib", "sklearn", "rich")


def help_of(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_help_lists_every_command(capsys):
    out = help_of("", capsys)
    for command in COMMANDS:
        assert f"\n    {command.split()[0]} " in out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_can_be_typed(command, capsys):
    _, example = help_of(command, capsys).split("\nexample:\n  ")
    program, *arguments = shlex.split(example.splitlines()[0])
    assert program == "measurement-layouts"
    assert arguments[: len(command.split())] == command.split()
    assert callable(parser().parse_args(arguments).run)


@pytest.mark.parametrize(("command", "statuses"), COMMANDS.items())
def test_exit_statuses_are_explained(command, statuses, capsys):
    _, told = help_of(command, capsys).split("\nexit status:\n")
    assert [int(line.split()[0]) for line in told.splitlines() if line[2] != " "] == list(statuses)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_no_broken_words(command, width, capsys, monkeypatch):
    """Except in examples, which can be copied, and in options that are longer than a line."""
    monkeypatch.setenv("COLUMNS", str(width))
    lines = help_of(command, capsys).splitlines()
    long = [line for line in lines if len(line) > width]
    assert all(line.startswith(("  measurement-layouts", " " * 20)) for line in long)


@pytest.mark.parametrize("command", ["fit", "check", "design", "sbc", "draw", "describe"])
def test_help_says_that_the_file_is_executed(command, capsys):
    assert "is executed" in " ".join(help_of(command, capsys).split())


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    version = metadata.version("measurement-layouts")
    assert capsys.readouterr().out == f"measurement-layouts {version}\n"


def loaded_by(*arguments):
    """Which heavy packages a fresh process has loaded after the command."""
    code = f"""
import sys
from measurement_layouts.command import main
try:
    main({list(arguments)!r})
except SystemExit:
    pass
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1].split()


def test_help_needs_neither_sampler_nor_tables():
    assert loaded_by("fit", "--help") == []
