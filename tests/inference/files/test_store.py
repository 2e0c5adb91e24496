"""A store: written unit by unit, continued later, and answering as a fit in memory."""

import pickle
import shutil
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from helpers import folders, pretend, small_layouts
from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.files import store as files
from measurement_layouts.inference.posterior import diagnostics
from measurement_layouts.inference.posterior.posterior import posterior_draws, success_rates
from measurement_layouts.inference.sampling.draws import Unit
from measurement_layouts.layouts.elements import elements


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


@pytest.fixture
def outcomes():
    return folders.evaluation()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


@pytest.fixture(scope="module")
def template(animal_ai, tmp_path_factory):
    """The store that tests take copies of."""
    return folders.filled(tmp_path_factory.mktemp("stores") / "store", animal_ai)


@pytest.fixture
def filled(template, path):
    """Five subjects: s0, s2 and s3 are finished, s1 failed, s4 is to do."""
    return shutil.copytree(template, path)


# --- the same answers as in memory ---------------------------------------------------------------


@pytest.fixture(scope="module", params=["plain", "labelled", "jointly"])
def both(request, tmp_path_factory, animal_ai):
    """The same draws in memory and in a store, added in another order; and where the store is."""
    path = tmp_path_factory.mktemp("both") / "store"
    if request.param == "jointly":
        options = {"draws": 20, "tune": 5, "chains": 2, "seed": 3, "progressbar": False}
        with pytest.MonkeyPatch.context() as patch:
            pretend.install_jointly(patch)
            fits = [ml.fit(exam_layout(), cohort_data(), **options, store=s) for s in (None, path)]
        return *fits, path
    layout, evaluation = animal_ai, folders.evaluation()
    if request.param == "labelled":
        layout, evaluation = folders.labelled()
    last = len(evaluation.subjects) - 1
    units = [(Unit(0, attempt, 0), "R-hat 1.2") for attempt in (1, 2)]
    units += [(Unit(row, 1, 0), "") for row in range(1, last)]
    fits = []
    for place, order in ((None, units[::-1]), (path, units)):
        with folders.opened(place, layout, evaluation) as store:
            for unit, reason in order:
                name = f"{evaluation.subjects[unit.problem]} {unit.attempt}"
                store.add(unit, folders.sampled(layout, name), reason)
            for attempt in (1, 2):
                store.add(Unit(last, attempt, 0), None, "RuntimeError: no start")
            assert store.seed == 3
            fits.append(ml.Fit.of(store.posterior()))
    return *fits, path


def test_in_memory_and_stored_fits_answer_alike(both):
    memory, stored, path = both
    for fit in (stored, ml.load(path), ml.load(str(path), layout=memory.layout)):
        assert fit.layout == memory.layout
        assert fit.failures == memory.failures
        assert fit.attempts == memory.attempts
        assert fit.data.identical(memory.data)
    for group in memory.data.children:
        for name, variable in memory.data[group].variables.items():
            assert stored.data[group][name].dtype == variable.dtype, (group, name)
    pd.testing.assert_frame_equal(stored.profiles(prob=0.8), memory.profiles(prob=0.8))
    pd.testing.assert_frame_equal(stored.diagnostics(), memory.diagnostics())
    changed = memory.data.copy(deep=True)  # twin: numbers are compared, not names
    changed["posterior"][memory.layout.latents[0].name][{"draw": 0}] += 1e-9
    assert not stored.data.identical(changed)


def test_stored_fits_save_to_one_file(both, tmp_path):
    memory, stored, _ = both
    assert ml.load(stored.save(tmp_path / "fit.nc")).data.identical(memory.data)


# --- continuing ----------------------------------------------------------------------------------


