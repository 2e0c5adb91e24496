"""Meta-features of items: what a layout takes; `test_fault_items.py` has the whole messages."""

import copy

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.model.alignment import align
from measurement_layouts.inference.model.features import (
    check_training,
    outside_range,
    read_features,
)
from measurement_layouts.linking import band, logistic


def raises(pattern):
    return pytest.raises(DataError, match=pattern)


@pytest.fixture(scope="module")
def sided():
    """Ends of a band may be infinite, one on its side."""
    low = ml.MetaFeature("from", low=-np.inf, high=4)
    high = ml.MetaFeature("to", low=-4, high=np.inf)
    risk = ml.Propensity("risk", low=-4, high=4)
    return ml.Layout("risk", ml.Success("right", band(risk, low, high)))


@pytest.fixture(scope="module")
def labelled():
    return small_layouts.labelled()


def test_values_are_read_and_other_columns_ignored(animal_ai, items):
    features = read_features(animal_ai, items[list(reversed(items.columns))])
    assert set(features) == {"rewardSize", "rewardDistance", "rewardBehind", "XPos"}
    for name, values in features.items():
        assert values.dtype == float
        assert values.tolist() == items[name].tolist()


def test_labelled_values_are_read_by_column_name(labelled):
    items = pd.DataFrame({"demand[CEc]": [1, 2, 3], "demand[AS]": [4, 5, 0]})
    assert read_features(labelled, items)["demand"].tolist() == [[4, 1], [5, 2], [0, 3]]
    with raises(r"demand: the items have no column demand\[AS\]"):
        read_features(labelled, items[["demand[CEc]"]])


def test_a_level_in_single_precision_is_the_level():
    flag = ml.MetaFeature("flag", levels=(0.1, 0.7))
    skill = ml.Capability("skill", low=0, high=1)
    layout = ml.Layout("a", ml.Success("ok", logistic(skill - flag)))
    items = pd.DataFrame({"flag": np.array([0.1, 0.7], dtype="float32")})
    assert read_features(layout, items)["flag"].tolist() == [0.1, 0.7]
    with raises(r"flag is not one of its levels 0.1, 0.7 on 1 item\(s\): 1 \(flag = 0.7001\)"):
        read_features(layout, pd.DataFrame({"flag": [0.1, 0.7001]}))


def test_inputs_stay_and_later_changes_do_not_reach_the_features(animal_ai, items):
    before = copy.deepcopy(items)
    features = read_features(animal_ai, items)
    pd.testing.assert_frame_equal(items, before)
    items.loc[:, "rewardSize"] = 99.0
    assert features["rewardSize"].tolist() == before["rewardSize"].tolist()
    numbers = before[["rewardSize", "rewardDistance", "rewardBehind", "XPos"]].astype(float)
    features = read_features(animal_ai, numbers)
    numbers.iloc[:, :] = 0.0
    assert features["rewardSize"].tolist() == before["rewardSize"].tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "rewardSize is missing"),
        ("1.5", "rewardSize is not a number"),
        (1j, "rewardSize is not a number"),
        (pd.Timestamp(0), "rewardSize is not a number"),
    ],
)
def test_bad_value(animal_ai, items, value, message):
    items["rewardSize"] = items["rewardSize"].astype(object)
    items.loc["item-03", "rewardSize"] = value
    with raises(message):
        read_features(animal_ai, items)


def test_items_that_are_no_table(animal_ai, items):
    with raises("items: this is a dict; give a pandas DataFrame"):
        read_features(animal_ai, items.to_dict())
    with raises(r"items: the item name\(s\) item-00 occur more than once"):
        read_features(animal_ai, pd.concat([items, items.iloc[[0]]]))


def test_infinite_ends_where_declared(sided):
    items = pd.DataFrame({"from": [-np.inf, 0.0], "to": [1.0, np.inf]})
    features = read_features(sided, items)
    assert features["from"].tolist() == [-np.inf, 0.0]
    check_training(sided, items, features)
    with raises(r"to is infinite on 1 item\(s\): 0 \(to = -inf\)"):
        read_features(sided, items.assign(to=[-np.inf, 0.0]))


def test_outside_the_range_is_reported_per_item(animal_ai, items):
    items.loc["item-02", "rewardSize"] = 1.9 + 1e-6
    items.loc["item-04", "rewardDistance"] = -2.5
    flags = outside_range(animal_ai, read_features(animal_ai, items))
    assert np.argwhere(flags.to_numpy()).shape == (2, 2)
    assert flags.loc[2, "rewardSize"]
    assert flags.loc[4, "rewardDistance"]


def test_training_item_outside_the_range(animal_ai, items):
    items.loc[["item-02", "item-07"], "rewardSize"] = 2.5
    with raises(
        r"rewardSize: 2 training item\(s\) lie outside its declared range \[-1.9, 1.9\]: "
        "item-02, item-07; widen the range"
    ):
        check_training(animal_ai, items, read_features(animal_ai, items))


def test_property_that_never_varies(animal_ai, items, labelled):
    items["XPos"] = 1
    with raises("XPos is 1 on all 24 items: .*, and navigationAbility, rightLeftBias cannot"):
        check_training(animal_ai, items, read_features(animal_ai, items))
    same = pd.DataFrame({"demand[AS]": [4, 4], "demand[CEc]": [0, 0]})
    with raises("demand is 4, 0 on all 2 items"):
        check_training(labelled, same, read_features(labelled, same))
    half = same.assign(**{"demand[AS]": [4, 3]})  # one label varies: the others may not
    check_training(labelled, half, read_features(labelled, half))


def test_align_lays_labels_along_their_dimension(labelled):
    demand, ability = labelled.nodes["demand"], labelled.nodes["ability"]
    dims = ("other", "dimension")
    values = np.arange(6).reshape(3, 2)
    assert align(values, demand, dims, per_item=True).shape == (3, 1, 2)
    laid = align(values, ability, dims, leading=1, per_item=False)
    assert laid.shape == (3, 1, 1, 2)
    assert laid.squeeze().tolist() == values.tolist()
