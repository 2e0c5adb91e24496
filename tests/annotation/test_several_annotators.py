"""Annotators joined: bands with uncertain ends, and levels settled by majority."""

import itertools
import statistics

import numpy as np
import pandas as pd
import pytest
from helpers.mock_annotators import ITEMS, Mock

from measurement_layouts.annotation import (
    AnnotationError,
    agreement,
    annotate,
    delphi,
    load_demand_rubric,
    load_rubric,
    pooled,
)

NAN = np.nan


def votes(*items):
    """Frames by annotator from the votes on each item, which are named a, b, ..."""
    names = list("abcdefgh")[: len(items)]
    return {
        f"annotator{number}": pd.DataFrame({"level": levels}, index=names)
        for number, levels in enumerate(zip(*items, strict=True))
    }


def bands_by(names, answer="Interval: [-2, 1]", rubric="risk_aversion"):
    model = Mock(lambda *_: answer).model
    return {name: annotate(ITEMS, load_rubric(rubric), model) for name in names}


def test_annotations_of_models_are_joined():
    annotations = bands_by(["mild"], "Interval: [-3, 2]")
    annotations |= bands_by(["strict"], "Interval: [-1, 2]")
    table = pooled(annotations)
    assert list(table.index) == list(ITEMS)
    assert (table["low"] == -2).all()
    assert (table["high_spread"] == 0).all()
    assert table["low_spread"].to_numpy() == pytest.approx(np.sqrt(3 * 2), abs=1e-14)  # s² = 2
    assert table["spread"].to_numpy() == pytest.approx(np.sqrt(3), abs=1e-14)
    assert agreement(annotations)["estimate"].iloc[0] == pytest.approx(0.5)


@pytest.mark.parametrize("annotators", [2, 5])
def test_the_spread_is_that_of_the_ends(annotators):
    """Ends uniform within plus and minus 0.6: the mean of squared spreads is 0.36.

    Its Monte Carlo error over 20,000 items is measured from the items themselves.
    """
    rng = np.random.default_rng(1)
    lows = -1 + rng.uniform(-0.6, 0.6, size=(annotators, 20_000))
    highs = 1 + rng.uniform(-0.6, 0.6, size=(annotators, 20_000))
    frames = {
        str(number): pd.DataFrame({"low": lows[number], "high": highs[number]})
        for number in range(annotators)
    }
    squared = pooled(frames)["spread"] ** 2
    error = squared.std() / np.sqrt(len(squared))
    assert squared.mean() == pytest.approx(0.36, abs=4 * error)
    # the twin: half the range is too small, by (n - 1) / (n + 1) on average
    half_range = np.ptp(lows, axis=0) / 2
    error = half_range.std() / np.sqrt(len(half_range))
    expected = 0.6 * (annotators - 1) / (annotators + 1)
    assert half_range.mean() == pytest.approx(expected, abs=4 * error)


def test_of_one_annotator_there_is_no_spread():
    one = pd.DataFrame({"low": [-1, -2], "high": [1, 1]}, index=["a", "b"])
    table = pooled({"one": one, "two": one[:1]})
    assert table["annotators"].tolist() == [2, 1]
    assert table.loc["b", ["low", "high"]].tolist() == [-2, 1]
    assert table.loc["b", ["low_spread", "high_spread", "spread"]].isna().all()


@pytest.mark.parametrize(
    ("item", "level", "agreed"),
    [
        ((3, 3, 3), 3, True),
        ((2, 3, 3), 3, False),
        ((0, 0, 2), None, False),  # a majority, but two apart
        ((NAN, 4, 4), 4, True),
        ((NAN, 3, 4), None, False),  # no majority
        ((NAN, 4, NAN), None, False),  # nobody to agree with
    ],
)
def test_one_item(item, level, agreed):
    table = delphi(votes((1, 1, 1), item)).loc["b"]
    assert table["discuss"] == (level is None)
    assert table["level"] is pd.NA if level is None else table["level"] == level
    assert table["agreed"] == agreed
    assert table["votes"] == tuple(sorted(vote for vote in item if vote == vote))


def test_all_votes_of_three_by_the_published_rule():
    """Every one of the 216: two or more apart is discussed, else the median is the majority."""
    everything = list(itertools.product(range(6), repeat=3))
    frame = pd.DataFrame(everything, columns=["x", "y", "z"])
    table = delphi({name: frame[[name]].set_axis(["level"], axis=1) for name in frame})
    discussed = [max(item) - min(item) >= 2 for item in everything]
    assert table["discuss"].tolist() == discussed
    medians = [statistics.median(item) for item in everything]
    assert table.loc[~table["discuss"], "level"].tolist() == [
        median for median, far in zip(medians, discussed, strict=True) if not far
    ]


def test_four_annotators_may_tie():
    table = delphi(votes((2, 2, 3, 3), (2, 3, 3, 3)))
    assert table["level"].tolist() == [pd.NA, 3]


def test_models_can_be_annotators():
    rubric = load_demand_rubric("quantitative_reasoning")
    annotations = {
        str(level): annotate(ITEMS, rubric, Mock(lambda *_, at=level: f"Level: {at}").model)
        for level in (3, 3.0, 4)
    }
    table = delphi(annotations)
    assert list(table.index) == list(ITEMS)
    assert (table["level"] == 3).all()


@pytest.mark.parametrize(
    ("join", "annotations", "complaint"),
    [
        (delphi, lambda: votes((2, 2.5, 3)), r"a level is 2\.5; give whole"),
        (delphi, lambda: {"a": votes((2, 2))["annotator0"]}, "annotations of 1; give a"),
        (delphi, lambda: bands_by("xy"), "annotator 'x': .* with the"),
        (
            pooled,
            lambda: bands_by("x") | bands_by("y", rubric="red_against_blue"),
            "several rubrics, red",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(join, annotations, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        join(annotations())
