"""A store: written subject by subject, gone on with later, and answering as a fit in memory."""

import pickle
import shutil
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import folders, small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.files import records as chunks
from measurement_layouts.inference.files import storage
from measurement_layouts.inference.posterior import diagnostics, summaries
from measurement_layouts.inference.posterior.posterior import posterior_draws, success_rates
from measurement_layouts.inference.sampling.draws import Sampled
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


@pytest.fixture(scope="module", params=["plain", "labelled"])
def both(request, tmp_path_factory, animal_ai):
    """The same draws in memory and in a store, added in another order; and where the store is."""
    layout, evaluation = animal_ai, folders.evaluation()
    if request.param == "labelled":
        layout, evaluation = folders.labelled()
    path = tmp_path_factory.mktemp("both") / "store"
    collected = folders.collected(layout, evaluation)
    first, *others, last = evaluation.subjects
    found = [folders.sampled(layout, subject) for subject in others]
    found.append(folders.sampled(layout, first, attempts=3, reason="R-hat 1.2"))
    found.append(Sampled(last, None, attempts=2, reason="RuntimeError: no start"))
    with folders.opened(path, layout, evaluation) as store:
        for one in found[::-1]:
            collected.add(one)
        for one in found:
            store.add(one)
        assert store.finished == collected.finished == set(evaluation.subjects) - {last}
        assert store.seed == collected.seed == 3
        return ml.Fit.of(collected.posterior()), ml.Fit.of(store.posterior()), path


def test_in_memory_and_stored_fits_answer_alike(both):
    memory, stored, _ = both
    assert stored.layout == memory.layout
    assert stored.subjects == memory.subjects
    assert stored.failures == memory.failures
    assert stored.attempts == memory.attempts
    assert repr(stored) == repr(memory)
    assert stored.data.identical(memory.data)
    for group in memory.data.children:
        for name, variable in memory.data[group].variables.items():
            assert stored.data[group][name].dtype == variable.dtype, (group, name)
    pd.testing.assert_frame_equal(stored.profiles(prob=0.8), memory.profiles(prob=0.8))
    pd.testing.assert_frame_equal(stored.diagnostics(), memory.diagnostics())
    items = folders.labelled()[1].items if "skill" in memory.prior else small_layouts.battery(9)
    assert stored.forecast(items).data.identical(memory.forecast(items).data)
    pd.testing.assert_series_equal(success_rates(stored), success_rates(memory))


def test_draws_of_another_subject_are_seen(both):
    """Twin that must fail: the comparison above is of numbers, not of names."""
    memory, stored, _ = both
    data = memory.data.copy(deep=True)
    latent = memory.layout.latents[0].name
    data["posterior"][latent][0] = data["posterior"][latent][1]
    assert not stored.data.identical(data)


def test_stored_fits_load(both):
    memory, _, path = both
    again = ml.load(path)
    assert again.data.identical(memory.data)
    assert again.attempts == memory.attempts
    assert ml.load(str(path), layout=memory.layout).layout == memory.layout


def test_stored_fits_save_to_one_file(both, tmp_path, monkeypatch):
    memory, stored, _ = both
    whole = ml.load(stored.save(tmp_path / "whole.nc"))
    assert whole.data.identical(memory.data)
    assert whole.attempts == memory.attempts
    monkeypatch.setattr(storage, "_BLOCK", 300)  # bytes: less than one subject's draws
    parts = ml.load(stored.save(tmp_path / "parts.nc"))
    assert parts.data.identical(memory.data)
    assert ml.load(memory.save(tmp_path / "memory.nc")).data.identical(memory.data)


def test_any_part_of_the_draws_can_be_asked_for(both):
    memory, stored, _ = both
    for latent in memory.layout.latents:
        ours, theirs = (fit.posterior[latent.name] for fit in (stored, memory))
        for part in (
            {"subject": 1},
            {"subject": [1, 0], "draw": 3},
            {"subject": slice(0, 1), "chain": [1, 0], "draw": [5, 2, 2]},
            {"chain": -1},
            {"subject": []},
        ):
            assert ours.isel(part).identical(theirs.isel(part))
        assert ours.mean(["chain", "draw"]).equals(theirs.mean(["chain", "draw"]))


