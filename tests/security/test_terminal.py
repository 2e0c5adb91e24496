"""Names may hold signs that steer a terminal; what the command prints shows them instead."""

import io
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console

from measurement_layouts.command import main
from measurement_layouts.commands import printing, tables
from measurement_layouts.common.messages import visible

STEERS = {
    "clear the screen": ("\x1b[2J", r"\x1b[2J"),
    "set the title": ("\x1b]0;taken\x07", r"\x1b]0;taken\x07"),
    "a link": ("\x1b]8;;http://example.org\x1b\\", r"\x1b]8;;http://example.org\x1b" + "\\"),
    "one byte for two": ("\x9b31m", r"\x9b31m"),
    "back over what stands there": ("failed\b\b\b\b\b\bok", "failed" + r"\x08" * 6 + "ok"),
    "again from the left": ("failed\rok", r"failed\rok"),
    "written backwards": ("\u202eko\u202c", r"\u202eko\u202c"),
    "ring": ("\x07", r"\x07"),
    "markup of rich": ("[red]x[/red][link=http://example.org]y[/link]", None),
    "letters of all kinds": ("Zoë 日本 🙂 café", None),
}


@pytest.fixture
def screen(monkeypatch):
    """A terminal 200 characters wide; what it was sent."""
    sent = io.StringIO()
    console = Console(
        file=sent, force_terminal=True, color_system=None, width=200, markup=False, emoji=False
    )
    monkeypatch.setattr(printing, "_console", lambda: console)
    return sent


@pytest.mark.parametrize(("name", "shown"), STEERS.values(), ids=STEERS)
def test_a_table_shows_it(screen, name, shown):
    printing.print_table(pd.DataFrame({name: [name]}), name)
    sent = screen.getvalue()
    assert sent.count(name if shown is None else shown) == 3  # title, head, cell
    plain = re.sub(r"\x1b\[[\d;]*m", "", sent)  # the bold of heads, by rich itself
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", plain)
    assert "\x1b[2J" not in sent


@pytest.mark.parametrize(("name", "shown"), STEERS.values(), ids=STEERS)
def test_a_line_shows_it(name, shown, capsys, tmp_path):
    assert main(["compare", str(tmp_path / name.replace("/", "_"))]) == 2
    said = capsys.readouterr().err
    notes = pd.DataFrame({"what": [name], "count": [1], "example": [name]})
    tables.print_notes(SimpleNamespace(notes=notes))
    said += capsys.readouterr().err
    shown = name if shown is None else shown
    assert said.count(shown) + said.count(shown.replace("/", "_")) >= 3
    assert visible(said) == said
