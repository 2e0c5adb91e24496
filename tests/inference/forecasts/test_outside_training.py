"""What lies outside a subject's training items: by hand, and against loops over all cells."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, small_layouts
from hypothesis import given, settings
from hypothesis import strategies as st

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.forecasts.scope import Scope
from measurement_layouts.inference.forecasts.training import Training
from measurement_layouts.linking import logistic, presence, product
from measurement_layouts.validation.prediction.splits import masked

NAN = float("nan")


def counting(**declared):
    objects = ml.MetaFeature("objects", **{"low": 1, "high": 9, "unit": "object"} | declared)
    memory = ml.Capability("memory", low=0, high=9, unit="object")
    return ml.Layout("counting", ml.Success("right", logistic(memory - objects)))


def fitted(layout, items, attempted):
    """Give a fit of subjects that attempted the items named; nothing is sampled."""
    done = pd.DataFrame(False, index=list(attempted), columns=items.index)
    for who, names in attempted.items():
        done.loc[who, list(names)] = True
    evaluation = ml.Evaluation(items, done.astype(int), done.astype(int))
    return crafted(layout, evaluation)


def crafted(layout, evaluation):
    shape = len(evaluation.subjects), 1, 4
    rng = np.random.default_rng(1)
    posterior = {
        latent.name: rng.uniform(0.1, 0.9, shape + tuple(map(len, latent.dims.values())))
        for latent in layout.latents
    }
    return small_layouts.crafted(layout, evaluation, posterior)


def table(columns, rows):
    return pd.DataFrame(rows, columns=columns, index=[f"new-{place}" for place in range(len(rows))])


def listed(forecast, *columns):
    found = forecast.outside()[["subject", "item", "kind", "meta_feature", *columns]]
    return list(found.itertuples(index=False, name=None))


# --- values --------------------------------------------------------------------------------------


@pytest.fixture
def three_and_five():
    """Ann attempted 3 and 5 objects, and Bob 9, too."""
    items = pd.DataFrame({"objects": [3, 5, 9, 3]}, index=["a", "b", "c", "d"])
    return fitted(counting(), items, {"Ann": "abd", "Bob": "abc"})


def test_seven_objects_after_three_and_five(three_and_five):
    """Inside the declared range; nine objects, which only Bob attempted, do not count for Ann."""
    new = pd.DataFrame({"objects": [4, 7, 1]}, index=["four", "seven", "one"])
    forecast = three_and_five.forecast(new)
    assert not forecast.data["extrapolated"].any()
    assert listed(forecast, "value", "low", "high", "beyond", "unit") == [
        ("Ann", "seven", "beyond", "objects", 7, 3, 5, 2, "object"),
        ("Ann", "one", "beyond", "objects", 1, 3, 5, -2, "object"),
        ("Bob", "one", "beyond", "objects", 1, 3, 9, -2, "object"),
    ]
    flags = forecast.data["outside_training"]
    assert flags.dims == ("subject", "item")
    assert flags.to_numpy().tolist() == [[False, True, True], [False, False, True]]
    assert forecast.to_frame().set_index(["subject", "item"])["remark"].to_dict() == {
        ("Ann", "four"): "",
        ("Ann", "seven"): "objects 7 is 2 above the training items (3 to 5 object)",
        ("Ann", "one"): "objects 1 is 2 below the training items (3 to 5 object)",
        ("Bob", "four"): "",
        ("Bob", "seven"): "",
        ("Bob", "one"): "objects 1 is 2 below the training items (3 to 9 object)",
    }
    assert "0 of them outside a declared range, 2 outside a subject's training items, 90%" in repr(
        forecast
    )


def test_a_declared_range_is_another_question(three_and_five):
    """Beyond the declared range is beyond the training items, too; the two flags differ."""
    new = table(["objects"], [[12], [9]])
    frame = three_and_five.forecast(new).to_frame()
    assert frame["extrapolated"].tolist() == [True, False, True, False]
    assert frame["outside_training"].tolist() == [True, True, True, False]
    assert "outside a subject's" not in repr(three_and_five.forecast(new[:0]))


def test_one_training_value():
    fit = fitted(counting(), pd.DataFrame({"objects": [3, 4]}, index=["a", "b"]), {"Ann": "a"})
    remark = fit.forecast(table(["objects"], [[3.25]])).to_frame()["remark"]
    assert remark.tolist() == ["objects 3.25 is 0.25 above the training items (3 object)"]


def test_levels_between_those_met():
    """A number between is interpolated; a level that nobody tried is named."""
    items = pd.DataFrame({"objects": [1, 3, 4]}, index=["a", "b", "c"])
    new = table(["objects"], [[1], [2], [4]])
    levels = fitted(counting(low=None, high=None, levels=(1, 2, 3, 4)), items, {"Ann": "ab"})
    assert listed(levels.forecast(new), "beyond") == [
        ("Ann", "new-1", "level", "objects", 0),
        ("Ann", "new-2", "beyond", "objects", 1),
    ]
    assert levels.forecast(new).to_frame().loc[1, "remark"] == "objects 2 is on no training item"
    numbers = fitted(counting(), items, {"Ann": "ab"})
    assert listed(numbers.forecast(new), "beyond") == [("Ann", "new-2", "beyond", "objects", 1)]


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_rounding_is_not_beyond(scale):
    """A float32 column, or one from a text file, has the same values; a thousandth is beyond."""
    values = scale * np.array([0.1, 0.3, 0.7])
    items = pd.DataFrame({"objects": values}, index=["a", "b", "c"])
    fit = fitted(counting(low=0, high=9 * scale), items, {"Ann": "abc"})
    for rough in (values.astype("float32"), np.nextafter(values, 9 * scale)):
        assert fit.forecast(pd.DataFrame({"objects": rough})).outside().empty
    assert len(fit.forecast(pd.DataFrame({"objects": values * 1.001})).outside()) == 1


def test_infinite_values():
    layout = counting(low=0, high=np.inf)
    far = np.array([[5.0], [np.inf]])
    items = pd.DataFrame({"objects": [1, np.inf]}, index=["a", "b"])
    finite = fitted(layout, items, {"Ann": "a"}).forecast(table(["objects"], far))
    assert finite.to_frame()["remark"].tolist() == [
        "objects 5 is 4 above the training items (1 object)",
        "objects ∞ is above the training items (1 object)",
    ]
    assert fitted(layout, items, {"Ann": "ab"}).forecast(table(["objects"], far)).outside().empty


# --- where meta-features are undefined, labelled, or rows are steps ------------------------------


def occlusion():
    flag = ml.MetaFeature("occluder", levels=(0, 1))
    time = ml.MetaFeature("time", low=0, high=20, unit="s", given=flag)
    pull = ml.MetaFeature("pull", levels=(0, 1, 2, 3), labels=("near", "far"), dim="place")
    size = ml.MetaFeature("size", low=-9, high=99)
    focus = ml.Capability("focus", low=0, high=3, labels=("near", "far"), dim="place")
    sees = logistic(ml.Capability("sight", low=0, high=9) - size)
    sees = sees * product(logistic(focus - pull), over="place")
    remembers = logistic(ml.Capability("memory", low=0, high=9, unit="s") - time)
    return ml.Layout("occlusion", ml.Success("found", sees * presence(remembers, flag)))


OCCLUSION = ["size", "pull[near]", "pull[far]", "occluder", "time"]
NOBODYS = [(9, 3, 3, 1, 9), (8, 2, 2, 1, 8)]  # items of the fit without any trial


def test_undefined_values_are_not_compared():
    """The stand-in of a time that nobody saw is no time; without occluders time is new as such."""
    rows = [(1, 0, 0, 0, NAN), (2, 0, 0, 1, 5), (2, 0, 0, 1, 8)]
    items = table(OCCLUSION, [*rows, *NOBODYS])
    fit = fitted(occlusion(), items, {"Ann": items.index[:3], "Bob": items.index[:1]})
    new = table(OCCLUSION, [(1, 0, 0, 0, NAN), (2, 0, 0, 1, 2)])
    forecast = fit.forecast(new)
    assert listed(forecast, "low", "beyond") == [
        ("Ann", "new-1", "beyond", "time", 5, -3),
        ("Bob", "new-1", "beyond", "size", 1, 1),
        ("Bob", "new-1", "beyond", "occluder", 0, 1),
        ("Bob", "new-1", "undefined", "time", *[pytest.approx(NAN, nan_ok=True)] * 2),
    ]
    assert forecast.to_frame()["remark"].iloc[-1] == (
        "size 2 is 1 above the training items (1); occluder 1 is 1 above the training items (0); "
        "time is undefined on all training items"
    )


def test_labels_are_columns_of_their_own():
    items = table(OCCLUSION, [(1, 0, 2, 0, NAN), (1, 1, 0, 0, NAN), *NOBODYS])
    fit = fitted(occlusion(), items, {"Ann": items.index[:2]})
    forecast = fit.forecast(
        table(OCCLUSION, [(1, 2, 0, 0, NAN), (1, 0, 0, 0, NAN), (1, 1, 1, 0, NAN)])
    )
    assert listed(forecast, "value") == [
        ("Ann", "new-0", "beyond", "pull[near]", 2),
        ("Ann", "new-2", "level", "pull[far]", 1),
    ]


@pytest.fixture
def stepped():
    """Ann has outcomes of any kind on 2 and 6 seconds, and none on 9; Bob on all."""
    layout = graded_layouts.layout(*graded_layouts.LEAVES["all"]())
    items = pd.DataFrame({"timeHidden": [2.0, 6.0, 9.0]}, index=["a", "b", "c"])
    rows = {
        "found": [("Ann", "a", 1), ("Bob", "c", 0), ("Bob", "a", 1)],
        "path": [("Ann", "b", 1), ("Bob", "b", 2)],
        "credit": [("Bob", "c", 0.5), ("Ann", "b", 0.5)],
    }
    columns = ["subject", "item", "outcome"]
    tables = {name: pd.DataFrame(own, columns=columns) for name, own in rows.items()}
    return crafted(layout, ml.Evaluation.of_outcomes(layout, tables, items))


def test_steps_are_not_items(stepped):
    """A row for every step: an item was attempted with any of its outcomes, and is told once."""
    new = pd.DataFrame({"timeHidden": [5.0, 8.0]}, index=["five", "eight"])
    forecast = stepped.forecast(new)
    assert listed(forecast, "low", "high", "beyond") == [
        ("Ann", "eight", "beyond", "timeHidden", 2, 6, 2)
    ]
    frame = forecast.to_frame()
    flagged = frame[frame["outside_training"]]
    assert len(flagged) == len(stepped.layout.steps.rows) > 1
    assert set(zip(flagged["subject"], flagged["item"], strict=True)) == {("Ann", "eight")}
    assert (flagged["remark"] == "timeHidden 8 is 2 above the training items (2 to 6 s)").all()
    assert not frame.loc[~frame["outside_training"], "remark"].any()
    assert "2 items, 0 of them outside a declared range, 1 outside a subject's" in repr(forecast)


# --- against loops over all cells ----------------------------------------------------------------


def by_loops(items, new, attempted, levelled):
    """List the findings of every cell, column by column, without arrays."""
    found = set()
    for who, names in attempted.items():
        seen = [items.loc[name].dropna().to_dict() for name in names]
        values = {column: {row[column] for row in seen if column in row} for column in items}
        for item in new.index:
            own = new.loc[item].dropna().to_dict()
            for column, value in own.items():
                known = values[column]
                if not known:
                    found.add((who, item, "undefined", column))
                elif not min(known) <= value <= max(known):
                    found.add((who, item, "beyond", column))
                elif column in levelled and value not in known:
                    found.add((who, item, "level", column))
    return found


def random_items(rng, count, most):
    """Sizes of up to `most` values; times under occluders."""
    flag = rng.integers(0, 2, count)
    columns = {
        "size": rng.integers(0, most, count).astype(float),
        "pull[near]": rng.integers(0, 4, count).astype(float),
        "pull[far]": rng.choice([0.0, 3.0, 1.0], count, p=[0.5, 0.4, 0.1]),
        "occluder": flag.astype(float),
        "time": np.where(flag == 1, rng.integers(1, 6, count), NAN),
    }
    items = pd.DataFrame(columns, index=[f"item-{place}" for place in range(count)])
    items.loc["item-0", ["occluder", "time"]] = 1, 2  # some item has each
    return items


def random_case(seed, most):
    rng = np.random.default_rng(seed)
    items = random_items(rng, 30, most)
    names = list(items.index)
    attempted = {
        who: list(rng.choice(names, rng.integers(1, 31), replace=False)) for who in ("Ann", "Bob")
    }
    attempted["Cyd"] = attempted["Ann"]  # shares what Ann has
    new = random_items(rng, 20, most + 2).rename(index=lambda name: f"new {name}")
    fit = fitted(occlusion(), items, attempted)
    found = fit.forecast(new)
    names = ["subject", "item", "kind", "meta_feature"]
    ours = list(found.outside()[names].itertuples(index=False, name=None))
    return found, ours, items, new, attempted


LEVELLED = ("occluder", "pull[near]", "pull[far]")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), most=st.integers(2, 25))
def test_the_same_as_by_loops(seed, most):
    forecast, ours, items, new, attempted = random_case(seed, most)
    expected = by_loops(items, new, attempted, LEVELLED)
    assert len(ours) == len(set(ours))
    assert set(ours) == expected
    flags = forecast.data["outside_training"].to_pandas().stack()
    assert set(flags.index[flags]) == {cell[:2] for cell in expected}
    remarks = forecast.to_frame().set_index(["subject", "item"])["remark"]
    assert set(remarks.index[remarks != ""]) == {cell[:2] for cell in expected}


def test_training_items_of_others_are_noticed():
    """Twin that must fail: all items of the fit taken for each subject's."""
    _, ours, items, new, attempted = random_case(1, 9)
    everything = {who: list(items.index) for who in attempted}
    assert set(ours) != by_loops(items, new, everything, LEVELLED)