# --- on the disk ---------------------------------------------------------------------------------


def test_xarray_opens_it(filled, animal_ai, outcomes):
    with xr.open_datatree(filled, engine="zarr") as tree:
        posterior = tree["posterior"]
        assert posterior["noiseLevel"].dims == ("subject", "chain", "draw")
        assert posterior["subject"].to_numpy().tolist() == outcomes.subjects
        for subject in ("s0", "s2", "s3"):
            drawn = folders.sampled(animal_ai, subject).draws
            for name, values in drawn.posterior.items():
                found = posterior[name].sel(subject=subject).to_numpy()
                np.testing.assert_array_equal(found, values)
            for name, values in drawn.statistics.items():
                found = tree["sample_stats"][name].sel(subject=subject)
                np.testing.assert_array_equal(found, values)
                assert found.dtype == values.dtype
        assert posterior["noiseLevel"].sel(subject=["s1", "s4"]).isnull().all()
        observed = tree["observed_data"]["successes"].to_numpy()
        np.testing.assert_array_equal(observed, outcomes.cells["successes"])
        fit = ml.load(filled)
        assert set(fit.data.attrs) - set(tree.attrs) == {"failures", "attempts"}
        assert all(tree.attrs[name] == fit.data.attrs[name] for name in ("layout", "seed", "tune"))
        assert set(tree.children) == set(fit.data.children)


def test_one_chunk_per_subject(filled):
    for array in ("posterior/noiseLevel", "sample_stats/diverging"):
        found = {file.name for file in (filled / array).iterdir()}
        assert found == {"zarr.json", "c.0.0.0", "c.2.0.0", "c.3.0.0"}


# --- going on ------------------------------------------------------------------------------------


def test_going_on(filled, animal_ai, outcomes):
    with folders.opened(filled, animal_ai, outcomes, seed=None) as store:
        assert store.seed == 3
        assert store.finished == {"s0", "s2", "s3"}
        store.add(folders.sampled(animal_ai, "s1"))  # it had failed
        fit = ml.Fit.of(store.posterior())
        assert fit.subjects == ["s0", "s1", "s2", "s3"]
        assert fit.failures == {}
        assert fit.attempts == {"s0": 2}
        store.add(folders.sampled(animal_ai, "s4"))
        assert store.posterior().subjects == outcomes.subjects
    assert ml.load(filled).subjects == outcomes.subjects


def test_a_new_store_without_a_seed_has_one_of_its_own(tmp_path, animal_ai, outcomes):
    seeds = []
    for place in ("one", "other"):
        with folders.opened(tmp_path / place, animal_ai, outcomes, seed=None) as store:
            seeds.append(store.seed)
        with folders.opened(tmp_path / place, animal_ai, outcomes, seed=None) as store:
            assert store.seed == seeds[-1]
    assert seeds[0] != seeds[1]


def test_nothing_to_show_yet(path, animal_ai, outcomes):
    with folders.opened(path, animal_ai, outcomes) as store:
        with raises("store has no draws; fit with this store to sample"):
            store.posterior()
        store.add(Sampled("s1", None, reason="RuntimeError: no start"))
        with raises("has no draws; s1: RuntimeError: no start; fit"):
            store.posterior()
    with raises("has no draws"):
        ml.load(path)


def test_others_may_read_while_it_is_written(filled, animal_ai, outcomes):
    with folders.opened(filled, animal_ai, outcomes) as store:
        before = ml.load(filled)
        store.add(folders.sampled(animal_ai, "s4"))
        assert before.subjects == ["s0", "s2", "s3"]
        assert ml.load(filled).subjects == ["s0", "s2", "s3", "s4"]


# --- refusing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"seed": 4}, "store was created with seed=3, but now it is seed=4; give another store, o"),
        ({"reruns": 0}, "created with reruns=1, but now it is reruns=0"),
        ({"method": "grid"}, "created with method=nuts, but now it is method=grid"),
        (
            {"options": {"draws": 30, "tune": 7, "chains": 3}},
            "with draws=20, chains=2, but now it is draws=30, chains=3",
        ),
        (
            {"options": folders.OPTIONS | {"target_accept": 0.9}},
            "target_accept=0.8, but now it is target_accept=0.9",
        ),
    ],
)
def test_other_options(filled, animal_ai, outcomes, asked, message):
    with raises(message):
        folders.opened(filled, animal_ai, outcomes, **asked)
    folders.opened(filled, animal_ai, outcomes).close()


