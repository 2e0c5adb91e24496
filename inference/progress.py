"""A progress bar over subjects or splits."""

from collections.abc import Iterable, Iterator


def track[T](work: Iterable[T], total: int, show: bool, what: str = "subjects") -> Iterator[T]:
    """Pass the work through, showing how much is done and the time left.

    The bar goes to standard error, and only to a terminal or a notebook.

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
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
    )
    quiet = not (console.is_terminal or console.is_jupyter)
    with Progress(*columns, console=console, disable=quiet) as progress:
        task = progress.add_task(what, total=total)
        for done in work:
            yield done
            progress.advance(task)