def test_a_store_is_continued(filled, animal_ai, outcomes):
    with folders.opened(filled, animal_ai, outcomes, seed=None) as store:
        assert store.seed == 3
        todo = [store.next_units(row) for row in range(5)]
        assert todo == [[], [Unit(1, 1, 0)], [], [], [Unit(4, 1, 0)]]  # s1 had failed
        folders.add(store, animal_ai, 1)
        fit = ml.Fit.of(store.posterior())
        assert fit.subjects == ["s0", "s1", "s2", "s3"]
        assert fit.failures == {}
        assert fit.attempts == {"s0": 2}
        assert ml.load(filled).subjects == fit.subjects  # others read while it is written
        folders.add(store, animal_ai, 4)
    assert ml.load(filled).subjects == outcomes.subjects


def test_nothing_to_show_yet(path, animal_ai, outcomes):
    with folders.opened(path, animal_ai, outcomes, reruns=0) as store:
        with raises("store has no draws; fit with this store to sample"):
            store.posterior()
        store.add(Unit(1, 1, 0), None, "RuntimeError: no start")
    with raises("has no draws; s1: RuntimeError: no start; fit"):
        ml.load(path)


def test_a_joint_fit_without_all_its_chains_has_nothing_to_show(path, monkeypatch):
    def stop(model, name, data, unit, seed):
        if unit.block:
            raise KeyboardInterrupt
        return pretend.draw_chain(model, name, data, unit, seed)

    pretend.install_jointly(monkeypatch, stop)
    options = {"draws": 20, "chains": 2, "n_jobs": 1, "progressbar": False}
    with pytest.raises(KeyboardInterrupt):
        ml.fit(exam_layout(), cohort_data(), store=path, **options)
    with raises("has no draws; fit with this store to sample all chains"):
        ml.load(path)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 4}, "store holds another fit"),
        ({"reruns": 0}, r"\(reruns: 1, now 0\)"),
        ({"method": "grid"}, r"\(method: nuts, now grid\)"),
        ({"options": {"draws": 30, "tune": 7, "chains": 3}}, r"\(draws: 20, now 30,"),
    ],
)
def test_other_options(filled, animal_ai, outcomes, options, message):
    with raises(message), folders.opened(filled, animal_ai, outcomes, **options):
        pass
    with folders.opened(filled, animal_ai, outcomes):  # it is not locked
        pass


def changed(outcomes, what):
    """Another evaluation, by one change."""
    items, solved, tried = outcomes.items.copy(), outcomes.successes.copy(), outcomes.trials.copy()
    if what == "feature":
        items.loc["item-05", "rewardSize"] += 1e-12
    if what == "outcome":
        solved.loc["s2", "item-03"] = 1 - solved.loc["s2", "item-03"]
    if what == "trials":
        solved.loc["s1", "item-03"] = tried.loc["s1", "item-03"] = 0
    other = ml.Evaluation(items, solved, tried)
    selected = {
        "fewer items": {"items": items.index[:-1]},
        "items turned": {"items": items.index[::-1]},
        "fewer subjects": {"subjects": outcomes.subjects[1:]},
        "subjects turned": {"subjects": outcomes.subjects[::-1]},
    }
    return other.select(**selected[what]) if what in selected else other


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("fewer items", r"\(other items\)"),
        ("items turned", r"\(other items\)"),
        ("fewer subjects", r"\(other subjects\)"),
        ("subjects turned", r"\(other subjects\)"),
        ("feature", r"\(other rewardSize\)"),
        ("outcome", r"\(other outcomes of s2,"),
        ("trials", r"\(other outcomes of s1,"),
    ],
)
def test_another_evaluation_is_refused(filled, animal_ai, outcomes, what, message):
    """And leaves the store as it was."""
    before = sorted((file, file.stat().st_mtime_ns) for file in filled.iterdir())
    with raises(message), folders.opened(filled, animal_ai, changed(outcomes, what)):
        pass
    assert sorted((file, file.stat().st_mtime_ns) for file in filled.iterdir()) == before
    unused = outcomes.items.assign(colour="blue")  # a property that the layout does not use
    same = ml.Evaluation(unused, outcomes.successes, outcomes.trials)
    with folders.opened(filled, animal_ai, same):
        pass


