"""The map of the house is law: who may import whom, what is exported, and that examples run."""

import ast
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
ROOMS = ("linking", "layouts", "annotation", "inference", "reports", "scenarios")
"""Each may import those before it."""
SAMPLERS = {"arviz", "nutpie", "pymc"}


def sources(room):
    return sorted((ROOT / room).rglob("*.py"))


def imported(path, package):
    """Names of the modules that a file imports, anywhere in it, as absolute names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, node.module or ""] if node.level else [node.module or ""])
            base = base.rstrip(".")
            found += [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and _name(node.func).endswith("import_module"):
            found += [part.value for part in node.args if isinstance(part, ast.Constant)]
    return found


def _name(function):
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def violations(path, room, package):
    """What a file of a room imports and may not."""
    wrong = []
    for name in imported(path, package):
        first, *inside = name.split(".")
        if first in ROOMS:
            wrong.append(f"{name} (a second copy of a room; import it relatively)")
        later = ROOMS[ROOMS.index(room) + 1 :]
        if first == "measurement_layouts" and inside and inside[0] in later:
            wrong.append(f"{name} (a later room)")
        if first in SAMPLERS and room != "inference":
            wrong.append(f"{name} (only inference knows the sampler)")
    return wrong


def package_of(path):
    inside = path.relative_to(ROOT).parent
    return ".".join(["measurement_layouts", *inside.parts])


FILES = [(room, path) for room in ROOMS for path in sources(room)]


@pytest.mark.parametrize(
    ("room", "path"), [pytest.param(*file, id=str(file[1].relative_to(ROOT))) for file in FILES]
)
def test_imports_point_one_way(room, path):
    assert violations(path, room, package_of(path)) == []


@pytest.mark.parametrize(
    "line",
    [
        "from ..inference import fitting",
        "from ..inference.fitting import fit",
        "from .. import scenarios",
        "import measurement_layouts.inference",
        "from measurement_layouts.inference import plots",
        "import layouts",
        "from linking.arrays import exp",
        "import pymc as pm",
        "def f():\n    from pymc import Model",
        "import importlib\nimportlib.import_module('nutpie')",
    ],
)
def test_a_forbidden_import_is_noticed(line, tmp_path):
    """Twin that must fail, for each way to write one, as if in a file of layouts."""
    file = tmp_path / "wrong.py"
    file.write_text(line, encoding="utf-8")
    assert violations(file, "layouts", "measurement_layouts.layouts") != []


def test_an_allowed_import_is_allowed(tmp_path):
    file = tmp_path / "right.py"
    file.write_text("from ..linking import Expr\nfrom . import nodes\nimport math\n", "utf-8")
    assert violations(file, "layouts", "measurement_layouts.layouts") == []


@pytest.mark.parametrize("door", [measurement_layouts, measurement_layouts.linking])
def test_every_exported_name_leads_somewhere_and_is_explained(door):
    assert len(set(door.__all__)) == len(door.__all__)
    for name in door.__all__:
        value = getattr(door, name)
        assert getattr(value, "about", None) or value.__doc__, name


def modules():
    """Names of all modules of the package, without importing the heavy ones."""
    names = ["measurement_layouts"]
    door = ROOT / "measurement_layouts"
    for path in sorted(door.rglob("*.py")):
        parts = path.relative_to(door).with_suffix("").parts
        names.append(".".join(["measurement_layouts", *parts]))
    for room in ROOMS:
        for path in sources(room):
            parts = path.relative_to(ROOT).with_suffix("").parts
            names.append(".".join(["measurement_layouts", *parts]))
    return [name.removesuffix(".__init__") for name in dict.fromkeys(names)]


def test_the_list_of_modules_is_whole():
    """As Python's own walk finds them, which imports every package on its way."""
    walked = {
        module.name
        for module in pkgutil.walk_packages(
            measurement_layouts.__path__, prefix="measurement_layouts."
        )
    }
    for room in ROOMS:
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
