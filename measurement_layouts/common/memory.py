"""Memory that a process no longer uses."""

import ctypes
import functools
import sys
from collections.abc import Callable


def return_free_memory() -> None:
    """Return free memory of threads to the operating system, if the C library supports it."""
    trim = trimming()
    if trim is not None:
        trim(0)


@functools.cache
def trimming() -> Callable[[int], int] | None:
    """Find the C library's function for this, which exists in glibc."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
