"""Slopes that are far too steep or too flat for the items, and problems of many labels at once."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.linking import guessing, logistic, product
from measurement_layouts.validation.checking.check import check
from measurement_layouts.validation.checking.columns import read_columns
from measurement_layouts.validation.checking.slopes import about_slopes

WORDS = ml.MetaFeature("words", low=0, high=500, unit="word")
SPAN = ml.Capability("span", low=0, high=500, unit="word")
LENGTHS = pd.DataFrame({"words": np.arange(20.0, 401, 20)})


def told(right, items=LENGTHS):
    layout = ml.Layout("reading", ml.Success("right", right))
    return [str(finding) for finding in about_slopes(layout, read_columns(layout, items))]


@pytest.mark.parametrize("slope", [1, 2])
def test_far_too_steep(slope):
    """Success falls over 2 log(9) / slope words: a 380th of that for each word of the range."""
    (said,) = told(guessing(ml.Derived("understands", logistic(SPAN - WORDS, slope=slope)), 0.25))
    width = 2 * np.log(9) / slope
    assert said.startswith(f"understands: slope {slope} is far too steep for words: success falls")
    assert f"over 1/{380 / width:.0f} of the range of the items" in said
    assert said.endswith("write slope=0.026, ten divided by the range")


def test_the_recommended_slope_and_neighbours_are_no_problem():
    """The twin: ten divided by the range, and a fifth or four times as much."""
    for slope in (0.026 / 5, 0.026, 0.026 * 4):
        assert told(logistic(SPAN - WORDS, slope=slope)) == []
    assert told(logistic.spanning(-480, 480)(SPAN - WORDS)) == []


def test_far_too_flat():
    """Both between 0 and 1, with the slope of 1 that is the default."""
    share = ml.MetaFeature("share", low=0, high=1)
    skill = ml.Capability("skill", low=0, high=1)
    items = pd.DataFrame({"share": np.linspace(0, 1, 21)})
    (said,) = told(logistic(skill - share), items)
    assert said.startswith("right: slope 1 is far too flat for share: for nearly")
    assert said.endswith("write slope=10, ten divided by the range")
    assert told(logistic(skill - share, slope=10), items) == []


def test_one_extreme_item_does_not_make_a_slope_steep():
    """Nineteen items of 1 to 10 words, and one of 5,000."""
    words = ml.MetaFeature("words", low=0, high=5000)
    span = ml.Capability("span", low=0, high=12)
    items = pd.DataFrame({"words": [*np.linspace(1, 10, 19), 5000.0]})
    assert told(logistic(span - words), items) == []


def test_a_capability_that_is_known_may_have_a_steep_slope():
    """A prior of three words, with a slope at which success falls over two words."""
    span = ml.Capability("span", prior=ml.Prior("Normal", mu=200, sigma=3), unit="word")
    assert told(logistic(span - WORDS, slope=2)) == []


def test_estimated_slopes():
    """A slope that is estimated is described only where its prior excludes usable values."""
    steep, wide = (
        ml.Slope("steepness", prior=ml.Prior("LogNormal", mu=mu, sigma=sigma))
        for mu, sigma in ((1, 0.3), (-3, 2))
    )
    (said,) = told(logistic(SPAN - WORDS, steep))
    assert said.endswith("let steepness be near 0.026, ten divided by the range")
    assert told(logistic(SPAN - WORDS, wide)) == []


def test_labels_and_several_demands():
    """Labels in one message, without those whose range suits; two demands without a range."""
    labels = ("reading", "logic", "size")
    demand = ml.MetaFeature("demand", low=0, high=100, labels=labels)
    skill = ml.Capability("skill", low=0, high=100, labels=labels)
    even = np.linspace(0, 100, 26)
    columns = {"demand[reading]": even, "demand[logic]": even[::-1], "demand[size]": even / 20}
    both = product(logistic(skill - demand), over="dimension")
    (said,) = told(both, pd.DataFrame(columns))
    assert "far too steep for demand[reading, logic]: success falls" in said
    lines = ml.MetaFeature("lines", low=0, high=500, unit="word")
    (said,) = told(logistic(SPAN - WORDS - 3 * lines), LENGTHS.assign(lines=LENGTHS["words"]))
    assert "far too steep for words, lines: success falls from 90 % to 10 % over 1/346 of" in said
    assert "slope=0.0066," in said  # 10 / (4 x 380)


@pytest.mark.parametrize("name", scenarios.NAMES)
def test_published_and_recommended_layouts_are_no_problem(name):
    """Their steepest margin has a w of 6.4, that of a tolerance of 256 shades of a colour."""
    scenario = scenarios.get(name)
    items = scenario.simulate(1).evaluation.item_table
    for make in scenario.every_layout().values():
        layout = make()
        assert about_slopes(layout, read_columns(layout, items)) == []


def test_the_check_has_them(rng):
    outcomes = pd.DataFrame(rng.integers(0, 2, (2, len(LENGTHS))), ["Ann", "Bob"], LENGTHS.index)
    layout = ml.Layout("reading", ml.Success("right", logistic(SPAN - WORDS, slope=2)))
    found = check(layout, ml.Evaluation.from_wide(outcomes, LENGTHS))
    assert any("slope 2 is far too steep for words" in text for text in found.problems)


def test_one_message_for_many_labels(rng):
    """Eighteen dimensions that are the same on all items, or that few items inform."""
    labels = tuple(f"d{number}" for number in range(18))
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    skill = ml.Capability("skill", low=0, high=5, labels=labels)
    layout = ml.Layout("x", ml.Success("ok", product(logistic(skill - demand), over="dimension")))
    table = pd.DataFrame({name: rng.integers(0, 6, 30) * 1.0 for name in demand.columns})
    table.iloc[:, 9:] = 5.0
    table.iloc[:, 17] = [*[0] * 29, 9]
    outcomes = pd.DataFrame(rng.integers(0, 2, (3, 30)), ["Ann", "Bob", "Cleo"], table.index)
    problems = check(layout, ml.Evaluation.from_wide(outcomes, table)).problems
    (same,) = (text for text in problems if "effect cannot be estimated" in text)
    assert same.startswith("demand[d9, d10, d11, d12, d13, d14, d15, d16] is 5 on all items")
    (dominated,) = (text for text in problems if "prior-dominated" in text)
    assert dominated.startswith("skill[d0, d1, ")
    (outside,) = (text for text in problems if "is not in its range" in text)
    assert outside.startswith(
        "demand[d17] is not in its range [0, 5] on 1 of 30 items: 29 (demand["
    )
    assert len([text for text in problems if "correlated" in text]) <= 1
    table.iloc[:2, 3:5] = np.nan
    problems = check(layout, ml.Evaluation.from_wide(outcomes, table)).problems
    (missing,) = (text for text in problems if "is missing" in text)
    assert missing.startswith(
        "demand[d3, d4] is missing on 2 of 30 items: 0 (demand[d3] = missing)"
    )


def test_pairs_of_labels_in_one_message(rng):
    """Each label of a skill beside the same of a bias, on items that are alike for both."""
    labels = ("a", "b")
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    skill = ml.Capability("skill", low=0, high=5, labels=labels)
    bias = ml.Bias("bias", labels=labels, prior=ml.Prior("Normal", mu=0, sigma=1))
    right = product(logistic(skill - demand + bias), over="dimension")
    items = pd.DataFrame({name: rng.uniform(0, 5, 400) for name in demand.columns})
    outcomes = pd.DataFrame(rng.integers(0, 2, (3, 400)), ["Ann", "Bob", "Cleo"], items.index)
    layout = ml.Layout("x", ml.Success("ok", right))
    problems = check(layout, ml.Evaluation.from_wide(outcomes, items)).problems
    (pairs,) = (text for text in problems if "told apart" in text)
    assert pairs.startswith("skill[a] and bias[a], skill[b] and bias[b] will hardly be told apart")
