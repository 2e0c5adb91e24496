"""Who works: threads, processes of this machine or the workers of a Dask cluster."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from .errors import FitError
from .stopping import stop_if_told, told_by

_LINGER = 0.2  # seconds that a thread waits for another job


class Crew(ABC):
    """Whoever works: takes a job and returns its future."""

    deaths: tuple[type[Exception], ...] = ()
    """What the future of a job raises whose worker died."""

    @property
    @abstractmethod
    def hands(self) -> int:
        """Jobs worked on at a time."""

    @property
    @abstractmethod
    def room(self) -> int:
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


class Threads(Crew):
    """Threads of this process, as many as there are jobs at a time, which take job after job.

    They are daemons, so that a process stops them when it ends and does not wait for their result,
    and soon gone after the last job.
    """

    def __init__(self, hands: int) -> None:
        self._hands = hands
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = Lock()
        self._idle = 0
        self._stop = Event()

    @property
    def hands(self) -> int:
        return self._hands

    @property
    def room(self) -> int:
        return self._hands

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        future: Future[object] = Future()
        with self._lock:
            self._jobs.put(partial(_settle, future, self._stop, function, arguments))
            if self._idle:
                self._idle -= 1
            else:
                Thread(target=self._work, daemon=True).start()
        return future

    def abandon(self, futures: list[Any]) -> None:
        """Tell all jobs to stop, and wait until these have."""
        told, self._stop = self._stop, Event()
        told.set()
        wait(futures)

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_LINGER)
            except Empty:
                with self._lock:
                    if self._jobs.empty():
                        self._idle -= 1
                        return
                continue
            job()
            del job
            with self._lock:
                self._idle += 1


def _settle(
    future: "Future[object]",
    stop: Event,
    function: Callable[..., object],
    arguments: tuple[object, ...],
) -> None:
    """Do a job in this thread until told to stop; whatever it raises is the caller's to raise."""
    try:
        with told_by(stop):
            stop_if_told()
            result = function(*arguments)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class Processes(Crew):
    """Processes of this machine, joblib's; they stay for the next fit, with what they compiled."""

    deaths = (BrokenExecutor,)

    def __init__(self, hands: int) -> None:
        self._hands = hands

    @property
    def hands(self) -> int:
        return self._hands

    @property
    def room(self) -> int:
        return 2 * self._hands

    def _pool(self) -> Any:
        """Return the processes; a new set once one of them has died."""
        from joblib.externals.loky import get_reusable_executor

        return get_reusable_executor(self._hands, timeout=300, initializer=_let_it_grow)

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


class Cluster(Crew):
    """Workers of a Dask cluster, which may come and go."""

    def __init__(self, client: Any, hands: int | None) -> None:
        from distributed import KilledWorker

        self.deaths = (KilledWorker,)
        self._client = client
        self._most = hands
        self._here, self._counted = 1, -math.inf

    @property
    def hands(self) -> int:
        if time.monotonic() - self._counted > 1:  # asking takes as long as handing over a job
            self._here = max(1, int(sum(self._client.ncores().values())))
            self._counted = time.monotonic()
        return self._here if self._most is None else min(self._here, self._most)

    @property
    def room(self) -> int:
        return 2 * self.hands if self._most is None else self.hands

    def share(self, value: Any) -> Any:
        # the result of a job, not scattered: the cluster makes it again where the holder died
        return self._client.submit(_itself, value, pure=False)

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def abandon(self, futures: list[Any]) -> None:
        self._client.cancel(futures)


def hire(n_jobs: int | None) -> Crew:
    """Find who works, as `joblib.parallel_config` says; threads on all processors otherwise.

    Parameters
    ----------
    n_jobs : int, optional
        Jobs at a time, whatever the context says.

    Returns
    -------
    Crew
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
    ...     hire(None).hands, hire(2).hands
    (3, 2)
    """
    from joblib.parallel import LokyBackend, SequentialBackend, ThreadingBackend, get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    asked = get_active_backend()[1] if n_jobs is None else n_jobs
    client = getattr(backend, "client", None)
    if client is not None and not _on_a_worker():
        backend.effective_n_jobs(-1)  # waits for a first worker, but not for ever
        return Cluster(client, n_jobs)
    if asked is None:
        asked = 1 if backend.nesting_level or client is not None else -1
    if client is not None:
        return Threads(asked)
    if isinstance(backend, ThreadingBackend | SequentialBackend):
        return Threads(backend.effective_n_jobs(asked))
    if isinstance(backend, LokyBackend):
        return Processes(backend.effective_n_jobs(asked))
    raise FitError(
        f"joblib's backend is {type(backend).__name__}; subjects run on 'threading', 'loky' or "
        "'dask'"
    )


def _aside(function: Callable[..., object], *arguments: object) -> object:
    """Leave the main thread alone: Ctrl-C reaches every process, and the caller says so."""
    future: Future[object] = Future()
    stop = Event()
    Thread(target=_settle, args=(future, stop, function, arguments), daemon=True).start()
    try:
        return future.result()
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
