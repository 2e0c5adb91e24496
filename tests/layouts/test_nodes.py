"""Meta-features, derived nodes and outcomes: how they are declared, and what they refuse."""

import math

import numpy as np
import pytest

from measurement_layouts import Capability, Derived, LayoutError, MetaFeature, Success
from measurement_layouts.linking import logistic

inf = math.inf


def feature(name="distance", **given):
    return MetaFeature(name, **given)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"low": inf, "high": inf}, r"distance: the range \[inf, inf\] has zero width"),
        ({"low": 0}, r"distance: low=0, high=None; give both ends of the range"),
        ({"high": 4}, "distance: low=None, high=4; give both ends"),
        ({}, "distance: low=None, high=None; give both ends"),
        ({"low": "a", "high": 1}, "distance: low='a' is not a number; give a number in the unit"),
        (
            {"low": 0, "high": 1, "levels": (0, 1)},
            "distance: it has both levels and a range; give one",
        ),
        ({"levels": ()}, r"distance: levels \(\) have fewer than two"),
        ({"levels": (1, 1.0)}, r"distance: levels \(1, 1\) repeat or are not finite"),
        ({"levels": (0, inf)}, "repeat or are not finite; give each value once"),
        ({"levels": (0, None)}, "repeat or are not finite"),
        ({"levels": (0, math.nan)}, "distance: a level=nan is not a number"),
        ({"levels": ("a", "b")}, "distance: a level='a' is not a number"),
        ({"levels": "01"}, "distance: levels='01'; give a sequence of numbers"),
        ({"levels": 5}, "distance: levels=5; give a sequence of numbers"),
        ({"labels": "abc"}, "distance: labels='abc'; give a tuple of at least one name"),
        ({"labels": ()}, r"distance: labels=\(\); give a tuple of at least one name"),
        ({"labels": (1, 2)}, r"distance: labels=\(1, 2\); give a tuple .*, as texts"),
        ({"labels": ("a", "")}, "distance: labels=.*; give a tuple of at least one name"),
        ({"labels": ("a", "b", "a")}, "distance: labels repeat a; make each different"),
        (
            {"labels": ("a",), "dim": "draw"},
            "distance: dim='draw' is the name of a dimension",
        ),
        ({"labels": ("a",), "dim": ""}, "distance: dim=''"),
        ({"labels": ("a",), "dim": 3}, "distance: dim=3"),
        (
            {"labels": ("a", "half \ud800")},
            r"distance: a label='half \\ud800' contains half a " r"char",
        ),
        ({"about": "half \ud800"}, r"distance: about='half \\ud800' contains half a character"),
        ({"about": 5}, "distance: about=5 is not a text; write it in quotes"),
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


def test_numbers_of_any_kind_become_floats():
    one = feature(low=np.int64(0), high=np.float32(2))
    assert one == feature(low=-0.0, high=2)
    assert type(one.low) is float
    levelled = feature(levels=np.array([0, 1, 3]))
    assert levelled.levels == (0.0, 1.0, 3.0)
    assert repr(levelled.range) == "[0, 3]"
    assert hash(one) == hash(feature(low=0, high=2))


def test_columns():
    assert feature(low=0, high=1).columns == ("distance",)
    labelled = feature(low=0, high=1, labels=["a", "b c"], dim="way")
    assert labelled.columns == ("distance[a]", "distance[b c]")
    assert labelled.dims == {"way": ("a", "b c")}
    assert labelled.label_dims == ("way",)
    assert feature(low=0, high=1, dim="way") == feature(low=0, high=1)  # no labels, no dimension


def test_repr_says_what_was_declared():
    assert (
        repr(feature(low=0, high=2, unit="m")) == "MetaFeature('distance', low=0, high=2, unit='m')"
    )
    assert "levels=(0.0, 1.0)" in repr(feature(levels=(0, 1), about="behind"))
    assert repr(Derived("see", logistic(Capability("sight", low=0, high=1)))) == (
        "Derived('see', expression=<logistic(sight)>)"
    )


def test_nodes_cannot_be_changed():
    with pytest.raises(AttributeError):
        feature(low=0, high=1).low = 3


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
        (
            lambda: Capability("ability", low=0, high=2) - 1,
            r"passed: its probability ability − 1 ranges over \[-1, 1\], but must be within",
        ),
        (
            lambda: logistic(Capability("ability", low=0, high=2)) + 0.1,
            r"over \[0.1, 1.1\], but must be within",
        ),
        (lambda: 1.5, "passed: its probability 1.5 ranges over"),
        (
            lambda: Capability("share", low=0, high=1, unit="m"),
            "passed: its probability share has unit m, but must be a pure number",
        ),
        (
            lambda: logistic(Capability("ability", low=0, high=2, labels=("a", "b"))),
            r"passed: its probability has one value per label of \['dimension'\]; reduce it",
        ),
        (lambda: [1], "passed: .* cannot be part of an expression"),
    ],
)
def test_an_outcome_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        Success("passed", build())


def test_an_outcome_takes_rounding():
    ability = logistic(Capability("ability", low=0, high=2))
    assert Success("passed", sum(0.1 * ability for _ in range(10))).range.high > 0.99
