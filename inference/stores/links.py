"""A store that is written into holds no links: what is written stays inside it."""

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import FitError


def refuse_links(path: Path) -> None:
    """Refuse a store with a link in it, which may lead writing elsewhere.

    The folder itself may be one.

    Parameters
    ----------
    path : Path
        The store; it need not be there yet.

    Raises
    ------
    FitError
        Naming the first.
    """
    for link in _links(path) if path.is_dir() else ():
        raise FitError(
            f"{link} is a link, and what is written into a store must stay there; put a copy of "
            "what it leads to in its place, or give another store"
        )


def _links(folder: str | Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield entry.path
            elif entry.is_dir():
                yield from _links(entry.path)
