"""Every module: what is exported is explained, and the examples of docstrings run."""

import doctest
import importlib
import pkgutil
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import measurement_layouts
import measurement_layouts.linking

ROOT = Path(__file__).parent.parent
DOOR = "measurement_layouts"
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def sources(room):
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("door", [measurement_layouts, measurement_layouts.linking])
def test_every_exported_name_leads_somewhere_and_is_explained(door):
    assert len(set(door.__all__)) == len(door.__all__)
    for name in door.__all__:
        value = getattr(door, name)
        assert getattr(value, "about", None) or value.__doc__, name


def modules():
    """Names of all modules of the package, without importing the heavy ones."""
    names = []
    for package in PACKAGES:
        for path in sources(package):
            parts = path.relative_to(ROOT).with_suffix("").parts
            names.append(".".join(parts if parts[0] == DOOR else (DOOR, *parts)))
    return [name.removesuffix(".__init__") for name in names]


def test_the_list_of_modules_is_whole():
    """As Python's own walk finds them, which imports every package on its way."""
    walked = {
        module.name
        for module in pkgutil.walk_packages(
            measurement_layouts.__path__, prefix="measurement_layouts."
        )
    }
    for room in set(PACKAGES) - {DOOR}:
        package = importlib.import_module(f"measurement_layouts.{room}")
        found = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
        walked |= {package.__name__, *(module.name for module in found)}
    assert walked <= set(modules())


@pytest.mark.parametrize("name", dict.fromkeys(modules()))
def test_examples_of_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    plt.close("all")
    assert result.failed == 0


def test_examples_are_found_on_linking_functions():
    module = sys.modules["measurement_layouts.linking.functions.band"]
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert [test.name for test in examples] == ["measurement_layouts.linking.functions.band.band"]
