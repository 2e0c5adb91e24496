"""Layouts from one's own Python files, and what is said where that fails."""

import signal
import subprocess
import sys

import pytest

from measurement_layouts.command import main
from measurement_layouts.commands.layout_file import load_layout
from measurement_layouts.linking import LayoutError

COIN = """
import measurement_layouts as ml
coin = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
"""
DIE = COIN + 'die = ml.Layout("die", ml.Success("six", ml.Capability("q", low=0, high=1)))\n'


@pytest.fixture
def write(tmp_path):
    def write(code, name="mine.py"):
        path = tmp_path / name
        path.write_text(code, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (COIN, ""),
        (COIN, ":coin"),
        (COIN + "same = coin", ""),
        (COIN + "def make():\n    return coin", ":make"),
        (COIN + "print('by the way')", ""),
        ("from __future__ import annotations\nfrom dataclasses import dataclass\n"
         "@dataclass\nclass Own:\n    size: int\n" + COIN.replace("import", "\nimport", 1), ""),
    ],
)  # fmt: skip
def test_a_layout_is_found(write, code, name, capsys):
    path = write(code)
    assert load_layout(f"{path}{name}").name == "coin"
    assert capsys.readouterr().out == ""
    assert "_layout_file" not in sys.modules
    assert not (path.parent / "__pycache__").exists()


def test_modules_beside_the_file_can_be_imported(write):
    write(COIN, "beside_it.py")
    path = write("def make():\n    from beside_it import coin\n    return coin")
    before = list(sys.path)
    assert load_layout(f"{path}:make").name == "coin"
    assert sys.path == before
    del sys.modules["beside_it"]


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("x = 1 / 0", "", "mine.py, line 1:"),
        ("\nx = (1", "", "mine.py, line 2:"),
        ("import no_such_thing", "", "mine.py, line 1:"),
        ("raise SystemExit(3)", "", "mine.py, line 1:"),
        ("raise ValueError('one\\ntwo')", "", "mine.py, line 1:"),
        (COIN.replace("high=1", "high=-1"), "", "line 3:"),
        (COIN + "def make():\n    return 1 / 0", ":make", "line 5:"),
        (COIN + "def make(x):\n    return coin", ":make", "missing 1 required"),
        (COIN, ":dice", "mine.py has no layout"),
        (COIN, ":ml", "mine.py has no layout 'ml'"),
        (DIE, "", "mine.py holds 2 layouts;"),
        (DIE, "", "it has coin, die"),
        ("def make():\n    pass", "", "holds 0 layouts; name a"),
        ("def make():\n    pass", ":make", "has no layout 'make'"),
        ("", "", "it has neither"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(write, code, name, message, capsys):
    path = write(code)
    assert main(["draw", f"{path}{name}", "--out", str(path.parent / "x.svg")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.startswith("measurement-layouts: ")
    assert printed.err.count("\n") == 1
    assert list(path.parent.iterdir()) == [path]


COMMAND = """
import signal, sys
from measurement_layouts.command import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
sys.exit(main(sys.argv[1:]))
"""


def draw(path):
    """Draw a layout, in a process of its own."""
    typed = [sys.executable, "-c", COMMAND, "draw", path, "--out", path.with_suffix(".svg")]
    return subprocess.Popen(typed, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_while_the_file_runs(write):
    drawn = draw(write("import sys, time\nprint('begun', flush=True)\ntime.sleep(60)"))
    assert drawn.stderr.readline() == "begun\n"
    drawn.send_signal(signal.SIGINT)
    assert drawn.communicate(timeout=60) == ("", "measurement-layouts: stopped\n")
    assert drawn.returncode == 130


def test_an_error_beside_the_file_is_placed_there(write):
    write("\n\nx = 1 / 0", "beside_broken.py")
    path = write("import beside_broken")
    with pytest.raises(LayoutError, match=r"beside_broken\.py, line 3: ZeroDivisionError"):
        load_layout(str(path))


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("no.py:layout", "there is no file no.py"),
        ("chess", "'chess' is neither"),
        ("adele --out x.gif", "end it in .svg, .png or .pdf"),
    ],
)
def test_what_cannot_be_drawn(typed, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(COIN)
    assert main(["draw", *typed.replace("adele", "mine.py").split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["svg", "pdf", "mmd"])
def test_a_layout_is_drawn(write, ending, capsys):
    path = write(DIE)
    out = path.with_suffix(f".{ending}")
    assert main(["draw", f"{path}:die", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert ending == "pdf" or "six" in out.read_text(encoding="utf-8")
    assert main(["draw", f"{path}:coin", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["draw", f"{path}:coin", "--out", str(out), "--overwrite"]) == 0
    assert ending == "pdf" or "heads" in out.read_text(encoding="utf-8")


def test_a_layout_is_drawn_into_a_folder_by_its_name(write, monkeypatch, capsys):
    path = write(COIN)
    monkeypatch.chdir(path.parent)
    assert main(["draw", "mine.py"]) == main(["draw", "mine.py:coin"]) == 0
    assert capsys.readouterr().out == "mine.svg\ncoin.svg\n"
