"""A figure and its goal."""

import json
import math

import pytest

from measurement_layouts.scenarios.figures import Figure


def figure(relation, bound, obtained, published=None):
    return Figure("name", obtained, relation, bound, "in words", published=published)


@pytest.mark.parametrize(
    ("relation", "below", "equal", "above"),
    [
        (">=", False, True, True),
        ("<=", True, True, False),
        ("==", False, True, False),
        ("<", True, False, False),
        (">", False, False, True),
    ],
)
def test_every_relation(relation, below, equal, above):
    found = [figure(relation, 2.0, obtained).holds for obtained in (1.0, 2.0, 3.0)]
    assert found == [below, equal, above]


@pytest.mark.parametrize("relation", [">=", "<=", "==", "<", ">"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_holds(relation, value):
    assert figure(relation, 2.0, value).holds is False
    assert figure(relation, value, value).holds is False
    assert figure(relation, math.nan, 2.0).holds is False


def test_json_is_unrounded_and_valid():
    written = json.dumps(figure(">=", 0.1, 1 / 3, published=0.33).to_dict(), allow_nan=False)
    assert json.loads(written) == {
        "name": "name",
        "published": 0.33,
        "obtained": 1 / 3,
        "goal": "in words",
        "holds": True,
    }
