"""Fits that go on where they stopped: killed, interrupted, or done already."""

import signal
import subprocess
import sys
import weakref
from contextlib import contextmanager

import pytest
from helpers import TESTS, pretend

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.common import progress
from measurement_layouts.inference import fitting
from measurement_layouts.inference.files.store import Store

CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
sys.path.insert(0, sys.argv[1])
from helpers import small_layouts
import measurement_layouts as ml
from measurement_layouts.inference import fitting
from measurement_layouts.inference.files.store import Store

sample, add = fitting.sample_subject, Store.add

def slowly(battery, subject, data, **options):
    print(f"begun {subject}\\n", end="", flush=True)
    time.sleep(0.3)
    return sample(battery, subject, data, **options)

def told(store, sampled):
    add(store, sampled)
    print(f"added {sampled.subject}\\n", end="", flush=True)

fitting.sample_subject, Store.add = slowly, told
layout = small_layouts.animal_ai()
cohort = small_layouts.six_subjects(layout)
ml.fit(layout, cohort, store=sys.argv[2], n_jobs=2, **small_layouts.SAMPLING)
print("finished", flush=True)
"""


def run_and_stop(store, number):
    """Fit in another process and stop it after two subjects; who was begun, who was added."""
    command = [sys.executable, "-c", CHILD, str(TESTS), str(store)]
    told = {"begun": [], "added": []}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            what, subject = line.split()
            told[what].append(subject)
            if len(told["added"]) == 2 and child.poll() is None:
                child.send_signal(number)
                break
        rest = [line.split() for line in child.stdout]
        assert child.wait(timeout=30) != 0
    for what, subject in rest:
        told[what].append(subject)
    return told


@pytest.fixture
def sampled(monkeypatch):
    """Who is sampled from here on."""
    names, real = [], fitting.sample_subject

    def noted(battery, subject, data, **options):
        names.append(subject)
        return real(battery, subject, data, **options)

    monkeypatch.setattr(fitting, "sample_subject", noted)
    return names


@pytest.mark.trust("faults", "a fit that is killed")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(kind, marks=[pytest.mark.slow, pytest.mark.alone])
        for kind in (signal.SIGKILL, signal.SIGINT)
    ],
)
def test_a_fit_that_was_stopped_goes_on(
    animal_ai, cohort, fitted, sampling, same, sampled, tmp_path, number
):
    """Killed at once, or by Ctrl-C; only subjects in flight are sampled again."""
    told = run_and_stop(tmp_path / "store", number)
    assert 2 <= len(told["added"]) < 6
    fit = ml.fit(animal_ai, cohort, store=tmp_path / "store", **sampling)
    assert not set(sampled) & set(told["added"])
    kept = set(cohort.subjects) - set(sampled)
    assert len(set(told["begun"]) - kept) <= 3  # two at work, and one that is being written
    assert fit.subjects == cohort.subjects
    assert all(same(fit, fitted, subject) for subject in cohort.subjects)
    sampled.clear()
    again = ml.fit(animal_ai, cohort, store=tmp_path / "store", **sampling)
    assert sampled == []
    assert all(same(again, fitted, subject) for subject in cohort.subjects)


@contextmanager
def stopped_at(name):
    """A fit that is interrupted before a subject is sampled."""
    real = fitting.sample_subject

    def interrupted(battery, subject, data, **options):
        if subject == name:
            raise KeyboardInterrupt
        return real(battery, subject, data, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "sample_subject", interrupted)
        with pytest.raises(KeyboardInterrupt):
            yield


@pytest.fixture
def pretended(monkeypatch):
    pretend.install(monkeypatch)


@pytest.mark.usefixtures("pretended")
def test_the_seed_of_the_store_is_taken(animal_ai, cohort, sampling, same, tmp_path):
    free = {**sampling, "seed": None}
    store = tmp_path / "store"
    with stopped_at("Dot"):
        ml.fit(animal_ai, cohort, store=store, n_jobs=1, **free)
    some = ml.load(store)
    everybody = ml.fit(animal_ai, cohort, store=store, **free)
    assert some.subjects == cohort.subjects[:3]
    assert all(same(some, everybody, subject) for subject in some.subjects)
    seed = int(everybody.data.attrs["seed"])
    elsewhere = ml.fit(animal_ai, cohort, **{**sampling, "seed": seed})
    assert all(same(elsewhere, everybody, subject) for subject in cohort.subjects)
    with pytest.raises(FitError, match="seed"):
        ml.fit(animal_ai, cohort, store=store, **{**sampling, "seed": seed + 1})


@pytest.mark.trust("faults", "Ctrl-C keeps what is done")
@pytest.mark.usefixtures("pretended")
def test_ctrl_c_keeps_what_is_in_the_store(animal_ai, cohort, sampling, same, sampled, tmp_path):
    whole = ml.fit(animal_ai, cohort, **sampling)
    with stopped_at("Dot"):
        ml.fit(animal_ai, cohort, store=tmp_path / "store", n_jobs=1, **sampling)
    sampled.clear()
    fit = ml.fit(animal_ai, cohort, store=tmp_path / "store", n_jobs=1, **sampling)
    assert sampled == ["Dot", "ace", "nil"]
    assert all(same(fit, whole, subject) for subject in cohort.subjects)


@pytest.mark.usefixtures("pretended")
def test_failures_stay_in_the_store(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    def failing(battery, data, options, seed, cores, starts):
        raise RuntimeError("no finite start")

    store = tmp_path / "store"
    with stopped_at("Bob"):
        ml.fit(animal_ai, cohort, store=store, n_jobs=1, **sampling)
    with monkeypatch.context() as patch:
        pretend.install(patch, failing)
        fit = ml.fit(animal_ai, cohort, store=store, **sampling)
    assert fit.subjects == ["Ann"]
    assert list(fit.failures) == cohort.subjects[1:]
    assert set(fit.failures.values()) == {"RuntimeError: no finite start"}
    assert ml.load(store).failures == fit.failures
    assert ml.fit(animal_ai, cohort, store=store, **sampling).failures == {}  # sampled again


@pytest.mark.usefixtures("pretended")
def test_all_fail_and_the_store_knows(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    def failing(battery, data, options, seed, cores, starts):
        raise RuntimeError("no finite start")

    store = tmp_path / "store"
    with monkeypatch.context() as patch:
        pretend.install(patch, failing)
        with pytest.raises(FitError, match="failed for all 6 subjects"):
            ml.fit(animal_ai, cohort, store=store, **sampling)
    assert len(list((store / "records").glob("*.json"))) == 6
    assert ml.fit(animal_ai, cohort, store=store, **sampling).subjects == cohort.subjects


@pytest.mark.usefixtures("pretended")
def test_mistakes_leave_no_store(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    def refused(battery):
        raise ml.LayoutError("not this prior")

    store = tmp_path / "store"
    for wrong in ({"draws": 1}, {"reruns": -1}, {"method": "vi"}, {"n_jobs": 0}):
        with pytest.raises(FitError):
            ml.fit(animal_ai, cohort, store=store, **{**sampling, **wrong})
    monkeypatch.setattr(fitting, "compile_sampler", refused)
    with pytest.raises(ml.LayoutError):
        ml.fit(animal_ai, cohort, store=store, **sampling)
    assert not store.exists()


@pytest.mark.usefixtures("pretended")
def test_a_finished_store_needs_no_sampler(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    ml.fit(animal_ai, cohort, store=tmp_path / "store", **sampling)
    monkeypatch.setattr(fitting, "compile_sampler", None)
    fit = ml.fit(animal_ai, cohort, store=tmp_path / "store", **sampling)
    assert fit.subjects == cohort.subjects


@pytest.mark.usefixtures("pretended")
def test_what_is_in_the_store_is_not_in_memory(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    """Two threads may be one result ahead of the one being written."""
    kept, alive, add = [], [], Store.add

    def watched(store, sampled):
        kept.append(weakref.ref(sampled.draws))
        add(store, sampled)
        alive.append(sum(draws() is not None for draws in kept))

    monkeypatch.setattr(Store, "add", watched)
    ml.fit(animal_ai, cohort, store=tmp_path / "store", n_jobs=2, **sampling)
    assert len(alive) == 6
    assert max(alive) <= 2  # the one written and the one before


@pytest.mark.usefixtures("pretended")
def test_the_bar_starts_at_those_finished(animal_ai, cohort, sampling, tmp_path, monkeypatch):
    with stopped_at("Cyd"):
        ml.fit(animal_ai, cohort, store=tmp_path / "store", n_jobs=1, **sampling)
    seen = {}

    def watched(work, **options):
        seen.update(options)
        return progress.track(work, **options)

    monkeypatch.setattr(fitting, "track", watched)
    ml.fit(animal_ai, cohort, store=tmp_path / "store", **sampling)
    assert (seen["before"], seen["total"]) == (2, 6)
