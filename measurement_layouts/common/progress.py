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
    from rich.status import Status

_PAUSE = 0.2  # least time between two pictures in a notebook, in seconds
_indicators: list["Status"] = []  # those that are shown in the terminal, the innermost last


def track[T](
    work: Iterable[T],
    total: int,
    show: bool,
    what: str = "subjects",
    *,
    before: int = 0,
    not_converged: Callable[[T], bool] = lambda _: False,
) -> Generator[T, None, None]:
    """Pass pieces of work through, and show how many are done and the time left.

    Parameters
    ----------
    work : iterable
        Pieces of work, which are done one by one.
    total : int
        Number of pieces, including those done before.
    show : bool
        Whether to show a progress bar.
    what : str
        Name of the pieces, in the plural.
    before : int
        Number of pieces that were done earlier; the time left does not depend on their speed.
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
    with _alone(), _shown(progress, console) as refresh:
        for done in work:
            count += not_converged(done)
            yield done
            progress.update(task, advance=1, note=f"{count} not converged" if count else "")
            refresh()


@contextmanager
def waiting(what: str, show: bool) -> Iterator[None]:
    """Show an indicator of work of unknown length, until the block ends.

    In a terminal, the indicator is hidden while a progress bar or another indicator is shown.

    Parameters
    ----------
    what : str
        Description of the work.
    show : bool
        Whether to show the indicator.

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
        with _alone(), console.status(what) as status:
            _indicators.append(status)
            try:
                yield
            finally:
                _indicators.remove(status)


@contextmanager
def _alone() -> Iterator[None]:
    """Hide the indicator around this one until the block ends; both would write the same line."""
    around = _indicators[-1:]
    for status in around:
        status.stop()
    try:
        yield
    finally:
        for status in around:
            status.start()


def time_left(task: "Task") -> str:
    """Write the time left of a task, at the speed of this run only.

    Parameters
    ----------
    task : rich.progress.Task
        Task, with the number of pieces done before this run in its field ``before``.

    Returns
    -------
    str
        Time as h:mm:ss; dashes before the first piece is done.
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
    """Show the bar; the yielded function draws it again, which is not needed in a terminal."""
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
    """Show a picture in a notebook that can be replaced; rich's own way needs ipywidgets."""
    from IPython import display

    show: Any = display.display
    return show(picture, display_id=True)


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def _is_watched(console: "Console") -> bool:
    return console.is_terminal or console.is_jupyter
