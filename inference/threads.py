"""Work side by side on the threads of this process."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend

_SPURIOUS = "`sklearn.utils.parallel.delayed` should be used"


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


def side_by_side[T](function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[T]:
    """Call a function on every tuple of arguments, in order; worth it where C code does the work.

    Examples
    --------
    >>> side_by_side(max, [(1, 2), (4, 3)])
    [2, 4]
    """
    pool = joblib.Parallel(n_jobs=thread_count(), require="sharedmem")
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