@pytest.mark.trust("faults", "a store of another layout")
def test_another_layout(filled, outcomes):
    layout = small_layouts.animal_ai(toward=0.5)
    with raises("store has a layout with fingerprint .*, but 'animal-ai' has .*; give another"):
        folders.opened(filled, layout, outcomes)
    with raises(r"is a fit of the layout 'animal-ai' \(.*\), not of 'animal-ai' \("):
        ml.load(filled, layout=layout)


def changed(outcomes, what):
    """Another evaluation, by one change."""
    items, solved, tried = outcomes.items.copy(), outcomes.successes.copy(), outcomes.trials.copy()
    subjects, names = outcomes.subjects, outcomes.items.index
    if what == "feature":
        items.loc["item-05", "rewardSize"] += 1e-12
    if what == "outcome":
        solved.loc["s2", "item-03"] = 1 - solved.loc["s2", "item-03"]
    if what == "trials":
        solved.loc["s1", "item-03"] = tried.loc["s1", "item-03"] = 0
    other = ml.Evaluation(items, solved, tried)
    chosen = {
        "more items": lambda: outcomes + copied(outcomes),
        "fewer items": lambda: other.select(items=names[:-1]),
        "items turned": lambda: other.select(items=names[::-1]),
        "more subjects": lambda: folders.evaluation(7),
        "fewer subjects": lambda: other.select(subjects=subjects[1:]),
        "subjects turned": lambda: other.select(subjects=subjects[::-1]),
    }
    return chosen.get(what, lambda: other)()


def copied(outcomes):
    """The first item under another name."""
    (first,) = outcomes.items.index[:1]
    one = outcomes.select(items=[first])
    tables = one.items, one.successes.T, one.trials.T
    items, solved, tried = (table.rename(index={first: "again"}) for table in tables)
    return ml.Evaluation(items, solved.T, tried.T)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("more items", "fit with 24 items, but now there are 25; the first different ones are the"),
        ("fewer items", "with 24 items, but now there are 23; .* are the last; give another store"),
        ("items turned", "now there are 24; the first different ones are item-00 and item-23; gi"),
        ("more subjects", "with 5 subjects, but now there are 7; .* are the last; give another"),
        ("fewer subjects", "with 5 subjects, but now there are 4; .* are s0 and s1; give another"),
        ("subjects turned", "5 subjects, but now there are 5; .* are s0 and s4; give another sto"),
        ("feature", "with other values of rewardSize on 1 item: item-05; give another store"),
        ("outcome", "with other outcomes of 1 subject: s2; give another store, or the same eval"),
        ("trials", "with other outcomes of 1 subject: s1; give another store, or the same eval"),
    ],
)
def test_another_evaluation_is_refused(filled, animal_ai, outcomes, what, message):
    """And leaves the store as it was."""
    before = {file: file.read_bytes() for file in filled.rglob("*.json")}
    with raises(message):
        folders.opened(filled, animal_ai, changed(outcomes, what))
    assert {file: file.read_bytes() for file in filled.rglob("*.json")} == before
    folders.opened(filled, animal_ai, outcomes).close()


def test_properties_that_the_layout_does_not_use_may_differ(filled, animal_ai, outcomes):
    colour = outcomes.items.assign(colour="blue")
    same = ml.Evaluation(colour, outcomes.successes, outcomes.trials)
    folders.opened(filled, animal_ai, same).close()


def test_something_else_is_there(tmp_path, animal_ai, outcomes):
    folder = tmp_path / "folder"
    folder.mkdir()
    folders.opened(folder, animal_ai, outcomes).close()  # an empty one is taken
    for name, make in (
        ("photos", lambda path: (path.mkdir(), (path / "cat.png").write_text("cat"))),
        ("file", lambda path: path.write_text("")),
        ("other", lambda path: xr.Dataset({"p": ("x", [1.0])}).to_zarr(path, consolidated=False)),
    ):
        path = tmp_path / name
        make(path)
        before = sorted(path.rglob("*"))
        with raises(f"{name} exists and is not a store of fits; give another folder"):
            folders.opened(path, animal_ai, outcomes)
        assert sorted(path.rglob("*")) == before


