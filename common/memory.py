"""Memory that is free and still counted as the process's."""

import ctypes
import functools
import sys
from collections.abc import Callable


def return_free_memory() -> None:
    """Give memory that is free back to the operating system, where the C library can (glibc).

    Threads that come and go leave it in small pieces, of which each thread's part of the heap keeps
    its own: it grows with the number of jobs though nothing is held.

    Examples
    --------
    >>> return_free_memory()
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """Find the C library's function, if it has one."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
