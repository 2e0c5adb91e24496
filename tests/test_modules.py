"""Every module: what is exported is explained, and the examples of docstrings run."""

import doctest
import importlib
import pkgutil
import re
import sys

import matplotlib.pyplot as plt
import pytest
from helpers import PACKAGE

import measurement_layouts
import measurement_layouts.linking


@pytest.mark.parametrize("door", [measurement_layouts, measurement_layouts.linking])
def test_every_exported_name_leads_somewhere_and_is_explained(door):
    assert len(set(door.__all__)) == len(door.__all__)
    for name in door.__all__:
        value = getattr(door, name)
        assert getattr(value, "about", None) or value.__doc__, name


def modules():
    """Names of all modules of the package, without importing the heavy ones."""
    paths = (path.relative_to(PACKAGE.parent) for path in sorted(PACKAGE.rglob("*.py")))
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


def test_the_list_of_modules_is_whole():
    """As Python's own walk finds them, which imports every package on its way."""
    walked = {
        module.name
        for module in pkgutil.walk_packages(
            measurement_layouts.__path__, prefix="measurement_layouts."
        )
    }
    assert {"measurement_layouts", *walked} == set(modules())


@pytest.mark.parametrize("name", modules())
def test_examples_of_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    plt.close("all")
    assert result.failed == 0


def test_examples_are_found_on_linking_functions():
    module = sys.modules["measurement_layouts.linking.functions.band"]
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert [test.name for test in examples] == ["measurement_layouts.linking.functions.band.band"]


def copies(text):
    """Imports of a folder by its own name, which would load a second copy of it."""
    rooms = "|".join(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    return re.findall(rf"^\s*(?:from|import) (?:{rooms})\b", text, re.MULTILINE)


def test_nothing_is_imported_twice():
    files = PACKAGE.rglob("*.py")
    assert [path for path in files if copies(path.read_text(encoding="utf-8"))] == []
    assert copies("import os\n    from layouts.nodes import Derived\n") != []