def test_training_items_lie_inside():
    _, _, items, _, attempted = random_case(3, 20)
    fit = fitted(occlusion(), items, attempted)
    forecast = fit.forecast(items)
    trained = forecast.data["trained"].to_numpy()
    assert trained.any()
    assert not forecast.data["outside_training"].to_numpy()[trained].any()


# --- forecasts and scores ------------------------------------------------------------------------


def test_no_meta_features_and_no_items():
    evaluation = small_layouts.counts([1, 0], [1, 1])
    fit = crafted(small_layouts.coin(), evaluation)
    assert fit.forecast(pd.DataFrame(index=["x", "y"])).outside().empty
    assert fit.forecast(pd.DataFrame(index=[])).outside().empty
    assert fit.forecast(pd.DataFrame(index=["x"])).to_frame()["remark"].tolist() == [""]


def test_loaded_fits_know_it(three_and_five, tmp_path):
    new = table(["objects"], [[7], [1]])
    loaded = ml.load(three_and_five.save(tmp_path / "fit.nc"))
    expected = three_and_five.forecast(new)
    pd.testing.assert_frame_equal(loaded.forecast(new).outside(), expected.outside())
    pd.testing.assert_frame_equal(loaded.forecast(new).to_frame(), expected.to_frame())


def test_scores_count_items_outside(three_and_five):
    """Of those that were scored: Ann has no outcome on one object."""
    new = pd.DataFrame({"objects": [4, 7, 1]}, index=["four", "seven", "one"])
    outcomes = pd.DataFrame([[1, 0, np.nan], [1, 0, 1]], index=["Ann", "Bob"], columns=new.index)
    scores = ml.score_forecast(three_and_five.forecast(new), ml.Evaluation.from_wide(outcomes, new))
    assert scores["outside_training"].tolist() == [1, 1]
    assert scores["remark"].tolist() == [
        "outside the training items: 1 of 2 items (objects)",
        "outside the training items: 1 of 3 items (objects)",
    ]


