"""Items on which a meta-feature is undefined, all the way from their columns to forecasts."""

import numpy as np
import pandas as pd
import pytest
from helpers.function_cases import AS_WRITTEN

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.model.features import (
    check_training,
    outside_range,
    read_features,
)
from measurement_layouts.inference.model.pymc_model import to_pymc
from measurement_layouts.linking import logistic, presence, product

LABELS = ("near", "far")
COUNT = 24


def declared(given=True, **changes):
    """Sight everywhere, memory under an occluder, attention to what there is of distractors."""
    flag = ml.MetaFeature("occluder", levels=(0, 1))
    where = {"given": flag} if given else {}
    time = ml.MetaFeature("time", **{"low": 1, "high": 4, "unit": "s"} | changes, **where)
    pull = ml.MetaFeature("pull", levels=(0, 1, 2), labels=LABELS, dim="place", **where)
    size = ml.MetaFeature("smallness", low=0, high=2)
    memory = ml.Capability("memory", low=0, high=6, unit="s")
    focus = ml.Capability("focus", low=0, high=3, labels=LABELS, dim="place")
    sees = logistic(ml.Capability("sight", low=0, high=2) - size)
    remembers = logistic(memory - time) * product(logistic(focus - pull), over="place")
    return ml.Layout("occlusion", ml.Success("found", sees * presence(remembers, flag)))


@pytest.fixture(scope="module")
def layout():
    return declared()


@pytest.fixture
def items():
    """Half of them without an occluder, and two of those alike in all that can be observed."""
    occluder = np.resize([0, 1], COUNT)
    there = occluder == 1
    smallness = np.linspace(0.1, 1.9, COUNT)
    smallness[2] = smallness[0]
    return pd.DataFrame(
        {
            "smallness": smallness,
            "time": np.where(there, np.linspace(1, 4, COUNT), np.nan),
            "pull[near]": np.where(there, np.resize([0, 0, 1, 2], COUNT), np.nan),
            "pull[far]": np.where(there, np.resize([2, 2, 1, 0], COUNT), np.nan),
            "occluder": occluder,
        },
        index=[f"item-{number:02d}" for number in range(COUNT)],
    )


@pytest.fixture
def filled(items):
    """The same items, with numbers made up by hand."""
    return items.fillna({"time": 3.3, "pull[near]": 2, "pull[far]": 1})


@pytest.fixture
def profiles():
    columns = ["memory", "focus[near]", "focus[far]", "sight"]
    rows = {"Ann": [5.0, 2.5, 2.0, 1.8], "Bob": [2.0, 1.0, 2.5, 1.0]}
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


@pytest.fixture
def evaluation(layout, items, profiles):
    return ml.simulate(layout, items, profiles, seed=4)


def raises(pattern):
    return pytest.raises(DataError, match=pattern)


def test_what_is_undefined_is_read_as_the_stand_in(layout, items):
    features = read_features(layout, items)
    there = items["occluder"].to_numpy() == 1
    assert (features["time"][~there] == 1).all()  # of what it can be, the nearest to 0
    assert features["time"][there].tolist() == items["time"][there].tolist()
    assert (features["pull"][~there] == 0).all()
    assert not any(np.isnan(values).any() for values in features.values())
    assert list(features) == [feature.name for feature in layout.meta_features]
    assert not outside_range(layout, features).any(axis=None)


def test_missing_where_it_is_defined(layout, items):
    bad = items.assign(time=items["time"].where(items.index != "item-03"))
    with raises(
        r"time is missing \(NaN\) on 1 item\(s\): item-03 \(time = missing\); fill it in, or leave "
        "out the item: with given=occluder, a value may be missing only where occluder is 0"
    ):
        read_features(layout, bad)
    bad = items.assign(occluder=items["occluder"].where(items.index != "item-03"))
    with raises(r"occluder is missing \(NaN\) on 1 item\(s\): item-03 .* declare with given="):
        read_features(layout, bad)
    with raises("occluder is not one of its levels 0, 1 on 12"):
        read_features(layout, items.assign(occluder=items["occluder"].replace(0, 0.5)))
    with raises("time: the items have no column time"):
        read_features(layout, items.drop(columns="time"))


def test_a_property_varies_where_it_is_defined(layout, items):
    def check(**changes):
        changed = items.assign(**changes)
        check_training(layout, changed, read_features(layout, changed))

    check()
    there = items["occluder"] == 1
    with raises("^time is 3 on all 12 items where occluder is not 0: the effect of a demand"):
        check(time=3.0)
    with raises(r"^pull is 1, 2 on all 12 items where occluder is not 0"):
        check(**{"pull[near]": 1, "pull[far]": 2})
    check(time=items["time"].where(there, 99.0))
    with raises("^time: 1 training item.* outside its declared range"):
        check(time=items["time"].where(items.index != "item-01", 5.0))
    with raises("^time is undefined on all 24 items, because occluder is 0, so that its effect"):
        check(occluder=0)


def test_the_model_is_that_of_numbers_made_up_by_hand(layout, filled, evaluation):
    """Exactly: what the numbers are does not matter."""
    by_hand = ml.Evaluation(filled, evaluation.successes, evaluation.trials)
    bare = declared(given=False)
    one, other = to_pymc(layout, evaluation, "Ann"), to_pymc(bare, by_hand, "Ann")
    assert not any(np.isnan(one[name].get_value()).any() for name in ("time", "pull"))
    start = one.initial_point()
    densities = [model.compile_logp(mode=AS_WRITTEN)(start) for model in (one, other)]
    assert densities[0] == densities[1]
    slopes = one.compile_dlogp(mode=AS_WRITTEN)(start)
    assert np.isfinite(slopes).all()


@pytest.fixture(scope="module")
def sampling():
    return {"draws": 100, "tune": 150, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}


@pytest.mark.slow
def test_fits_are_stored_resumed_and_forecast(
    layout, items, filled, evaluation, sampling, tmp_path, monkeypatch
):
    store = tmp_path / "store"
    added, add = [], Store.add

    def interrupted(self, unit, *draws):
        if evaluation.subjects[unit.problem] == "Bob":
            raise KeyboardInterrupt
        noted(self, unit, *draws)

    def noted(self, unit, *draws):
        added.append(evaluation.subjects[unit.problem])
        add(self, unit, *draws)

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ml.fit(layout, evaluation, store=store, n_jobs=1, **sampling)
    monkeypatch.setattr(Store, "add", noted)
    fit = ml.fit(layout, evaluation, store=store, **sampling)
    assert added == ["Ann", "Bob"]
    assert ml.load(store).layout == layout
    saved = ml.load(fit.save(tmp_path / "fit.nc"))
    assert saved.layout.fingerprint == layout.fingerprint

    forecast = saved.forecast(items)
    assert forecast.data["trained"].all()
    assert not forecast.data["extrapolated"].any()
    assert np.isfinite(forecast.data["mean"]).all()
    stray = saved.forecast(filled)  # the same items, whatever stands in their empty cells
    assert stray.data.identical(forecast.data)
    moved = saved.forecast(items.assign(time=items["time"] / 2 + 0.5))
    assert moved.data["trained"].all()  # the names say so, whatever the items' numbers
