"""Threads that sample, and stop when their results are no longer needed or Python ends.

A thread that runs machine code cannot be stopped from outside, and must have ended before Python
frees the code at the end of the process. A job therefore checks between its steps whether to stop.
"""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from typing import Any

_leaving = threading.Event()
_at_work: set[threading.Thread] = set()
_heard = threading.local()


class DaemonThreads(Executor):
    """Executor with a thread for each job, for whose results a process that ends does not wait.

    Examples
    --------
    >>> DaemonThreads().submit(max, 1, 2).result()
    2
    """

    def submit[**P, T](
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> "Future[T]":
        """Start a job; its exceptions are raised by its future."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def work() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future


@contextmanager
def stopped_by(stop: threading.Event | None) -> Iterator[None]:
    """Stop the job of this thread at its next check if the event is set, or if Python ends.

    If Python ends, it waits until the job has stopped.
    """
    _stop_at_exit()
    thread = threading.current_thread()
    _at_work.add(thread)
    _heard.stop = stop
    try:
        stop_if_told()  # Python may be ending already
        yield
    finally:
        _heard.stop = None
        _at_work.discard(thread)


def stop_if_told() -> None:
    """End the job of this thread if it must stop.

    Raises
    ------
    SystemExit
        When the job must stop. This exception does not count as a failure of the subject, and a
        thread does not print it.

    Examples
    --------
    >>> stop = threading.Event()
    >>> with stopped_by(stop):
    ...     stop_if_told()
    ...     stop.set()
    ...     stop_if_told()
    Traceback (most recent call last):
    SystemExit: stopped: the result is no longer needed
    """
    stop = getattr(_heard, "stop", None)
    if _leaving.is_set() or (stop is not None and stop.is_set()):
        raise SystemExit("stopped: the result is no longer needed")


@cache
def _stop_at_exit() -> None:
    """Register the end of jobs; called when the first job starts, not by the import."""
    atexit.register(_leave)


def _leave() -> None:
    """Stop all jobs before Python frees what they use."""
    _leaving.set()
    here = threading.current_thread()
    while any(thread.is_alive() for thread in list(_at_work) if thread is not here):
        time.sleep(0.01)