def test_something_else_is_there(tmp_path, animal_ai, outcomes):
    folder = tmp_path / "folder"
    folder.mkdir()
    with folders.opened(folder, animal_ai, outcomes):  # an empty one is taken
        pass
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "head.npz").write_text("mine")
    (tmp_path / "file").write_text("")
    for name in ("photos", "file"):
        before = sorted(tmp_path.rglob("*"))
        message = f"{name} exists and is not a store of fits; give another folder"
        with raises(message), folders.opened(tmp_path / name, animal_ai, outcomes):
            pass
        assert sorted(tmp_path.rglob("*")) == before
    with raises("there is no store in the folder .*photos; give a folder used as store= of fit"):
        ml.load(tmp_path / "photos")
    message = "cannot write into .*file.store: Not a directory; give another folder"
    with raises(message), folders.opened(tmp_path / "file" / "store", animal_ai, outcomes):
        pass


def test_in_use(filled, animal_ai, outcomes):
    with (
        folders.opened(filled, animal_ai, outcomes),
        raises("store is in use, by another process"),
        folders.opened(filled, animal_ai, outcomes),
    ):
        pass


# --- reading little ------------------------------------------------------------------------------


@pytest.fixture
def read(monkeypatch):
    """Rows and arrays whose draws were read."""
    real, rows = files._read_array, []

    def counted(path, mark, name, unit):
        rows.append((unit.problem, name))
        return real(path, mark, name, unit)

    monkeypatch.setattr(files, "_read_array", counted)
    return rows


def test_only_what_is_asked_for_is_read(filled, read, animal_ai):
    fit = ml.load(filled)
    assert "3 subjects" in repr(fit)
    assert fit.data.copy()["posterior"]["noiseLevel"].sizes["subject"] == 3
    assert success_rates(fit).notna().all()
    assert read == []
    posterior_draws(fit, elements(animal_ai)[0], "s2")
    assert read == [(2, "posterior/navigationAbility")]
    for ask in (
        lambda: diagnostics.profiles(fit, subjects=["s3"]),
        lambda: diagnostics.diagnose(fit, subjects=["s3"]),
        lambda: fit.forecast(small_layouts.battery(3), subjects=["s3"]),
        lambda: ml.plots.profile_forest(fit, subjects=["s3"]),
    ):
        read.clear()
        ask()
        assert {row for row, _ in read} == {3}
    for _ in range(2):  # nothing is kept
        read.clear()
        assert fit.posterior["noiseLevel"].to_numpy().shape == (2, 20, 3)
        assert len(read) == 3


@pytest.mark.slow
@pytest.mark.alone
def test_memory_does_not_grow_with_the_subjects(path, animal_ai):
    """500 subjects' draws would be 64 MB; blocks of 1 MiB and what is computed of them are not."""
    options = {"draws": 2000, "tune": 1, "chains": 2}
    with folders.opened(path, animal_ai, folders.evaluation(500), options) as store:
        for row in range(500):
            folders.add(store, animal_ai, row, options=options)
    peaks = []
    for count in (125, 500):
        fit = ml.load(path)
        tracemalloc.start()
        diagnostics.diagnose(fit, subjects=fit.subjects[:count])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 24e6
    assert peaks[1] - peaks[0] < 375 * 4e3  # the table has 4 rows for each subject
    tracemalloc.start()
    fit.posterior.load()
    assert tracemalloc.get_traced_memory()[1] > 60e6  # twin: this is what reading all would take
    tracemalloc.stop()


def test_pickled(filled):
    fit = ml.load(filled)
    assert pickle.loads(pickle.dumps(fit)).data.identical(fit.data)
    assert np.isfinite(fit.profiles()["mean"]).all()
