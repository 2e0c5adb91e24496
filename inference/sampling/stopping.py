"""Jobs that stop when they are told to: when nobody waits for them any more, or Python ends.

A thread that runs machine code cannot be stopped from outside, and must not run it while Python
takes the code away at the end of the process. So a job looks, between its steps, whether to stop.
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
    """Let what this thread does stop when the event is set."""
    _heard.stop = stop
    try:
        yield
    finally:
        del _heard.stop


@contextmanager
def awaited_at_exit() -> Iterator[None]:
    """Let Python, when it ends, stop what this thread does, and wait until it has stopped."""
    _stop_at_exit()
    thread = threading.current_thread()
    _at_work.add(thread)
    try:
        stop_if_told()  # it may be ending already
        yield
    finally:
        _at_work.discard(thread)


def stop_if_told() -> None:
    """End what this thread does, where it has been told to stop.

    Raises
    ------
    SystemExit
        Which no attempt at a subject takes for a failure, and no thread prints.

    Examples
    --------
    >>> stop = threading.Event()
    >>> with told_by(stop):
    ...     stop_if_told()
    ...     stop.set()
    ...     stop_if_told()
    Traceback (most recent call last):
    SystemExit: stopped: nobody waits for the result any more
    """
    stop = getattr(_heard, "stop", None)
    if _leaving.is_set() or (stop is not None and stop.is_set()):
        raise SystemExit("stopped: nobody waits for the result any more")


@cache
def _stop_at_exit() -> None:
    """Only once there is something to stop: before that, importing would do something."""
    atexit.register(_leave)


def _leave() -> None:
    """Stop all jobs, while what they use is still there."""
    _leaving.set()
    here = threading.current_thread()
    while any(thread.is_alive() for thread in list(_at_work) if thread is not here):
        time.sleep(0.01)
