"""Whatever stops a process that writes a store costs at most the subject it was writing."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers import TESTS, folders

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.files import hierarchy, records
from measurement_layouts.inference.files import store as store_module


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


class Killed(BaseException):
    """Ends a process here, so to speak."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


def whole(fit, layout, subject):
    """Whether a subject's draws are those that were sampled."""
    drawn = folders.sampled(layout, subject).draws
    return all(
        np.array_equal(group[name].sel(subject=subject), values)
        for group, arrays in (
            (fit.posterior, drawn.posterior),
            (fit.data["sample_stats"].to_dataset(), drawn.statistics),
        )
        for name, values in arrays.items()
    )


def stopping(monkeypatch, module, name, after, error):
    """Let a function do its work some times, and then fail."""
    real, calls = getattr(module, name), []

    def stopped(*args, **options):
        calls.append(name)
        if len(calls) > after:
            raise error
        return real(*args, **options)

    monkeypatch.setattr(module, name, stopped)


def half_a_record(monkeypatch):
    def dump(said, file):
        file.write(json.dumps(said)[:40])
        raise Killed

    monkeypatch.setattr(records.json, "dump", dump)


@pytest.mark.parametrize(
    "stop",
    [
        lambda patch: stopping(patch, store_module, "write_chunk", 2, Killed()),
        lambda patch: stopping(patch, store_module, "write_record", 0, Killed()),
        half_a_record,
    ],
    ids=["some chunks are there", "all are, and the record is not", "the record is half written"],
)
def test_a_subject_without_its_record_is_not_there(path, animal_ai, monkeypatch, stop):
    outcomes = folders.evaluation(3)
    with folders.opened(path, animal_ai, outcomes) as store:
        store.add(folders.sampled(animal_ai, "s0"))
        with monkeypatch.context() as patch:
            stop(patch)
            with pytest.raises(Killed):
                store.add(folders.sampled(animal_ai, "s1"))
        assert store.finished == {"s0"}
    assert ml.load(path).subjects == ["s0"]
    with folders.opened(path, animal_ai, outcomes) as store:
        assert store.finished == {"s0"}
        store.add(folders.sampled(animal_ai, "s1"))
        fit = ml.Fit.of(store.posterior())
    assert fit.subjects == ["s0", "s1"]
    assert all(whole(fit, animal_ai, subject) for subject in fit.subjects)


def test_a_store_that_was_being_made(path, animal_ai, monkeypatch):
    outcomes = folders.evaluation(3)
    for after in range(0, 30, 4):
        with monkeypatch.context() as patch:
            stopping(patch, hierarchy, "_write", after, Killed())
            stopping(patch, hierarchy, "_publish", 0, Killed())
            with pytest.raises(Killed):
                folders.opened(path, animal_ai, outcomes)
        with raises("there is no store in the folder"):
            ml.load(path)
    with folders.opened(path, animal_ai, outcomes) as store:
        store.add(folders.sampled(animal_ai, "s0"))
    assert ml.load(path).subjects == ["s0"]


def test_arrays_of_draws_that_were_being_made(path, animal_ai, monkeypatch):
    outcomes = folders.evaluation(3)
    with folders.opened(path, animal_ai, outcomes) as store, monkeypatch.context() as patch:
        stopping(patch, hierarchy, "_publish", 0, Killed())
        with pytest.raises(Killed):
            store.add(folders.sampled(animal_ai, "s0"))
    with folders.opened(path, animal_ai, outcomes) as store:
        assert store.finished == set()
        store.add(folders.sampled(animal_ai, "s0"))
        assert whole(ml.Fit.of(store.posterior()), animal_ai, "s0")


@pytest.mark.parametrize("function", ["write_chunk", "write_record"])
def test_a_full_disk(path, animal_ai, monkeypatch, function):
    outcomes = folders.evaluation(3)
    with folders.opened(path, animal_ai, outcomes) as store:
        store.add(folders.sampled(animal_ai, "s0"))
        with monkeypatch.context() as patch:
            full = OSError(28, "No space left on device")
            stopping(patch, store_module, function, 0, full)
            with raises(
                "could not write s1 into .*store: .*No space left on device; kept in it: 1 "
                "subject; make room, and fit again with the same store"
            ):
                store.add(folders.sampled(animal_ai, "s1"))
        assert store.posterior().subjects == ["s0"]
        store.add(folders.sampled(animal_ai, "s1"))  # there is room again
        assert store.posterior().subjects == ["s0", "s1"]


def test_a_disk_that_is_full_from_the_start(path, animal_ai, monkeypatch):
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        stopping(patch, hierarchy, "_write", 3, full)
        with raises("could not write into .*store: .*No space left on device; nothing in it is lo"):
            folders.opened(path, animal_ai, folders.evaluation(3))
    folders.opened(path, animal_ai, folders.evaluation(3)).close()


OPTIONS = {"draws": 400, "tune": 7, "chains": 2}
MANY = 1500  # more than a process writes before it is killed
WRITE = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/inference/files"]
from helpers import folders, small_layouts
import test_interrupted_stores as here

layout = small_layouts.animal_ai()
with folders.opened(sys.argv[2], layout, folders.evaluation(here.MANY), here.OPTIONS) as store:
    for subject in folders.evaluation(here.MANY).subjects:
        if subject not in store.finished:
            store.add(folders.sampled(layout, subject, here.OPTIONS))
            print(subject, flush=True)
"""


def kill_after(path, layout, count, wait):
    """Kill a process that writes, some time after so many subjects; whom it has written."""
    command = [sys.executable, "-c", WRITE, str(TESTS), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        said = [writer.stdout.readline().strip() for _ in range(count)]
        with raises("is in use, by another process"):
            folders.opened(path, layout, folders.evaluation(MANY), OPTIONS)
        time.sleep(wait)
        writer.kill()
        said += writer.stdout.read().split()
    assert writer.returncode != 0
    return said


def killed_and_gone_on_with(path, layout, waits):
    finished = []
    for count, wait in enumerate(waits, start=1):
        finished += kill_after(path, layout, count, wait)
        with folders.opened(path, layout, folders.evaluation(MANY), OPTIONS) as store:  # no lock
            fit = ml.Fit.of(store.posterior())
        kept = fit.subjects
        assert kept[: len(finished)] == finished
        assert len(kept) <= len(finished) + 1  # one may have been written and not yet been told
        finished = kept
        drawn = fit.posterior["noiseLevel"].to_numpy()
        for place, subject in enumerate(kept):
            sampled = folders.sampled(layout, subject, OPTIONS).draws
            assert np.array_equal(drawn[place], sampled.posterior["noiseLevel"])
        assert fit.data["sample_stats"]["energy"].notnull().all()


@pytest.mark.trust("faults", "a store whose writer is killed")
@pytest.mark.slow
@pytest.mark.alone
def test_kill_9_at_many_moments(path, animal_ai, rng):
    killed_and_gone_on_with(path, animal_ai, waits=rng.uniform(0, 0.1, 6))
