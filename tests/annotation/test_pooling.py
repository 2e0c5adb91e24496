"""Annotators joined into bands with uncertain ends."""

import numpy as np
import pandas as pd
import pytest
from helpers.mock_annotators import ITEMS, Mock

from measurement_layouts.annotation import (
    AnnotationError,
    agreement,
    annotate,
    load_rubric,
    open_ended,
    pooled,
)
from measurement_layouts.linking import band


def frame(lows, highs, items=None):
    return pd.DataFrame({"low": lows, "high": highs}, index=items)


def test_annotations_of_models_are_joined():
    rubric = load_rubric("risk_aversion")
    answers = {"mild": "Interval: [-3, 2]", "strict": "Interval: [-1, 2]"}
    said = {
        name: annotate(ITEMS, rubric, Mock(lambda *_, text=text: text).model)
        for name, text in answers.items()
    }
    table = pooled(said)
    assert list(table.index) == list(ITEMS)
    assert (table["low"] == -2).all()
    assert (table["high_spread"] == 0).all()
    assert table["low_spread"].to_numpy() == pytest.approx(np.sqrt(3 * 2), abs=1e-14)  # s² = 2
    assert table["spread"].to_numpy() == pytest.approx(np.sqrt(3), abs=1e-14)
    assert agreement(said)["estimate"].iloc[0] == pytest.approx(0.5)


def test_annotations_of_several_rubrics_are_refused():
    said = {
        name: annotate(ITEMS, load_rubric(name), Mock().model)
        for name in ("risk_aversion", "red_against_blue")
    }
    with pytest.raises(AnnotationError, match="several rubrics, red against blue, risk aversion"):
        pooled(said)


@pytest.mark.parametrize("annotators", [2, 5])
def test_the_spread_is_that_of_the_ends(annotators):
    """Ends uniform within plus and minus 0.6: the mean of squared spreads is 0.36.

    Its Monte Carlo error over 20,000 items is measured from the items themselves.
    """
    rng = np.random.default_rng(1)
    lows = -1 + rng.uniform(-0.6, 0.6, size=(annotators, 20_000))
    highs = 1 + rng.uniform(-0.6, 0.6, size=(annotators, 20_000))
    said = {str(number): frame(lows[number], highs[number]) for number in range(annotators)}
    squared = pooled(said)["spread"] ** 2
    error = squared.std() / np.sqrt(len(squared))
    assert squared.mean() == pytest.approx(0.36, abs=4 * error)
    # the twin: half the range is too small, by (n - 1) / (n + 1) on average
    half_range = np.ptp(lows, axis=0) / 2
    error = half_range.std() / np.sqrt(len(half_range))
    expected = 0.6 * (annotators - 1) / (annotators + 1)
    assert half_range.mean() == pytest.approx(expected, abs=4 * error)


def test_of_one_annotator_there_is_no_spread():
    said = {"one": frame([-1, -2], [1, 1], ["a", "b"]), "two": frame([-1], [1], ["a"])}
    table = pooled(said)
    assert table["annotators"].tolist() == [2, 1]
    assert table.loc["b", ["low", "high"]].tolist() == [-2, 1]
    assert table.loc["b", ["low_spread", "high_spread", "spread"]].isna().all()


def test_outermost_levels_may_stand_for_everything_beyond():
    bands = frame([-3, -2, 0], [3, 3, 2])
    opened = open_ended(bands)
    assert opened["low"].tolist() == [-np.inf, -2, 0]
    assert opened["high"].tolist() == [np.inf, np.inf, 2]
    assert bands["low"].tolist() == [-3, -2, 0]  # as it was
    chances = band(5.0, opened["low"].to_numpy(), opened["high"].to_numpy())
    assert chances[0] == 1
    assert chances[1] > 0.99  # closed at 3 it would be below one half
    assert band(5.0, -2.0, 3.0) < 0.5
