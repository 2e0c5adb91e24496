"""Jobs side by side: on threads, on processes of this machine, or on the workers of a Dask cluster.

`concurrent.futures`, joblib's loky and Dask bring the futures. What they lack is here: threads that
are told to stop, jobs tried again whose worker died, and no more jobs under way than are worked on.
"""

import math
import time
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


class Executor(ABC):
    """Protocol of executors, which take a job and return its future."""

    deaths: tuple[type[Exception], ...] = ()
    """What the future of a job raises whose worker died."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Jobs worked on at a time."""

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Jobs worked on or waiting close by."""

    def share(self, value: Any) -> Any:
        """Return what stands for a value that many jobs take as an argument."""
        return value

    @abstractmethod
    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        """Hand a job over."""

    @abstractmethod
    def abandon(self, futures: list[Any]) -> None:
        """Stop jobs nobody waits for any more, where that is possible, and those unheard of."""


class ThreadExecutor(Executor):
    """Threads of this process, one for each job.

    They are daemons, so that a process stops them when it ends and does not wait for their result,
    as it does for those of `concurrent.futures`.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._stop = Event()

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def capacity(self) -> int:
        return self._workers

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return _started(self._stop, function, arguments)

    def abandon(self, futures: list[Any]) -> None:
        """Tell all jobs to stop, and wait until these have."""
        told, self._stop = self._stop, Event()
        told.set()
        wait(futures)


def _started(
    stop: Event, function: Callable[..., object], arguments: tuple[object, ...]
) -> "Future[object]":
    """Start a job in a thread of its own; whatever it raises, its future raises."""
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
    """Processes of this machine, joblib's; they stay for the next fit, with what they compiled."""

    deaths = (BrokenExecutor,)

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def capacity(self) -> int:
        return 2 * self._workers

    def _pool(self) -> Any:
        """Return the processes; a new set once one of them has died.

        They are of joblib's own class, since `joblib.Parallel` may find them and go on with them.
        """
        from joblib.executor import get_memmapping_executor

        return get_memmapping_executor(
            self._workers, timeout=300, initializer=_let_it_grow, max_nbytes=None
        )

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        try:
            return self._pool().submit(_aside, function, *arguments)
        except BrokenExecutor:  # between the two calls
            return self._pool().submit(_aside, function, *arguments)

    def abandon(self, futures: list[Any]) -> None:
        for _ in range(100):  # one that is still on its way to a process makes loky stumble
            if all(future.running() or future.done() for future in futures):
                break
            time.sleep(0.01)
        self._pool().shutdown(kill_workers=True)


class DaskExecutor(Executor):
    """Workers of a Dask cluster, which may come and go."""

    def __init__(self, client: Any, workers: int | None) -> None:
        from distributed import KilledWorker

        self.deaths = (KilledWorker,)
        self._client = client
        self._most = workers
        self._here, self._counted = 1, -math.inf

    @property
    def workers(self) -> int:
        if time.monotonic() - self._counted > 1:  # asking takes as long as handing over a job
            self._here = max(1, int(sum(self._client.ncores().values())))
            self._counted = time.monotonic()
        return self._here if self._most is None else min(self._here, self._most)

    @property
    def capacity(self) -> int:
        return 2 * self.workers if self._most is None else self.workers

    def share(self, value: Any) -> Any:
        # the result of a job, not scattered: the cluster makes it again where the holder died
        return self._client.submit(_itself, value, pure=False)

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def abandon(self, futures: list[Any]) -> None:
        self._client.cancel(futures)


def choose_executor(n_jobs: int | None) -> Executor:
    """Find who works, as `joblib.parallel_config` says; threads on all processors otherwise.

    Parameters
    ----------
    n_jobs : int, optional
        Jobs at a time, whatever the context says.

    Returns
    -------
    Executor
        Inside a job of joblib or on a worker of the cluster, one thread unless `n_jobs` says
        otherwise: the other processors are at work already.

    Raises
    ------
    FitError
        When joblib's backend is none of the three.

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
        backend.effective_n_jobs(-1)  # waits for a first worker, but not for ever
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
        f"joblib's backend is {type(backend).__name__}; subjects run on 'threading', 'loky' or "
        "'dask'"
    )


def _aside(function: Callable[..., object], *arguments: object) -> object:
    """Leave the main thread alone: Ctrl-C reaches every process, and the caller says so."""
    stop = Event()
    try:
        return _started(stop, function, arguments).result()
    finally:
        stop.set()


def _let_it_grow() -> None:
    """Keep a process that has grown since its first job.

    loky takes that for a leak, and it is PyMC. It stops the process and warns; where warnings are
    errors, the thread that hands out jobs ends with the warning, and nobody hears of a job again.
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
    """The worker of a job died, also when it worked on nothing else.

    Attributes
    ----------
    reason : str
        How, in one line.
    """

    reason: str


def run_jobs[T](
    executor: Executor,
    function: Callable[..., T],
    names: Iterable[str],
    arguments: Callable[[str], tuple[object, ...]],
) -> Generator[tuple[str, T | WorkerDied], None, None]:
    """Do one job per name, side by side, and hand out each once, as it finishes.

    A job whose worker died is tried again after all others, for another job may have killed the
    worker; if it dies again, once more with nothing beside it.

    Parameters
    ----------
    executor : Executor
        Who works.
    function : callable
        The job. What it raises ends all jobs.
    names : iterable of str
        A job each.
    arguments : callable
        From a name to the function's arguments; called when the job is handed over.

    Yields
    ------
    (str, object)
        A name and what the function returned, or why there is nothing.

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
            except KeyboardInterrupt:  # what is done is handed out first
                yield name, outcome
                raise
            yield name, outcome
    except BaseException:  # Ctrl-C, too, and nobody who takes the rest
        executor.abandon(list(running.values()))
        raise


def _next(done: SimpleQueue[str]) -> str:
    """Wait in slices: on Windows Ctrl-C is heard between them only."""
    while True:
        with suppress(Empty):
            return done.get(timeout=1)
