"""Progress bar over subjects or splits, and an indicator of work of unknown length.

Both are written to standard error, and only to a terminal, or into a notebook.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

_PAUSE = 0.2  # seconds at least between two pictures in a notebook


def track[T](
    work: Iterable[T],
    total: int,
    show: bool,
    what: str = "subjects",
    *,
    before: int = 0,
    not_converged: Callable[[T], bool] = lambda _: False,
) -> Generator[T, None, None]:
    """Pass the work through, showing how much is done and the time left.

    Parameters
    ----------
    work : iterable
        What is worked off, one by one.
    total : int
        How many there are, those done before included.
    show : bool
        Whether to show anything.
    what : str
        Their name.
    before : int
        How many were done earlier; the time left does not count on their speed.
    not_converged : callable
        Whether a piece of the work did not converge; if some are, their number is shown.

    Yields
    ------
    object
        Each piece of the work.

    Examples
    --------
    >>> list(track("ab", total=2, show=False))
    ['a', 'b']
    """
    if not show or not _is_watched(console := _console()):
        yield from work
        return
    count = 0
    progress = _bar(console)
    task = progress.add_task(what, total=total, completed=before, before=before, note="")
    with _shown(progress, console) as refresh:
        for done in work:
            count += not_converged(done)
            yield done
            progress.update(task, advance=1, note=f"{count} not converged" if count else "")
            refresh()


@contextmanager
def waiting(what: str, show: bool) -> Iterator[None]:
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
        yield
    elif console.is_jupyter:
        from rich.text import Text

        handle = _displayed(Text(f"{what} ..."))
        try:
            yield
        finally:
            handle.update(Text())
    else:
        with console.status(what):
            yield


def time_left(task: "Task") -> str:
    """Write the time a task will still take, at the pace of this run alone.

    Parameters
    ----------
    task : rich.progress.Task
        With the number done before this run as its field ``before``.

    Returns
    -------
    str
        As h:mm:ss; dashes before the first piece is done.
    """
    here = task.completed - task.fields["before"]
    if not here or task.elapsed is None or task.total is None:
        return "-:--:--"
    return str(timedelta(seconds=round(task.elapsed / here * (task.total - task.completed))))


def _bar(console: "Console") -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: "Task") -> Text:
            return Text(f"time left {time_left(task)}", style="progress.remaining")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeLeft(),
        TextColumn("{task.fields[note]}", style="yellow"),
        console=console,
    )


@contextmanager
def _shown(progress: "Progress", console: "Console") -> Iterator[Callable[[], None]]:
    """Show the bar; what is passed on draws it again, which a terminal does by itself."""
    if not console.is_jupyter:
        with progress:
            yield lambda: None
        return
    handle = _displayed(progress)
    drawn = time.monotonic()

    def refresh() -> None:
        nonlocal drawn
        if time.monotonic() - drawn > _PAUSE:
            handle.update(progress)
            drawn = time.monotonic()

    try:
        yield refresh
    finally:
        handle.update(progress)


def _displayed(picture: object) -> Any:
    """Show in a notebook what can be shown again in its place; rich's own way needs ipywidgets."""
    from IPython import display

    show: Any = display.display
    return show(picture, display_id=True)


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def _is_watched(console: "Console") -> bool:
    return console.is_terminal or console.is_jupyter
