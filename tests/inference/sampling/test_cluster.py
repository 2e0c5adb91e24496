"""Subjects on a real Dask cluster, whose workers die."""

import os
import signal
import threading
import time

import dask
import joblib
import pytest
from distributed import Client, LocalCluster

import measurement_layouts as ml
from measurement_layouts.inference import fitting
from measurement_layouts.inference.fitting import Collected
from measurement_layouts.inference.sampling import engine
from measurement_layouts.inference.sampling.executors import (
    DaskExecutor,
    ThreadExecutor,
    WorkerDied,
    choose_executor,
    run_jobs,
)

NAMES = [f"subject-{number}" for number in range(12)]


QUICK = {
    "distributed.scheduler.allowed-failures": 0,  # a job is blamed at its worker's first death
    "distributed.comm.timeouts.connect": "2s",  # before a dead worker is given up
}


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread."""
    with (
        dask.config.set(QUICK),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def executor(client):
    with joblib.parallel_config(backend="dask"):
        yield choose_executor(None)


def named(name):
    return (name,)


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def test_the_context_decides(executor):
    assert isinstance(executor, DaskExecutor)
    assert (executor.workers, executor.capacity) == (2, 4)
    with joblib.parallel_config(backend="dask"):
        assert choose_executor(1).capacity == 1


def test_a_worker_is_no_cluster(client):
    """A fit inside a task of the cluster would wait for a worker that it occupies itself."""

    def inside():
        with joblib.parallel_config(backend="dask"):
            executor = choose_executor(None)
        return type(executor).__name__, executor.workers

    assert client.submit(inside).result() == (ThreadExecutor.__name__, 1)


def test_each_job_is_done_once_though_a_worker_is_killed(executor, client, tmp_path):
    """The shared argument was on that worker, too."""

    def job(name, shared):
        (tmp_path / f"{name}-{time.monotonic_ns()}").touch()
        time.sleep(0.1)
        return os.getpid(), shared[name]

    shared = executor.share({name: name.upper() for name in NAMES})
    done, victim = [], None
    for name, outcome in run_jobs(executor, job, NAMES, lambda name: (name, shared)):
        done.append(name)
        assert not isinstance(outcome, WorkerDied), outcome
        pid, value = outcome
        assert value == name.upper()
        if victim is None:
            victim = pid
            kill(pid)
    assert sorted(done) == sorted(NAMES)
    assert len(list(tmp_path.iterdir())) <= len(NAMES) + 8


@pytest.mark.trust("faults", "a worker that is killed")
def test_the_job_that_kills_its_worker_is_named_and_no_other(executor):
    def job(name):
        if name == NAMES[3]:
            os._exit(9)
        time.sleep(0.05)
        return name

    done = dict(run_jobs(executor, job, NAMES, named))
    died = [name for name, outcome in done.items() if outcome != name]
    assert died == [NAMES[3]]
    assert done[NAMES[3]].reason.startswith("worker died each time: KilledWorker: Attempted to")
    assert len(done) == len(NAMES)


def test_jobs_are_taken_back_when_nobody_waits(executor, client, tmp_path):
    def job(name):
        (tmp_path / name).touch()
        time.sleep(0.3)
        return name

    work = run_jobs(executor, job, NAMES, named)
    next(work)
    work.close()
    time.sleep(1)
    assert len(list(tmp_path.iterdir())) <= 4


# --- fits ----------------------------------------------------------------------------------------


def fit_while_a_worker_is_killed(monkeypatch, folder, *arguments, **options):
    """Kill the worker of the third subject that is begun; whoever is begun leaves a note."""
    real = fitting.sample_subject

    def noted(battery, subject, *rest, **how):
        (folder / f"{subject} {os.getpid()} {time.monotonic_ns()}").touch()
        time.sleep(0.3)
        sampled = real(battery, subject, *rest, **how)
        (folder / f"compiled {os.getpid()} {len(engine._samplers)}").touch()
        return sampled

    def watch():
        for _ in range(600):
            begun = sorted(folder.glob("[A-Z]*"), key=lambda note: note.stat().st_mtime_ns)
            if len(begun) > 2:
                kill(int(begun[2].name.split()[1]))
                break
            time.sleep(0.05)

    monkeypatch.setattr(fitting, "sample_subject", noted)
    watcher = threading.Thread(target=watch)
    watcher.start()
    with joblib.parallel_config(backend="dask"):
        fit = ml.fit(*arguments, **options)
    watcher.join()
    return fit


@pytest.mark.slow
@pytest.mark.alone
def test_a_fit_survives_a_worker(client, animal_ai, cohort, sampling, same, monkeypatch, tmp_path):
    """Same bits as on threads, everybody once, one compilation in each process."""
    on_threads = ml.fit(animal_ai, cohort, **sampling)
    added = []
    add = Collected.add
    monkeypatch.setattr(
        Collected, "add", lambda self, one: added.append(one.subject) or add(self, one)
    )
    fit = fit_while_a_worker_is_killed(monkeypatch, tmp_path, animal_ai, cohort, **sampling)
    assert fit.subjects == cohort.subjects
    assert fit.failures == {}
    assert sorted(added) == sorted(cohort.subjects)
    assert all(same(fit, on_threads, subject) for subject in cohort.subjects)
    begun = [note.name.split() for note in tmp_path.glob("[A-Z]*")]
    compiled = [note.name.split()[1:] for note in tmp_path.glob("compiled*")]
    assert len({pid for _, pid, _ in begun}) > 1
    names = {subject for subject, _, _ in begun}
    assert len(begun) > len(names)  # what the killed one had in hand was begun again
    assert {count for _, count in compiled} == {"1"}


@pytest.mark.trust("faults", "a worker that is killed")
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize(("backend", "workers"), [("loky", 1), ("dask", 2)])
def test_the_subject_that_kills_its_worker_is_named(
    client, animal_ai, cohort, fitted, sampling, same, monkeypatch, backend, workers
):
    real = fitting.sample_subject

    def deadly(battery, subject, *rest, **how):
        if subject == "Bob":
            os._exit(9)
        return real(battery, subject, *rest, **how)

    monkeypatch.setattr(fitting, "sample_subject", deadly)
    with joblib.parallel_config(backend=backend, n_jobs=workers):
        fit = ml.fit(animal_ai, cohort, **sampling)
    assert list(fit.failures) == ["Bob"]
    assert fit.failures["Bob"].startswith("worker died each time: ")
    assert all(same(fit, fitted, subject) for subject in fit.subjects)
    assert len(fit.subjects) == 5