def test_scores_of_steps_count_items(stepped):
    new = pd.DataFrame({"timeHidden": [5.0, 8.0]}, index=["five", "eight"])
    columns = ["subject", "item", "outcome"]
    rows = {
        "found": [("Ann", "five", 1), ("Ann", "eight", 0)],
        "path": [("Ann", "eight", 1)],
        "credit": [("Ann", "five", 0.5)],
    }
    tables = {name: pd.DataFrame(own, columns=columns) for name, own in rows.items()}
    seen = ml.Evaluation.of_outcomes(stepped.layout, tables, new)
    scores = ml.score_forecast(stepped.forecast(new), seen)
    assert scores["outside_training"].tolist() == [1]
    assert "outside the training items: 1 of 2 items (timeHidden)" in scores.loc["Ann", "remark"]
    credit = ml.score_forecast(stepped.forecast(new), seen, outcome="credit")
    assert credit["outside_training"].tolist() == [0]


def test_baselines_have_nothing_to_compare_with():
    items = pd.DataFrame({"objects": [3, 5, 7]}, index=["a", "b", "c"])
    evaluation = ml.Evaluation.from_wide(
        pd.DataFrame([[1, 0, 1]], index=["Ann"], columns=items.index), items
    )
    training = masked(evaluation, ["c"])
    forecast = ml.validation.Estimator("aggregate").forecast(training, ["c"])
    assert "remark" not in forecast.to_frame()
    with pytest.raises(DataError, match="forecast of a baseline, which has no training items"):
        forecast.outside()
    scores = ml.score_forecast(forecast, evaluation)
    assert scores["outside_training"].isna().all()


