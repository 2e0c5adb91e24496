"""Work side by side on the threads of this process."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend

_SPURIOUS = "`sklearn.utils.parallel.delayed` should be used"
_LARGE = 500  # rows of numbers, from which threads gain
_MANY = 32  # calls, from which processes gain more than they cost to start


def thread_count() -> int:
    """Count threads: one per processor, or fewer where `joblib.parallel_config` says so.

    Examples
    --------
    >>> with joblib.parallel_config(n_jobs=1):
    ...     thread_count()
    1
    """
    _, asked = get_active_backend()
    processors: int = joblib.cpu_count()
    return min(asked, processors) if asked is not None and asked > 0 else processors


def side_by_side[T](
    function: Callable[..., T], arguments: Sequence[tuple[Any, ...]], rows: int = _LARGE
) -> list[T]:
    """Call a function on every tuple of arguments, in order.

    Parameters
    ----------
    function : callable
        What to call.
    arguments : sequence of tuple
        For each call.
    rows : int
        About how many rows of numbers a call works on. With many, C code does the work and threads
        suffice; with few, threads would wait for each other, and many calls run in processes.

    Returns
    -------
    list
        One result per call.

    Examples
    --------
    >>> side_by_side(max, [(1, 2), (4, 3)])
    [2, 4]
    """
    hands = max(1, min(thread_count(), len(arguments)))
    if rows >= _LARGE:
        pool = joblib.Parallel(n_jobs=hands, require="sharedmem")
    else:
        pool = joblib.Parallel(n_jobs=hands if len(arguments) >= _MANY else 1)
    with warnings_kept():
        return list(pool(joblib.delayed(function)(*each) for each in arguments))


@contextmanager
def warnings_kept() -> Iterator[None]:
    """Keep the filters of warnings as they are while threads run scikit-learn.

    For every tree, scikit-learn empties the process's filters and fills them again. Threads that do
    so at once can leave them empty, and then warn of a misuse that is none.

    Examples
    --------
    >>> before = list(warnings.filters)
    >>> with warnings_kept():
    ...     warnings.resetwarnings()
    >>> before == warnings.filters
    True
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("ignore", _SPURIOUS)
        yield
    for one in caught:
        if _SPURIOUS not in str(one.message):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
