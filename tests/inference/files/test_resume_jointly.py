"""Joint fits that go on where they stopped: by Ctrl-C, or killed."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from helpers import TESTS, pretend_jointly
from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts.inference.population import fitting

CHAINS = 4
SAMPLING = {"draws": 20, "tune": 20, "chains": CHAINS, "seed": 3, "reruns": 0, "progressbar": False}

CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
sys.path.insert(0, sys.argv[1])
from helpers import pretend_jointly
from helpers.populations import cohort_data, exam_layout
import measurement_layouts as ml
from measurement_layouts.inference.files.chains import ChainStore
from measurement_layouts.inference.population import fitting

add = ChainStore.add

def slowly(*arguments):
    time.sleep(0.5)
    return pretend_jointly.draw(*arguments)

def told(store, number, attempt, draws):
    add(store, number, attempt, draws)
    print(number, flush=True)

fitting.joint_form, fitting.sample_chain, ChainStore.add = lambda cohort: None, slowly, told
sampling = {"draws": 20, "tune": 20, "chains": 4, "seed": 3, "reruns": 0, "progressbar": False}
ml.fit(exam_layout(), cohort_data(), store=sys.argv[2], n_jobs=2, **sampling)
"""


@pytest.fixture
def sampled(monkeypatch):
    """Which chains are sampled from here on, pretended ones."""
    numbers = []

    def noted(cohort, chain, number, *rest):
        numbers.append(number)
        return pretend_jointly.draw(cohort, chain, number, *rest)

    pretend_jointly.install(monkeypatch, noted)
    return numbers


def _fit(**options):
    return ml.fit(exam_layout(), cohort_data(), **SAMPLING, **options)


def _same(one, other):
    first, second = one.data["posterior"], other.data["posterior"]
    return all(np.array_equal(first[name], second[name]) for name in first.data_vars)


@pytest.mark.trust("faults", "Ctrl-C keeps the chains of a joint fit that are done")
def test_ctrl_c_keeps_finished_chains(sampled, tmp_path, monkeypatch):
    whole = _fit()
    noted = fitting.sample_chain

    def interrupted(cohort, chain, number, *rest):
        if number == 2:
            raise KeyboardInterrupt
        return noted(cohort, chain, number, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(fitting, "sample_chain", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _fit(store=tmp_path / "store", n_jobs=1)
    sampled.clear()
    fit = _fit(store=tmp_path / "store", n_jobs=1)
    assert sampled == [2, 3]
    assert _same(fit, whole)
    sampled.clear()
    assert _same(_fit(store=tmp_path / "store"), whole)
    assert sampled == []
    assert not _same(_fit(), ml.fit(exam_layout(), cohort_data(), **SAMPLING | {"seed": 4}))


@pytest.mark.trust("faults", "a joint fit that is killed")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(kind, marks=[pytest.mark.slow, pytest.mark.alone])
        for kind in (signal.SIGKILL, signal.SIGINT)
    ],
)
def test_a_joint_fit_that_was_stopped_goes_on(sampled, tmp_path, number):
    """Killed at once, or by Ctrl-C; only chains in flight are sampled again."""
    command = [sys.executable, "-c", CHILD, str(TESTS), str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        added = [int(child.stdout.readline())]
        child.send_signal(number)
        added += [int(line) for line in child.stdout]
        assert child.wait(timeout=30) != 0
    assert 1 <= len(added) < CHAINS
    fit = _fit(store=tmp_path / "store")
    assert not set(sampled) & set(added)
    assert len(sampled) + len(added) >= CHAINS - 1  # one may be written, and not told, when killed
    assert _same(fit, _fit())