# --- size ----------------------------------------------------------------------------------------


def test_a_name_that_is_not_in_the_forecast_is_refused():
    layout = small_layouts.labelled(("one", "two"))
    items = pd.DataFrame({"demand[one]": [1.0, 2.0], "demand[two]": [2.0, 1.0]}, ["a", "c"])
    outcomes = pd.DataFrame([[1, 0]], ["Ann"], items.index)
    training = crafted(layout, ml.Evaluation.from_wide(outcomes, items)).forecast(items).training
    for names, message in (((["Bob"], ["a"]), "subject.*Bob"), ((["Ann"], ["b"]), "item.*b")):
        with pytest.raises(ml.DataError, match=rf"unknown {message}; known: "):
            training.table(*names)


def test_memory_is_that_of_the_flags():
    """Two hundred different training sets, 1,500 items of 18 columns: no table of all cells."""
    subjects, count = 200, 1500
    labels = tuple(f"demand {place}" for place in range(18))
    layout = small_layouts.labelled(labels)
    rng = np.random.default_rng(8)
    names = [f"item-{place}" for place in range(count)]
    columns = [f"demand[{label}]" for label in labels]
    items = pd.DataFrame(rng.integers(0, 6, (count, 18)).astype(float), names, columns)
    trials = rng.integers(0, 2, (subjects, count))
    trials = pd.DataFrame(trials, [f"sim-{place}" for place in range(subjects)], names)
    fit = crafted(layout, ml.Evaluation(items, trials * 0, trials))
    scope, _ = Scope.of(fit, items, None), fit.coded
    tracemalloc.start()
    flags = Training.of(scope).outside()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    cells = subjects * count  # a table of 18 columns has 18 bytes a cell, of numbers 144
    assert flags.shape == (subjects, count)
    assert peak < 12 * cells
