"""What could run code from a file is nowhere in the package, but where the reason stands here."""

import ast

import pytest
from helpers import PACKAGE

CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "execfile", "read_pickle"}
CALLS |= {"system", "popen", "spawnv", "execv", "Popen", "check_output", "check_call"}
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "subprocess"}
MODULES |= {"runpy", "code", "codeop", "jsonpickle", "ctypes", "cffi"}
OPTIONS = {"shell", "allow_pickle", "unsafe"}
ALLOWED = {
    "commands/layout_file.py: import runpy": "one's own layout is a Python file",
    "scenarios/object_permanence/agents.py: eval()": "its conditions stand in that file",
    "common/memory.py: import ctypes": "calls the C library's malloc_trim",
    "inference/sampling/unbounded.py: import ctypes": "calls the log-density compiled here",
}


def runs(text):
    """Name what a module does that could run code from a file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (f"import {each.name}" for each in node.names if _first(each.name))
        if isinstance(node, ast.ImportFrom) and not node.level and _first(node.module or ""):
            yield f"import {node.module}"
        if isinstance(node, ast.Call):
            yield from _call(node)


def _first(name):
    return name.split(".")[0] in MODULES


def _call(node):
    plain = isinstance(node.func, ast.Name)
    name = node.func.id if plain else getattr(node.func, "attr", "")
    owner = "" if plain else ast.unparse(node.func).rpartition(".")[0]
    known = owner in ("re", "self", "function", "reader")  # re.compile and methods of our own
    if name in CALLS and not known:
        yield f"{name}()"
    if name == "load" and owner in ("joblib", "torch"):
        yield f"{owner}.load()"
    for option in node.keywords:
        if option.arg in OPTIONS and not _is_false(option.value):
            yield f"{option.arg}="


def _is_false(value):
    return isinstance(value, ast.Constant) and value.value is False


@pytest.mark.slow
def test_only_layout_files_are_executed(request):
    files = list(PACKAGE.rglob("*.py"))
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {what}"
        for path in files
        for what in runs(path.read_text(encoding="utf-8"))
    }
    assert len(files) > 300
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import pickle", "import pickle"),
        ("from pickle import loads", "import pickle"),
        ("eval('1')", "eval()"),
        ("import os\nos.system('x')", "system()"),
        ("np.load('x', allow_pickle=True)", "allow_pickle="),
        ("joblib.load('x')", "joblib.load()"),
        ("pd.read_pickle('x')", "read_pickle()"),
        ("run('x', shell=True)", "shell="),
        ("builtins.exec('x')", "exec()"),
    ],
)
def test_what_runs_code_is_found(text, found):
    """Twin that must fail."""
    assert list(runs(text)) == [found]
    assert list(runs("import re\nre.compile('x')\nnp.load('x', allow_pickle=False)")) == []
