"""The bar over subjects: how many, how long, how many not converged; and silence in logs."""

import io

import pytest
from rich.console import Console
from rich.status import Status

from measurement_layouts.common import progress
from measurement_layouts.common.progress import track, waiting


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that keeps what was on it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr(progress, "_console", lambda: console)
    return console


class Display:
    """What a notebook does with an output that is updated."""

    def __init__(self):
        self.pictures = []

    def __call__(self, picture, display_id):
        assert display_id
        self.update(picture)
        return self

    def update(self, picture):
        self.pictures.append(picture._repr_mimebundle_((), ())["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    display = Display()
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(progress, "_console", lambda: Console(force_jupyter=True))
    monkeypatch.setattr(progress, "_PAUSE", -1)
    return display


def test_a_terminal_shows_it_on_standard_error(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert list(track("abc", total=3, show=True, what="letters")) == ["a", "b", "c"]
    out, shown = capfd.readouterr()
    assert out == ""
    assert "letters" in shown
    assert "3/3" in shown
    assert "time left" in shown
    list(track("abc", total=3, show=False))
    assert capfd.readouterr() == ("", "")


def test_not_converged_ones_are_counted(terminal):
    seen = []
    for _ in track("abcab", total=5, show=True, not_converged=lambda letter: letter == "a"):
        seen.append(terminal.file.getvalue())
    shown = terminal.file.getvalue()
    assert "2 not converged" in shown.splitlines()[-2]  # the last line gives the cursor back
    assert "not converged" not in seen[0]


def test_a_resumed_bar_starts_where_it_stopped(terminal):
    work = track("de", total=5, show=True, before=3)
    next(work)
    work.close()
    assert "3/5" in terminal.file.getvalue()
    list(track("de", total=5, show=True, before=3))
    assert "5/5" in terminal.file.getvalue()


def test_a_notebook_shows_one_picture_that_changes(notebook):
    list(track("abc", total=3, show=True, not_converged=lambda letter: letter != "b"))
    assert len(notebook.pictures) == 5
    assert "0/3" in notebook.pictures[0]
    assert "not converged" not in notebook.pictures[0]
    assert "1/3" in notebook.pictures[1]
    assert "3/3" in notebook.pictures[-1]
    assert "2 not converged" in notebook.pictures[-1]


def test_one_of_two_indicators_is_shown(terminal, monkeypatch):
    """The outer one is hidden while a bar or another indicator is shown, and then shown again."""
    shown = []
    for name in ("start", "stop"):
        kept = getattr(Status, name)

        def noted(status, name=name, kept=kept):
            shown.append(f"{name} {status.status}")
            kept(status)

        monkeypatch.setattr(Status, name, noted)
    with waiting("the study", show=True):
        list(track("ab", total=2, show=True))
        with waiting("the table", show=True):
            shown.append("table")
        shown.append("study")
    around = ["start the study", "stop the study", "start the study", "stop the study"]
    inner = ["start the table", "table", "stop the table"]
    assert shown == [*around, *inner, "start the study", "study", "stop the study"]
