"""Fits on executors of `concurrent.futures`: threads, processes and a Dask cluster.

Workers may be killed: what is finished is in the store, and the same call continues.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import dask
import pytest
from distributed import Client, LocalCluster
from helpers import pretend, small_layouts
from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.loop import Alone, Jointly, Problems, run_jobs
from measurement_layouts.inference.sampling import engine
from measurement_layouts.inference.sampling.draws import Draws, Unit
from measurement_layouts.inference.sampling.stopping import DaemonThreads

QUICK = {
    "distributed.scheduler.allowed-failures": 0,  # a job is blamed at its worker's first death
    "distributed.comm.timeouts.connect": "2s",  # before a dead worker is given up
}
JOINT = {"draws": 60, "tune": 120, "chains": 2, "seed": 3, "reruns": 0, "progressbar": False}


@contextmanager
def processes(prepare):
    """Two processes, in each of which a function is called first."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context, initializer=prepare) as pool:
        yield pool


@contextmanager
def dask_cluster(prepare):
    """Two processes of a real cluster."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set(QUICK), LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(prepare)
        yield client.get_executor()


def nothing():
    """Leave a worker as it is."""


def compiled_once():
    """End a worker that compiles a second layout."""
    find = engine._samplers.find

    def once(key, make):
        found = find(key, make)
        if len(engine._samplers) > 1:
            os._exit(9)
        return found

    engine._samplers.find = once


def deadly_to_bob():
    """Pretend to sample, but end the worker in which Bob, or the second chain, is sampled."""
    pretend.install_in_a_worker()
    draw, draw_chain = Alone.sample, pretend.draw_chain

    def sample(self, name, *rest):
        if name == "Bob":
            time.sleep(1)  # others finish meanwhile
            os._exit(9)
        return draw(self, name, *rest)

    def chain(self, name, data, unit, seed):
        if unit.block == 1:
            time.sleep(1)
            os._exit(9)
        return draw_chain(self, name, data, unit, seed)

    Alone.sample, Jointly.sample = sample, chain


KINDS = [
    pytest.param(kind, marks=[pytest.mark.slow, pytest.mark.alone], id=kind.__name__)
    for kind in (processes, dask_cluster)
]


@pytest.mark.parametrize("kind", KINDS)
def test_processes_draw_the_same(kind, animal_ai, cohort, sampling, same):
    """Those sampled again included, and with one compilation in each process."""
    options = {**sampling, "reruns": 1}
    on_threads = ml.fit(animal_ai, cohort, **options)
    jointly = ml.fit(exam_layout(), cohort_data(), **JOINT)
    with kind(compiled_once) as executor:
        fit = ml.fit(animal_ai, cohort, executor=executor, **options)
        assert fit.attempts == on_threads.attempts
        assert all(same(fit, on_threads, subject) for subject in cohort.subjects)
        other = ml.fit(exam_layout(), cohort_data(), executor=executor, **JOINT)
        assert other.data.identical(jointly.data)


def test_threads_of_an_executor_draw_the_same(animal_ai, cohort, fitted, sampling, same):
    with ThreadPoolExecutor(3) as executor:
        fit = ml.fit(animal_ai, cohort, executor=executor, **sampling)
        assert all(same(fit, fitted, subject) for subject in cohort.subjects)
        assert executor.submit(max, 1, 2).result() == 2  # it is not shut down


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_is_killed(kind, monkeypatch, tmp_path):
    """What is finished is in the store, what was in flight is named, the same call continues."""
    pretend.install(monkeypatch)
    pretend.install_jointly(monkeypatch)
    layout = small_layouts.animal_ai()
    cohort = small_layouts.six_subjects(layout)
    for name, options, most in (
        ("Bob", (layout, cohort, small_layouts.SAMPLING), 6),
        ("chain 2", (exam_layout(), cohort_data(), JOINT), 2),
    ):
        *study, sampling = options
        store = tmp_path / name
        message = f"the executor failed while .*{name}.* sampled .*(BrokenProcessPool|KilledWorker)"
        with kind(deadly_to_bob) as executor, pytest.raises(FitError, match=message) as caught:
            ml.fit(*study, store=store, executor=executor, n_jobs=2, **sampling)
        assert "run the same call again" in str(caught.value)
        units = {file.name: file.stat().st_mtime_ns for file in store.glob("unit-*")}
        assert 1 <= len(units) < most
        fit = ml.fit(*study, store=store, **sampling)
        assert fit.data.identical(ml.fit(*study, **sampling).data)
        assert all((store / file).stat().st_mtime_ns == at for file, at in units.items())


@pytest.mark.slow
@pytest.mark.alone
def test_dask_moves_what_a_killed_worker_had_to_another(animal_ai, cohort, fitted, sampling, same):
    with dask.config.set({**QUICK, "distributed.scheduler.allowed-failures": 3}):
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))
            timer = threading.Timer(3, os.kill, (victim, signal.SIGKILL))
            timer.start()
            fit = ml.fit(animal_ai, cohort, executor=client.get_executor(), **sampling)
            timer.join()
    assert all(same(fit, fitted, subject) for subject in cohort.subjects)


# --- jobs ----------------------------------------------------------------------------------------


class Model:
    """A model whose draws are numbers of its jobs."""

    def __init__(self, sample=None):
        self.calls = []
        if sample is not None:
            self.sample = sample

    def sample(self, name, data, unit, seed):
        self.calls.append(name)
        return Draws({}, {"seed": seed, "data": data})


def jobs(model, executor, most, count=12, data=str.upper):
    names = [f"subject-{number}" for number in range(count)]
    waiting = deque(Unit(row, 1, 0) for row in range(count))
    return run_jobs(Problems(model, names, data), 7, executor, most, waiting)


def test_jobs_run_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    model = Model(lambda *_: Draws({}, {"turn": together.wait()}))
    assert all(isinstance(draws, Draws) for _, draws in jobs(model, DaemonThreads(), 3))


def test_an_error_is_the_result_of_its_job_and_an_interruption_ends_all():
    def sample(name, data, unit, seed):
        if unit.problem == 1:
            raise ValueError("no\nstart")
        if unit.problem == 2:
            raise KeyboardInterrupt
        return name

    work = jobs(Model(sample), DaemonThreads(), 1)
    assert [next(work)[1], next(work)[1]] == ["subject-0", "ValueError: no start"]
    with pytest.raises(KeyboardInterrupt):
        next(work)


class OfProcesses:
    """A model that tells where it runs."""

    def sample(self, name, data, unit, seed):
        return str(threading.current_thread() is threading.main_thread())


@pytest.mark.slow
def test_a_process_leaves_its_main_thread_alone():
    """Interrupted there, nutpie would hand out half a posterior."""
    with processes(nothing) as executor:
        results = dict(jobs(OfProcesses(), executor, 4))
    assert len(results) == 12
    assert set(results.values()) == {"False"}
