"""What `import measurement_layouts` brings, and what it leaves for later."""

import re
import subprocess
import sys
from functools import cache

import pytest

import measurement_layouts as ml

HEAVY = ("pymc", "pytensor", "nutpie", "arviz", "pandas", "xarray", "matplotlib", "sklearn")

SLOW = ("pint", "networkx")

IMPORT = "import measurement_layouts as ml"

DECLARE = f"""
{IMPORT}
from measurement_layouts.linking import logistic, mixture

distance = ml.MetaFeature("distance", low=0, high=40, unit="m")
navigation = ml.Capability("navigation", low=0, high=40, unit="m")
success = mixture(logistic(navigation - distance), by=ml.Noise("noise"), toward=0.5)
layout = ml.Layout("find it", ml.Success("found", success))
"""

DRAW = f"""
{DECLARE}
import graphviz

assert "navigation" in layout.to_graphviz() and "navigation" in layout.to_mermaid()
assert layout.to_dict()
try:
    graphviz.version()
except graphviz.ExecutableNotFound:
    pass  # matplotlib draws where `dot` is missing
else:
    assert layout._repr_svg_()
"""

SCENARIO = """
from measurement_layouts import scenarios
[make() for make in scenarios.get("animal-ai-olympics").layouts.values()]
"""


@cache
def _loaded(code):
    ask = f"import sys; print(*[name for name in {HEAVY + SLOW!r} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ask}"], capture_output=True, text=True, check=True
    )
    return run.stdout.split()


def loaded_by(code, names):
    """Which of the packages a fresh process, one for each code, has loaded after some code."""
    return [name for name in _loaded(code) if name in names]


@pytest.mark.parametrize("code", [IMPORT, DECLARE, DRAW], ids=["import", "declare", "draw"])
def test_declaring_and_drawing_need_no_sampler(code):
    assert loaded_by(code, HEAVY) == []


@pytest.mark.parametrize("code", [IMPORT, DECLARE], ids=["import", "declare"])
def test_a_first_layout_needs_neither_the_registry_of_units_nor_networkx(code):
    assert loaded_by(code, SLOW) == []


def test_units_that_differ_need_the_registry():
    """The twin: whether a metre is an m, pint knows."""
    code = DECLARE.replace('high=40, unit="m")', 'high=40, unit="metre")', 1)
    assert loaded_by(f"{code}layout.graph", SLOW) == list(SLOW)


def test_layouts_of_a_scenario_need_no_sampler():
    assert loaded_by(SCENARIO, ("pymc", "pytensor", "nutpie", "arviz", "sklearn")) == []


def test_fitting_needs_one():
    """The twin: the check sees PyMC once it is there."""
    assert "pymc" in loaded_by(f"{IMPORT}; ml.fit", HEAVY)


def test_dir_lists_the_public_names():
    assert set(dir(ml)) == {*ml.__all__, "__version__"}
    assert ml.__all__ == sorted(ml.__all__)


def test_a_name_of_another_package_is_met_by_a_hint():
    with pytest.raises(AttributeError, match=r"no attribute 'sbc'; it is ml\.validation\.sbc$"):
        _ = ml.sbc


def test_calls_that_replace_former_names_exist():
    for name in ("suspicion", "claim", "leave_future_out", "find_kink", "read_scores"):
        with pytest.raises(AttributeError) as raised:
            getattr(ml, name)
        room, call = re.search(r"ml\.(\w+)\.(\w+)", str(raised.value)).groups()
        assert hasattr(getattr(ml, room), call)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match=r"'measurement_layouts' has no attribute 'sampler'"):
        _ = ml.sampler
