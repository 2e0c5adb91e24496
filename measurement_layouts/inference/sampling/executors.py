"""Parallel jobs in threads, in processes of this machine, or on the workers of a Dask cluster.

The futures are those of `concurrent.futures`, joblib's loky and Dask. This module adds that threads
can be stopped, that jobs are repeated if their worker dies, and that only as many jobs are
submitted as workers can run.
"""

import math
import time
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from ...common.errors import FitError
from .stopping import stop_if_told, told_by

_STARTS_ANOTHER = "A worker stopped while some jobs were given to the executor"
"""Warning of loky when a process ends after idle seconds while a job is submitted."""


class Executor(ABC):
    """Base of executors, which run a job and return its future."""

    deaths: tuple[type[Exception], ...] = ()
    """Exceptions of the future of a job whose worker died."""

    jobs_per_worker = 1
    """Number of jobs that are submitted at a time for each worker, running or waiting."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def workers(self) -> int:
        """Number of jobs that run at a time."""
        return self._workers

    @property
    def capacity(self) -> int:
        """Number of jobs that are submitted at a time, running or waiting."""
        return self.jobs_per_worker * self.workers

    def share(self, value: Any) -> Any:
        """Return a reference to a value that is an argument of many jobs."""
        return value

    @abstractmethod
    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        """Submit a job."""

    @abstractmethod
    def abandon(self, futures: list[Any]) -> None:
        """Stop jobs whose results are no longer needed, if that is possible."""


class ThreadExecutor(Executor):
    """Threads of this process, one for each job.

    They are daemons, so that a process that ends does not wait for their results, as it would for
    those of `concurrent.futures`.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._stop = Event()

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return _started(self._stop, function, arguments)

    def abandon(self, futures: list[Any]) -> None:
        """Request all jobs to stop, and wait until they have stopped."""
        told, self._stop = self._stop, Event()
        told.set()
        wait(futures)


def _started(
    stop: Event, function: Callable[..., object], arguments: tuple[object, ...]
) -> "Future[object]":
    """Start a job in a new thread; its exceptions are raised by its future."""
    future: Future[object] = Future()

    def work() -> None:
        try:
            with told_by(stop):
                stop_if_told()
                result = function(*arguments)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=work, daemon=True).start()
    return future


class ProcessExecutor(Executor):
    """Processes of joblib on this machine; the next fit reuses them and their compiled code."""

    deaths = (BrokenExecutor,)
    jobs_per_worker = 2

    def _pool(self) -> Any:
        """Return the processes, which are new ones if one of them has died.

        The executor is of joblib's class, because `joblib.Parallel` may reuse it.
        """
        from joblib.executor import get_memmapping_executor

        # where warnings are errors, this one would end the thread of loky, and no job would return
        warnings.filterwarnings("ignore", _STARTS_ANOTHER, UserWarning)
        return get_memmapping_executor(
            self._workers, timeout=300, initializer=_let_it_grow, max_nbytes=None
        )

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        try:
            return self._pool().submit(_aside, function, *arguments)
        except BrokenExecutor:  # a process died between the two calls
            return self._pool().submit(_aside, function, *arguments)

    def abandon(self, futures: list[Any]) -> None:
        for _ in range(100):  # loky fails if a job is in transit to a process
            if all(future.running() or future.done() for future in futures):
                break
            time.sleep(0.01)
        self._pool().shutdown(kill_workers=True)


class DaskExecutor(Executor):
    """Workers of a Dask cluster, whose number may change."""

    def __init__(self, client: Any, workers: int | None) -> None:
        from distributed import KilledWorker

        super().__init__(1)
        self.deaths = (KilledWorker,)
        self.jobs_per_worker = 2 if workers is None else 1
        self._client = client
        self._most, self._counted = workers, -math.inf

    @property
    def workers(self) -> int:
        if time.monotonic() - self._counted > 1:  # the request takes as long as submitting a job
            self._workers = max(1, int(sum(self._client.ncores().values())))
            self._counted = time.monotonic()
        return self._workers if self._most is None else min(self._workers, self._most)

    def share(self, value: Any) -> Any:
        # the result of a job, because the cluster recomputes it if the worker that has it dies
        return self._client.submit(_itself, value, pure=False)

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def abandon(self, futures: list[Any]) -> None:
        self._client.cancel(futures)


