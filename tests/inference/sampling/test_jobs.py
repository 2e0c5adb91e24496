"""Jobs side by side: handed over lazily, handed out once, and no dead worker takes others along."""

import inspect
import os
import threading
import time
import warnings

import joblib
import pytest
from joblib.externals.loky import process_executor

from measurement_layouts import FitError
from measurement_layouts.inference.sampling.executors import (
    ProcessExecutor,
    ThreadExecutor,
    WorkerDied,
    choose_executor,
    run_jobs,
)

NAMES = [f"subject-{number}" for number in range(12)]


def named(name):
    return (name,)


# --- who works -----------------------------------------------------------------------------------


def test_threads_on_all_processors_unless_told_otherwise():
    executor = choose_executor(None)
    assert isinstance(executor, ThreadExecutor)
    assert executor.workers == joblib.cpu_count()
    assert choose_executor(3).workers == 3


@pytest.mark.parametrize(
    ("context", "n_jobs", "kind", "workers"),
    [
        ({"n_jobs": 3}, None, ThreadExecutor, 3),
        ({"n_jobs": 3}, 2, ThreadExecutor, 2),
        ({"n_jobs": -1}, None, ThreadExecutor, joblib.cpu_count()),
        ({"backend": "threading"}, None, ThreadExecutor, joblib.cpu_count()),
        ({"backend": "threading", "n_jobs": 3}, None, ThreadExecutor, 3),
        ({"backend": "loky"}, None, ProcessExecutor, joblib.cpu_count()),
        ({"backend": "loky", "n_jobs": 3}, None, ProcessExecutor, 3),
        ({"backend": "loky", "n_jobs": 3}, 1, ProcessExecutor, 1),
        ({"backend": "sequential"}, None, ThreadExecutor, 1),
    ],
)
def test_the_context_decides_unless_told_otherwise(context, n_jobs, kind, workers):
    with joblib.parallel_config(**context):
        executor = choose_executor(n_jobs)
    assert type(executor) is kind
    assert executor.workers == workers


def test_inside_a_job_of_joblib_there_is_one_thread():
    """Unless told otherwise: the other processors are at work already."""
    executors = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(choose_executor)(n_jobs) for n_jobs in (None, 3)
    )
    assert [(type(executor), executor.workers) for executor in executors] == [
        (ThreadExecutor, 1),
        (ThreadExecutor, 3),
    ]


def test_another_backend_is_refused():
    message = "joblib's backend is MultiprocessingBackend, with which subjects cannot be fitted; ch"
    with joblib.parallel_config(backend="multiprocessing"), pytest.raises(FitError, match=message):
        choose_executor(2)


# --- order and laziness --------------------------------------------------------------------------


def test_each_job_is_done_once():
    done = list(run_jobs(ThreadExecutor(3), str.upper, NAMES, named))
    assert sorted(done) == sorted((name, name.upper()) for name in NAMES)
    assert list(run_jobs(ThreadExecutor(3), str.upper, [], named)) == []


def test_no_more_jobs_are_under_way_than_hands():
    """Arguments are made when a hand is free, and results nobody has taken hold the next back."""
    made, most = [], 0

    def arguments(name):
        made.append(name)
        return (name,)

    for taken, _ in enumerate(run_jobs(ThreadExecutor(3), str.upper, NAMES, arguments), start=1):
        time.sleep(0.02)  # all handed over are done by now
        most = max(most, len(made) - taken)
    assert most == 3
    assert made == NAMES


def test_jobs_run_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    done = run_jobs(ThreadExecutor(3), lambda name: together.wait() >= 0, NAMES, named)
    assert all(outcome for _, outcome in done)


def test_what_a_job_raises_ends_all():
    def job(name):
        if name == NAMES[1]:
            raise KeyboardInterrupt
        return name

    work = run_jobs(ThreadExecutor(1), job, NAMES, named)
    assert next(work) == (NAMES[0], NAMES[0])
    with pytest.raises(KeyboardInterrupt):
        next(work)


