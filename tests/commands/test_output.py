"""What the command does when its output is closed, cannot hold a letter, or Ctrl-C is typed."""

import io
import sys

import pytest

from measurement_layouts.command import main


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("command", ["compare", "forecast"])
def test_a_closed_pipe(command, fitted, new, monkeypatch, capsys):
    """Printed by rich and by `print`."""
    items = new[:2] if command == "forecast" else []
    monkeypatch.setattr(sys, "stdout", Closed())
    assert main([command, str(fitted), *items]) == 141
    assert "Traceback" not in capsys.readouterr().err


def test_no_output_at_all(fitted, monkeypatch, capsys):
    """As a shell leaves it: ``>&-``."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["compare", str(fitted)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["compare", "forecast"])
def test_letters_that_the_terminal_has_not(command, fitted, new, monkeypatch):
    items = new[:2] if command == "forecast" else []
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main([command, str(fitted), *items]) == 0
    assert rb"Zo\xeb [x]" in written.getvalue()


def test_ctrl_c(fitted, monkeypatch, capsys):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("measurement_layouts.validation.comparing.compare.compare", stop)
    assert main(["compare", str(fitted)]) == 130
    assert capsys.readouterr().err == "measurement-layouts: stopped\n"


def test_other_errors_are_not_hidden(fitted, monkeypatch):
    """A mistake of ours has a traceback."""

    def fail(*arguments, **options):
        raise ValueError("ours")

    monkeypatch.setattr("measurement_layouts.validation.comparing.compare.compare", fail)
    with pytest.raises(ValueError, match="ours"):
        main(["compare", str(fitted)])
