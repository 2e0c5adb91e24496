"""The contract of imports is kept, and each way to break it is noticed."""

import re
import shutil
import subprocess
import sys

import pytest
from helpers import PACKAGE

LINT = "from importlinter.cli import lint_imports_command as run; run()"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the package that a test may break."""
    package = tmp_path_factory.mktemp("tree") / "measurement_layouts"
    only_python = shutil.ignore_patterns("*.csv", "*.toml", "__pycache__")
    shutil.copytree(PACKAGE, package, ignore=only_python)
    return package.parent


def lint(tree):
    """Exit status, and what is said of the contracts."""
    config = [
        "--config",
        PACKAGE.parent / "pyproject.toml",
        "--cache-dir",
        tree / "cache",
        "--no-logo",
    ]
    done = subprocess.run(
        [sys.executable, "-c", LINT, *config], cwd=tree, capture_output=True, text=True, check=False
    )
    return done.returncode, re.sub(r"\s+", " ", done.stdout)


def test_the_contract_is_kept(tree):
    status, said = lint(tree)
    assert status == 0, said
    assert "3 kept, 0 broken" in said


def copies(text):
    """Imports of a folder by its own name, which would load a second copy of it."""
    return re.findall(rf"^\s*(?:from|import) (?:{'|'.join(ROOMS)})\b", text, re.MULTILINE)


def test_nothing_is_imported_twice():
    files = PACKAGE.rglob("*.py")
    assert [path for path in files if copies(path.read_text(encoding="utf-8"))] == []
    assert copies("import os\n    from layouts.nodes import Derived\n") != []


LATER = """

def _later():
    from ..inference import fitting
"""
FOR_TYPES = """

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plots import style
"""


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("layouts/nodes.py", LATER, "layouts is not allowed to import measurement_layouts.inf"),
        ("evaluations/tables.py", FOR_TYPES, "evaluations is not allowed to import measurement_"),
        ("layouts/nodes.py", "\nfrom . import layout\n", "No cycles are allowed in"),
        ("linking/interval.py", "\nimport pymc\n", "linking is not allowed to import pymc"),
    ],
    ids=["an arrow up in a function", "an arrow up for types", "a circle", "the sampler"],
)
def test_what_breaks_it_is_noticed(tree, file, line, broken):
    """Twins that must fail."""
    path = tree / "measurement_layouts" / file
    text = path.read_text(encoding="utf-8")
    path.write_text(text + line, encoding="utf-8")
    try:
        status, said = lint(tree)
    finally:
        path.write_text(text, encoding="utf-8")
    assert status == 1
    assert broken in said
