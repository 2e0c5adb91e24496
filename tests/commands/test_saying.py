"""Text that commands print: wrapped at words in a terminal, whole in files and pipes."""

import io
import sys

import pytest

from measurement_layouts.command import main
from measurement_layouts.common.saying import say

WIDTHS = pytest.mark.parametrize("width", [80, 120])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def in_terminal(monkeypatch, width, stream="stdout"):
    """Let a stream be a terminal of some width."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "dumb")  # no colours
    monkeypatch.setattr(sys, stream, terminal)
    return terminal


@WIDTHS
def test_a_description_has_no_broken_words(width, fitted, monkeypatch, capsys):
    assert main(["describe", str(fitted)]) == 0
    whole = capsys.readouterr().out
    terminal = in_terminal(monkeypatch, width)
    assert main(["describe", str(fitted)]) == 0
    shown = terminal.getvalue()
    assert max(map(len, whole.splitlines())) > width
    assert max(map(len, shown.splitlines())) <= width
    assert shown.split() == whole.split()


@WIDTHS
def test_an_error_has_no_broken_words(width, fitted, monkeypatch, capsys):
    wrong = ["explain", str(fitted), "--item", "a name of an item that is not in this fit"]
    assert main(wrong) == 2
    whole = capsys.readouterr().err
    terminal = in_terminal(monkeypatch, width, "stderr")
    assert main(wrong) == 2
    shown = terminal.getvalue()
    assert len(whole.splitlines()) == 1
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