def test_ctrl_c_while_the_next_job_is_handed_over_keeps_the_last():
    handed = []

    def arguments(name):
        handed.append(name)
        if len(handed) == 2:
            raise KeyboardInterrupt
        return (name,)

    work = run_jobs(ThreadExecutor(1), str.upper, NAMES, arguments)
    assert next(work) == (NAMES[0], NAMES[0].upper())
    with pytest.raises(KeyboardInterrupt):
        next(work)


@pytest.mark.parametrize("executor", [ThreadExecutor(1), ProcessExecutor(1)])
def test_the_main_thread_is_left_alone(executor):
    """Interrupted there, nutpie would hand out half a posterior."""

    def job(name):
        return threading.current_thread() is threading.main_thread()

    assert list(run_jobs(executor, job, NAMES[:1], named)) == [(NAMES[0], False)]


# --- dead workers --------------------------------------------------------------------------------


def dying(names, folder, once=False):
    """Make a job that kills its process for some names, and counts what it finishes."""

    def job(name):
        seen = folder / f"{name}-died"
        if name in names and not (once and seen.exists()):
            seen.touch()
            os._exit(9)
        time.sleep(0.02)
        with (folder / "finished").open("a") as file:
            file.write(f"{name}\n")
        return name.upper()

    return job


@pytest.mark.trust("faults", "a worker that is killed")
@pytest.mark.slow
@pytest.mark.alone
def test_the_job_that_kills_its_process_is_named_and_no_other(tmp_path):
    killers = [NAMES[0], NAMES[7]]
    done = dict(run_jobs(ProcessExecutor(2), dying(killers, tmp_path), NAMES, named))
    assert len(done) == len(NAMES)
    died = {name: outcome for name, outcome in done.items() if isinstance(outcome, WorkerDied)}
    assert sorted(died) == killers
    for outcome in died.values():
        assert outcome.reason.startswith("worker died each time: TerminatedWorkerError: ")
        assert "\n" not in outcome.reason
    assert all(done[name] == name.upper() for name in NAMES if name not in killers)


def test_a_process_that_dies_once_costs_nothing(tmp_path):
    job = dying([NAMES[2]], tmp_path, once=True)
    done = list(run_jobs(ProcessExecutor(2), job, NAMES, named))
    assert sorted(done) == sorted((name, name.upper()) for name in NAMES)
    finished = (tmp_path / "finished").read_text().split()
    assert len(finished) <= len(NAMES) + 4  # those at work beside it may be done again


@pytest.mark.slow
@pytest.mark.alone
def test_a_process_that_grows_is_kept():
    """loky would stop it and warn, and the warning, an error here, would stop all other jobs."""

    def grow(name):
        time.sleep(1.1)  # loky looks no more often than every second
        if name != "first":
            threading.kept = [bytearray(b"x" * 400_000_000), getattr(threading, "kept", None)]
        return os.getpid()

    done = dict(run_jobs(ProcessExecutor(1), grow, ["first", *NAMES[:3]], named))
    assert len(set(done.values())) == 1


def test_a_process_that_ends_while_it_is_idle_is_no_error():
    """The warning that ended loky's thread where warnings are errors; another one is an error."""
    said = "A worker stopped while some jobs were given to the "
    assert said in inspect.getsource(process_executor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ProcessExecutor(2).submit(abs, -1).result()
        warnings.warn(f"{said}executor. This can be", UserWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="another"):
            warnings.warn("another", UserWarning, stacklevel=1)


def test_processes_stop_when_nobody_waits(tmp_path):
    def job(name):
        if name != NAMES[0]:
            time.sleep(60)
        return name

    work = run_jobs(ProcessExecutor(2), job, NAMES, named)
    assert next(work) == (NAMES[0], NAMES[0])
    start = time.monotonic()
    work.close()
    assert dict(run_jobs(ProcessExecutor(2), str.upper, NAMES[:2], named)) == {
        name: name.upper() for name in NAMES[:2]
    }
    assert time.monotonic() - start < 30


def test_joblib_finds_the_processes_and_goes_on(monkeypatch):
    """As in a script that fits in processes before joblib was ever called."""
    monkeypatch.setattr("joblib.executor._executor_args", None)
    done = dict(run_jobs(ProcessExecutor(2), str.upper, NAMES[:2], named))
    assert done == {name: name.upper() for name in NAMES[:2]}
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(number) for number in (-1, 2)) == [1, 2]
