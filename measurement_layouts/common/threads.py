"""Parallel work in the threads of this process."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend

_SPURIOUS = "`sklearn.utils.parallel.delayed` should be used"
_LARGE = 500  # rows of numbers, from which threads are faster
_MANY = 32  # calls, from which processes save more time than they need to start


def thread_count() -> int:
    """Count threads: one per processor, or the number set by `joblib.parallel_config`.

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
        Function to call.
    arguments : sequence of tuple
        Arguments of each call.
    rows : int
        Approximate number of rows of numbers that a call processes. With many rows, most of the
        work is in C code, and threads are used; with few rows, threads would wait for each other,
        and many calls are run in processes.

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
    """Restore the filters of warnings after threads have run scikit-learn.

    For every tree, scikit-learn empties the process's filters and fills them again. Several threads
    at once may leave them empty, and then issue a warning without a reason.

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
