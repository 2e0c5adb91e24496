"""Stopping of jobs in threads, when their results are no longer needed or Python ends.

A thread that runs machine code cannot be stopped from outside, and must have ended before Python
frees the code at the end of the process. A job therefore checks between its steps whether to stop.
"""

import atexit
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_leaving = threading.Event()
_at_work: set[threading.Thread] = set()
_heard = threading.local()


@contextmanager
def told_by(stop: threading.Event) -> Iterator[None]:
    """Stop the job of this thread at its next check if the event is set."""
    _heard.stop = stop
    try:
        yield
    finally:
        del _heard.stop


@contextmanager
def awaited_at_exit() -> Iterator[None]:
    """Make Python stop the job of this thread when it ends, and wait until it has stopped."""
    _stop_at_exit()
    thread = threading.current_thread()
    _at_work.add(thread)
    try:
        stop_if_told()  # Python may be ending already
        yield
    finally:
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
    >>> with told_by(stop):
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