def choose_executor(n_jobs: int | None) -> Executor:
    """Choose the executor of `joblib.parallel_config` (default: threads on all processors).

    Parameters
    ----------
    n_jobs : int, optional
        Number of jobs at a time (default: that of the context).

    Returns
    -------
    Executor
        The executor. Within a job of joblib or on a worker of a cluster, it has one thread unless
        `n_jobs` is given, because the other processors are in use.

    Raises
    ------
    FitError
        When joblib's backend is not 'threading', 'loky' or 'dask'.

    Examples
    --------
    >>> import joblib
    >>> with joblib.parallel_config(backend="threading", n_jobs=3):
    ...     choose_executor(None).workers, choose_executor(2).workers
    (3, 2)
    """
    from joblib.parallel import LokyBackend, SequentialBackend, ThreadingBackend, get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    asked = get_active_backend()[1] if n_jobs is None else n_jobs
    client = getattr(backend, "client", None)
    if client is not None and not _on_a_worker():
        backend.effective_n_jobs(-1)  # waits for the first worker, up to a time limit
        return DaskExecutor(client, n_jobs)
    if asked is None:
        asked = 1 if backend.nesting_level or client is not None else -1
    if client is not None:
        return ThreadExecutor(asked)
    if isinstance(backend, ThreadingBackend | SequentialBackend):
        return ThreadExecutor(backend.effective_n_jobs(asked))
    if isinstance(backend, LokyBackend):
        return ProcessExecutor(backend.effective_n_jobs(asked))
    raise FitError(
        f"joblib's backend is {type(backend).__name__}, with which subjects cannot be fitted; "
        "choose 'threading', 'loky' or 'dask'"
    )


def _aside(function: Callable[..., object], *arguments: object) -> object:
    """Run a job outside the main thread, where Ctrl-C, which reaches all processes, is raised."""
    stop = Event()
    try:
        return _started(stop, function, arguments).result()
    finally:
        stop.set()


def _let_it_grow() -> None:
    """Switch off loky's check of memory leaks.

    The import of PyMC makes a process grow, which loky takes for a leak, so that it stops the
    process with a warning. If warnings are errors, this ends the thread that submits jobs, and no
    job returns.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False


def _itself(value: object) -> object:
    return value


def _on_a_worker() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class WorkerDied:
    """Result of a job whose worker died each time, even when it ran without other jobs.

    Attributes
    ----------
    reason : str
        Reason, in one line.
    """

    reason: str


def run_jobs[T](
    executor: Executor,
    function: Callable[..., T],
    names: Iterable[str],
    arguments: Callable[[str], tuple[object, ...]],
) -> Generator[tuple[str, T | WorkerDied], None, None]:
    """Run one job per name in parallel, and yield the results in the order of completion.

    A job whose worker died is repeated after all others, because another job may have been the
    cause. If its worker dies again, the job is repeated once more, without other jobs at the same
    time.

    Parameters
    ----------
    executor : Executor
        Executor of the jobs.
    function : callable
        Function of a job. An exception ends all jobs.
    names : iterable of str
        Names of the jobs.
    arguments : callable
        Function that returns the arguments of a job, given its name; called when the job is
        submitted.

    Yields
    ------
    (str, object)
        Name of the job and the returned value, or `WorkerDied`.

    Examples
    --------
    >>> sorted(run_jobs(ThreadExecutor(2), len, ["a", "b"], lambda name: (name * 3,)))
    [('a', 3), ('b', 3)]
    """
    died: dict[str, WorkerDied] = {}
    waiting = list(names)
    for together in (True, True, False):
        died = {}
        for name, outcome in _side_by_side(executor, function, waiting, arguments, together):
            if isinstance(outcome, WorkerDied):
                died[name] = outcome
            else:
                yield name, outcome
        waiting = list(died)
    yield from died.items()


def _side_by_side[T](
    executor: Executor,
    function: Callable[..., T],
    names: Iterable[str],
    arguments: Callable[[str], tuple[object, ...]],
    together: bool,
) -> Generator[tuple[str, T | WorkerDied], None, None]:
    waiting, running = deque(names), dict[str, Any]()
    done: SimpleQueue[str] = SimpleQueue()

    def hand_over() -> None:
        while waiting and len(running) < (executor.capacity if together else 1):
            name = waiting.popleft()
            running[name] = executor.submit(function, *arguments(name))
            running[name].add_done_callback(lambda _, name=name: done.put(name))

    try:
        hand_over()
        while running:
            name = _next(done)
            future = running.pop(name)
            outcome: T | WorkerDied
            try:
                outcome = future.result()
            except executor.deaths as death:
                reason = " ".join(f"{type(death).__name__}: {death}".split())
                outcome = WorkerDied(f"worker died each time: {reason}")
            del future
            try:
                hand_over()
            except KeyboardInterrupt:  # the finished result is yielded first
                yield name, outcome
                raise
            yield name, outcome
    except BaseException:  # also Ctrl-C, and the end of the caller's loop
        executor.abandon(list(running.values()))
        raise


def _next(done: SimpleQueue[str]) -> str:
    """Wait for the next job in steps, between which Windows handles Ctrl-C."""
    while True:
        with suppress(Empty):
            return done.get(timeout=1)
