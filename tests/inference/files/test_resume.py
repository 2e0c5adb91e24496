"""Fits of both kinds that go on where they stopped: killed, interrupted, or done already."""

import signal
import subprocess
import sys

import pytest
from helpers import TESTS, pretend, small_layouts
from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference import loop
from measurement_layouts.inference.files.store import Store

JOINT = {"draws": 20, "tune": 20, "chains": 4, "seed": 3, "reruns": 0, "progressbar": False}
UNITS = {"alone": 6, "jointly": 4}

CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/inference/files"]
import test_resume as here
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference import loop

add = Store.add

def slowly(real):
    def call(*arguments):
        time.sleep(0.3)
        return real(*arguments)
    return call

def noted(store, unit, draws, reason=""):
    add(store, unit, draws, reason)
    print(unit.problem, unit.block, flush=True)

for model in (loop.Alone, loop.Jointly):
    model.sample = slowly(model.sample)
Store.add = noted
here.fit(sys.argv[3], store=sys.argv[2], n_jobs=2)
"""


def fit(kind, **options):
    """Fit six subjects alone, or twelve jointly."""
    if kind == "jointly":
        return ml.fit(exam_layout(), cohort_data(), **JOINT | options)
    layout = small_layouts.animal_ai()
    cohort = small_layouts.six_subjects(layout)
    return ml.fit(layout, cohort, **small_layouts.SAMPLING | options)


@pytest.fixture(params=["alone", "jointly"])
def kind(request):
    return request.param


@pytest.fixture
def pretended(monkeypatch):
    pretend.install(monkeypatch)
    pretend.install_jointly(monkeypatch)


@pytest.fixture
def sampled(monkeypatch):
    """Units that are sampled from here on, by problem and block."""
    units = []
    for model in (loop.Alone, loop.Jointly):

        def noted(self, name, data, unit, seed, real=model.sample):
            units.append((unit.problem, unit.block))
            return real(self, name, data, unit, seed)

        monkeypatch.setattr(model, "sample", noted)
    return units


def stop_at(monkeypatch, number):
    """Interrupt fits before the third unit, say, is sampled."""
    for model in (loop.Alone, loop.Jointly):

        def interrupted(self, name, data, unit, seed, real=model.sample):
            if unit.problem + unit.block == number:
                raise KeyboardInterrupt
            return real(self, name, data, unit, seed)

        monkeypatch.setattr(model, "sample", interrupted)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_fit_that_was_stopped_goes_on(kind, sampled, tmp_path, number):
    """Killed at once, or by Ctrl-C; only units in flight are sampled again."""
    command = [sys.executable, "-c", CHILD, str(TESTS), str(tmp_path / "store"), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        lines = [child.stdout.readline(), child.stdout.readline()]
        child.send_signal(number)
        lines += child.stdout.readlines()
        assert child.wait(timeout=30) != 0
    added = {tuple(map(int, line.split())) for line in lines}
    assert 2 <= len(added) < UNITS[kind]
    again = fit(kind, store=tmp_path / "store")
    assert not set(sampled) & added
    assert len(sampled) + len(added) >= UNITS[kind] - 1  # one may be written, and not printed
    assert again.data.identical(fit(kind).data)
    sampled.clear()
    assert fit(kind, store=tmp_path / "store").data.identical(again.data)
    assert sampled == []


@pytest.mark.usefixtures("pretended")
def test_ctrl_c_keeps_what_is_in_the_store(kind, sampled, tmp_path, monkeypatch):
    whole = fit(kind)
    store = tmp_path / "store"
    with monkeypatch.context() as patch:
        stop_at(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            fit(kind, store=store, n_jobs=1, seed=None)
    seed = int(Store.read(store).seed)
    sampled.clear()
    again = fit(kind, store=store, n_jobs=1, seed=None)  # the seed of the store is taken
    assert len(sampled) == UNITS[kind] - 2
    assert again.data.identical(fit(kind, seed=seed).data)
    assert not again.posterior.equals(whole.posterior)  # twin: that of another seed
    with pytest.raises(FitError, match="seed"):
        fit(kind, store=store, seed=seed + 1)


@pytest.mark.usefixtures("pretended")
def test_an_attempt_with_faults_is_not_made_again(kind, sampled, tmp_path, monkeypatch):
    """A fit that is stopped in the second attempt goes on there, to the same draws."""
    for model in (loop.Alone, loop.Jointly):

        def diverging(*arguments, real=model.sample):
            draws = real(*arguments)
            draws.statistics["diverging"][:] = True
            return draws

        monkeypatch.setattr(model, "sample", diverging)
    whole = fit(kind, reruns=1)
    assert set(whole.diagnostics()["attempts"]) == {2}
    store = tmp_path / "store"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", _stopping_after(UNITS[kind] + 1))
        with pytest.raises(KeyboardInterrupt):
            fit(kind, reruns=1, store=store, n_jobs=1)
    sampled.clear()
    again = fit(kind, reruns=1, store=store)
    assert len(sampled) == UNITS[kind] - 1
    assert again.data.identical(whole.data)


def _stopping_after(count):
    add, added = Store.add, []

    def stopping(self, *arguments):
        add(self, *arguments)
        added.append(arguments)
        if len(added) == count:
            raise KeyboardInterrupt

    return stopping


@pytest.mark.usefixtures("pretended")
def test_mistakes_leave_no_store(kind, tmp_path, monkeypatch):
    def refused(_):
        raise ml.LayoutError("not this prior")

    store = tmp_path / "store"
    for wrong in ({"draws": 1}, {"reruns": -1}, {"method": "vi"}, {"n_jobs": 0}, {"executor": 2}):
        with pytest.raises(FitError):
            fit(kind, store=store, **wrong)
    monkeypatch.setattr(loop, "compile_sampler", refused)
    monkeypatch.setattr(loop, "joint_form", refused)
    with pytest.raises(ml.LayoutError):
        fit(kind, store=store)
    assert not store.exists()


@pytest.mark.usefixtures("pretended")
def test_a_finished_store_needs_no_sampler(kind, tmp_path, monkeypatch):
    whole = fit(kind, store=tmp_path / "store")
    monkeypatch.setattr(loop, "compile_sampler", None)
    monkeypatch.setattr(loop, "joint_form", None)
    assert fit(kind, store=tmp_path / "store").data.identical(whole.data)
