"""A progress bar over subjects or splits, and a sign of life before it.

Both go to standard error, and only to a terminal or a notebook.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def track[T](work: Iterable[T], total: int, show: bool, what: str = "subjects") -> Iterator[T]:
    """Pass the work through, showing how much is done and the time left.

    Parameters
    ----------
    work : iterable
        What is worked off, one by one.
    total : int
        How many there are.
    show : bool
        Whether to show anything.
    what : str
        Their name.

    Yields
    ------
    object
        Each piece of the work.

    Examples
    --------
    >>> list(track("ab", total=2, show=False))
    ['a', 'b']
    """
    if not show:
        yield from work
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = _console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not _is_watched(console)) as progress:
        task = progress.add_task(what, total=total)
        for done in work:
            yield done
            progress.advance(task)


def waiting(what: str, show: bool) -> AbstractContextManager[object]:
    """Show that something of unknown length goes on, until the block ends.

    Parameters
    ----------
    what : str
        What goes on.
    show : bool
        Whether to show anything.

    Examples
    --------
    >>> with waiting("compiling the layout", show=False):
    ...     pass
    """
    if not show or not _is_watched(console := _console()):
        return nullcontext()
    return console.status(what)


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def _is_watched(console: "Console") -> bool:
    return console.is_terminal or console.is_jupyter
