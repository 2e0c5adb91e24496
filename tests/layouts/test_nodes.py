"""Meta-features, derived nodes and outcomes: how they are declared, and what they refuse."""

import math

import pytest

from measurement_layouts import Capability, Derived, LayoutError, MetaFeature, Success
from measurement_layouts.linking import logistic

inf = math.inf


def feature(name="distance", **given):
    return MetaFeature(name, **given)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"low": inf, "high": inf}, "distance:"),
        ({"low": 0}, "distance:"),
        ({"high": 4}, "distance:"),
        ({}, "distance:"),
        ({"low": "a", "high": 1}, "distance:"),
        ({"low": 0, "high": 1, "levels": (0, 1)}, "distance:"),
        ({"levels": ()}, "distance:"),
        ({"levels": (1, 1.0)}, "distance:"),
        ({"levels": (0, inf)}, "repeat or are not finite;"),
        ({"levels": (0, None)}, "repeat or are not finite"),
        ({"levels": (0, math.nan)}, "distance:"),
        ({"levels": ("a", "b")}, "distance:"),
        ({"levels": "01"}, "distance:"),
        ({"levels": 5}, "distance:"),
        ({"labels": "abc"}, "distance:"),
        ({"labels": ()}, "distance:"),
        ({"labels": (1, 2)}, "distance:"),
        ({"labels": ("a", "")}, "distance:"),
        ({"labels": ("a", "b", "a")}, "distance:"),
        ({"labels": ("a",), "dim": "draw"}, "distance:"),
        ({"labels": ("a",), "dim": ""}, "distance:"),
        ({"labels": ("a",), "dim": 3}, "distance:"),
        ({"labels": ("a", "half \ud800")}, "distance:"),
        ({"about": "half \ud800"}, "distance:"),
        ({"about": 5}, "distance:"),
    ],
)
def test_a_meta_feature_refuses(given, complaint):
    """Others are in `test_fault_layouts.py`."""
    ranged = {"low": 0, "high": 1} if {"labels", "about"} & set(given) else {}
    with pytest.raises(LayoutError, match=complaint):
        feature(**ranged, **given)


@pytest.mark.parametrize(
    "name", ["", "2nd", "_hidden", "a[b]", "a\n", "a:b", " a", "a ", "a/b", 5, None, "größe!"]
)
@pytest.mark.parametrize("kind", [MetaFeature, Capability])
def test_a_bad_name_is_refused(kind, name):
    with pytest.raises(LayoutError, match=r"the name .* must start with a letter and contain only"):
        kind(name, low=0, high=1)


@pytest.mark.parametrize("name", ["a", "größe", "reward Size", "a-b", "a_b", "v1.2", "é"])
def test_a_good_name_is_taken(name):
    assert str(feature(name, low=0, high=1)) == name


@pytest.mark.parametrize("name", ["chain", "draw", "subject", "item"])
def test_a_name_that_every_fit_uses_is_refused(name):
    with pytest.raises(
        LayoutError, match=f"the name '{name}' is the name of a dimension of every fit"
    ):
        feature(name, low=0, high=1)


def test_columns():
    assert feature(low=0, high=1).columns == ("distance",)
    labelled = feature(low=0, high=1, labels=["a", "b c"], dim="way")
    assert labelled.columns == ("distance[a]", "distance[b c]")
    assert labelled.dims == {"way": ("a", "b c")}
    assert labelled.label_dims == ("way",)
    assert feature(low=0, high=1, dim="way") == feature(low=0, high=1)  # no labels, no dimension


def test_a_derived_node_passes_on_what_its_formula_has():
    ability = Capability("ability", low=0, high=2, unit="m", labels=("a", "b"))
    double = Derived("double", 2 * ability)
    assert double.dims == ability.dims
    assert double.unit == ability.unit
    assert repr(double.range) == "[0, 4]"
    assert Derived("two", 2).range.high == 2
    with pytest.raises(LayoutError, match=r"see: its expression: 'sight' .*cannot be part"):
        Derived("see", "sight")
    with pytest.raises(LayoutError, match="see: its expression: NaN"):
        Derived("see", math.nan)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: Capability("ability", low=0, high=2) - 1, "passed:"),
        (
            lambda: logistic(Capability("ability", low=0, high=2)) + 0.1,
            r"over \[0.1, 1.1\], but must",
        ),
        (lambda: 1.5, "passed:"),
        (lambda: Capability("share", low=0, high=1, unit="m"), "passed:"),
        (lambda: logistic(Capability("ability", low=0, high=2, labels=("a", "b"))), "passed:"),
        (lambda: [1], "passed:"),
    ],
)
def test_an_outcome_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        Success("passed", build())