def test_where_nothing_can_be_written(tmp_path, animal_ai, outcomes):
    (tmp_path / "file").write_text("")
    with raises("cannot write into .*file.store: Not a directory; give another folder"):
        folders.opened(tmp_path / "file" / "store", animal_ai, outcomes)


def test_in_use(filled, animal_ai, outcomes):
    with (
        folders.opened(filled, animal_ai, outcomes),
        raises("store is in use, by another process"),
    ):
        folders.opened(filled, animal_ai, outcomes)
    folders.opened(filled, animal_ai, outcomes).close()


def test_a_refused_store_is_not_locked(filled, animal_ai, outcomes):
    with raises("seed"):
        folders.opened(filled, animal_ai, outcomes, seed=4)
    folders.opened(filled, animal_ai, outcomes).close()


# --- reading little ------------------------------------------------------------------------------


@pytest.fixture
def read(monkeypatch):
    """Subjects and arrays whose draws were read."""
    real, found = chunks.DrawsOnDisk._subject, []

    def counted(self, place):
        found.append((self.subjects[place][1].subject, self.name))
        return real(self, place)

    monkeypatch.setattr(chunks.DrawsOnDisk, "_subject", counted)
    return found


def test_opening_reads_no_draws(filled, read):
    fit = ml.load(filled)
    assert "3 subjects" in repr(fit)
    assert "noiseLevel" in repr(fit.data)
    assert len(fit.data.copy()["posterior"]["noiseLevel"]) == len(fit.subjects) == 3
    assert success_rates(fit).notna().all()
    assert read == []


def test_only_what_is_asked_for_is_read(filled, read, animal_ai):
    fit = ml.load(filled)
    element = elements(animal_ai)[0]
    posterior_draws(fit, element, "s2")
    assert read == [("s2", "posterior/navigationAbility")]
    for ask in (
        lambda: diagnostics.profiles(fit, subjects=["s3"]),
        lambda: diagnostics.diagnose(fit, subjects=["s3"]),
        lambda: fit.forecast(small_layouts.battery(3), subjects=["s3"]),
        lambda: ml.plots.prior_posterior(fit, "s3"),
        lambda: ml.plots.profile_forest(fit, subjects=["s3"]),
    ):
        read.clear()
        ask()
        assert {subject for subject, _ in read} == {"s3"}


def test_nothing_is_kept(filled, read):
    fit = ml.load(filled)
    for _ in range(2):
        read.clear()
        assert fit.posterior["noiseLevel"].to_numpy().shape == (3, 2, 20)
        assert len(read) == 3


def test_diagnostics_read_some_subjects_at_a_time(filled, monkeypatch):
    real, rows = chunks.DrawsOnDisk._read, []

    def counted(self, key):
        found = real(self, key)
        rows.append(len(found))
        return found

    monkeypatch.setattr(chunks.DrawsOnDisk, "_read", counted)
    fit = ml.load(filled)
    again = 4 * int((fit.diagnostics()["rhat"] > 1.01).sum())  # latents: to see if modes are apart
    assert again > 0
    for size, most in ((1, 1), (2 * 2 * 20 * 8, 2), (10**6, 3)):
        monkeypatch.setattr(summaries, "_BLOCK", size)
        rows.clear()
        ml.load(filled).diagnostics()
        assert max(rows) == most
        assert sum(rows) == again + 3 * (
            4 + 1
        )  # subjects, latents and divergences: each chunk once


@pytest.mark.slow
@pytest.mark.alone
def test_memory_does_not_grow_with_the_subjects(path, animal_ai):
    """500 subjects' draws would be 64 MB; blocks of 1 MiB and what is computed of them are not."""
    options = {"draws": 2000, "tune": 1, "chains": 2}
    outcomes = folders.evaluation(500)
    with folders.opened(path, animal_ai, outcomes, options) as store:
        for subject in outcomes.subjects:
            store.add(folders.sampled(animal_ai, subject, options))
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
