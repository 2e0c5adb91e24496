"""Slices, bins and tables of characteristic curves."""

import numpy as np
import pandas as pd
import pytest
from helpers import one_dominant

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.batteries.characteristic import characteristic_curves
from measurement_layouts.batteries.slices import Slices
from measurement_layouts.evaluations.cells import Cells

NAMES = one_dominant.NAMES


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(2)
    abilities = np.array([[2.0, 3.0, 4.0], [1.2, 3.5, 2.5]])
    return one_dominant.outcomes(one_dominant.battery(1500, rng), abilities, rng)[0]


@pytest.fixture(scope="module")
def curves(evaluation):
    return characteristic_curves(evaluation, NAMES)


def test_dominant_slices_by_their_definition(rng):
    items = pd.DataFrame(rng.integers(0, 4, (200, 3)), columns=NAMES)
    slices = Slices.of(items, NAMES)
    assert slices.levels.tolist() == [0, 1, 2, 3]  # level 0, since an item demands nothing
    times = rng.integers(0, 3, (2, 200))
    values = rng.integers(1, 5, (1, 200))
    cells = Cells.of_tables(values, values)
    found = slices.counts(cells, cells.trials, times)
    for place, name in enumerate(NAMES):
        for level in range(4):
            inside = (items[name] == level) & (items.drop(columns=name) <= level).all(axis=1)
            wanted = (times * values * inside.to_numpy()).sum(axis=1)
            assert found[:, 0, place, level].tolist() == wanted.tolist()


def test_bins_count_attempts_and_trials():
    items = pd.DataFrame({"logic": [1, 1, 2, 2, 2], "volume": [0, 1, 0, 3, 2]}, list("abcde"))
    trials = pd.DataFrame([[4, 0, 2, 9, 3]], ["Ann"], items.index)
    successes = pd.DataFrame([[3, 0, 1, 9, 0]], ["Ann"], items.index)
    found = characteristic_curves(ml.Evaluation(items, successes, trials), ["logic", "volume"])
    logic = found.bins_of("Ann", "logic")
    assert logic[["level", "items", "trials", "successes"]].to_numpy().tolist() == [
        [1, 1, 4, 3],
        [2, 2, 5, 1],
        [3, 0, 0, 0],
    ]
    assert logic["weight"].tolist() == [0.01, 0.02, 0]
    assert logic["rate"].tolist()[:2] == [0.75, 0.2]
    assert found.row("Ann", "logic")["reason"] == (
        "no items at level 3; few items at levels 1 (1), 2 (2)"
    )


@pytest.mark.parametrize(
    ("rates", "ability", "reason"),
    [
        ([0, 0, 0], np.nan, "no curve: the ability is below 1"),
        ([1, 1, 1], np.nan, "no curve: the ability is above 3"),
        (
            [1, 0, 0],
            np.nan,
            "no curve: the ability lies between: all succeed up to 1 and",
        ),
        ([1, 0.5, 0], 2, "a step at level 2, without an interval"),
        ([np.nan, 0.5, np.nan], np.nan, "no curve: items at one level only; no items at levels"),
    ],
)
def test_what_cannot_be_fitted_has_a_reason(rates, ability, reason):
    levels = np.repeat([1, 2, 3], 100)
    share = np.repeat(rates, 100)
    solved = pd.DataFrame([np.tile(np.arange(100) / 100, 3) < share], ["Ann"]).astype(float)
    solved = solved.where(~np.isnan(share)[None])
    evaluation = ml.Evaluation.from_wide(solved, pd.DataFrame({"logic": levels}))
    row = characteristic_curves(evaluation, ["logic"]).row("Ann", "logic")
    assert row["ability"] == pytest.approx(ability, nan_ok=True)
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["reason"].startswith(reason)


def test_what_cannot_be_asked_is_refused(evaluation, curves):
    half = ml.Evaluation(evaluation.items + 0.5, evaluation.successes, evaluation.trials)
    for given, names, options, error, message in (
        (evaluation, [], {}, DataError, "0 columns of demands"),
        (evaluation, ["logic", "logic"], {}, DataError, "occur more than once"),
        (evaluation, ["taste"], {}, DataError, "no column taste"),
        (half, NAMES, {}, DataError, "give whole numbers from 0 to 19"),
        (evaluation, NAMES, {"resamples": 1}, FitError, "resamples=1"),
    ):
        with pytest.raises(error, match=message):
            characteristic_curves(given, names, **options)
    with pytest.raises(FitError, match="no curves of the subject Eve; there are s0, s1"):
        curves.curve("Eve", "logic")
