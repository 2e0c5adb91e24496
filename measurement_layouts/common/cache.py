"""Cache of compiled code, in memory and in a folder of the user for other processes."""

import hashlib
import logging
import os
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from .errors import FitError
from .files import whole

VARIABLE = "MEASUREMENT_LAYOUTS_CACHE"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_REMEDY = f"remove that permission (chmod go-w), or let {VARIABLE} name another folder"
_log = logging.getLogger(__name__)


class Recent[K, V](OrderedDict[K, V]):
    """Cache of the most recently used results, safe for several threads; each is made once.

    Parameters
    ----------
    most : int
        Largest number of results that are kept.

    Examples
    --------
    >>> lengths = Recent[str, int](most=2)
    >>> [lengths.find(word, lambda word=word: len(word)) for word in ("one", "three", "four")]
    [3, 5, 4]
    >>> list(lengths)
    ['three', 'four']
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._making = threading.Lock()

    def find(self, key: K, make: Callable[[], V]) -> V:
        """Return the result of a key, or make and keep it; one result is made at a time."""
        with self._making:
            if key not in self:
                self[key] = make()
                while len(self) > self._most:
                    self.popitem(last=False)
            self.move_to_end(key)
            return self[key]


def folder() -> Path | None:
    """Return the folder of compiled code, which `MEASUREMENT_LAYOUTS_CACHE` names.

    When the variable is not set, it is the user's cache folder. When it is empty, the folder is
    None and nothing is saved.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    else:
        home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "measurement-layouts"


def cached(key: str, suffix: str, make: Callable[[], bytes]) -> bytes:
    """Read the saved result of a key, or make and save it.

    A damaged or unwritable cache only costs time. The contents of the cache are executed, so that a
    folder or a file that belongs to another user, or that others may write to, is not used, and a
    warning is logged. A folder that is made here is accessible to the user only.

    Parameters
    ----------
    key : str
        Everything that the result depends on.
    suffix : str
        Suffix of the file.
    make : callable
        Function that makes the result.

    Returns
    -------
    bytes
        The result.
    """
    try:
        home = folder()
    except RuntimeError:  # there is no home folder
        home = None
    if home is None:
        return make()
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        is_ours = _is_own(home.stat(), home, _REMEDY)
    except OSError:
        is_ours = False
    if not is_ours:
        return make()
    path = home / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{suffix}"
    with suppress(OSError):
        kept = _read(path)
        digest, content = kept[:32], kept[32:]
        if _digest(key, content) == digest:
            return content
    made = make()
    with suppress(OSError), whole(path, OSError, mode=0o600) as beside:
        beside.write_bytes(_digest(key, made) + made)
    return made


def check_pytensor_folder() -> None:
    """Make PyTensor create its folder, which it needs for compiling.

    Raises
    ------
    FitError
        When the folder cannot be created or written to.
    """
    from pytensor import config

    try:
        config.compiledir  # noqa: B018 - made when it is first looked at
    except (OSError, ValueError) as error:
        raise unwritable(error) from error


def unwritable(error: Exception) -> FitError:
    """Make the error for a folder in which PyTensor cannot compile."""
    from pytensor import config

    cause = error.__context__ if isinstance(error.__context__, OSError) else error
    folder = getattr(cause, "filename", None) or config.base_compiledir
    return FitError(
        f"PyTensor cannot compile: its folder {folder} cannot be written "
        f"({getattr(cause, 'strerror', None) or cause}); before Python starts, set "
        "PYTENSOR_FLAGS=base_compiledir=FOLDER to a folder that can be written, or HOME"
    )


def _digest(key: str, content: bytes) -> bytes:
    """Hash a result with its key, so that a file under another key's name is recognised."""
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()


def _read(path: Path) -> bytes:
    """Read a file that belongs to the user and is not a link; empty for other files."""
    without_links = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, os.O_RDONLY | without_links), "rb") as file:
        return file.read() if _is_own(os.fstat(file.fileno()), path, "delete it") else b""


def _is_own(found: os.stat_result, path: Path, remedy: str) -> bool:
    """Whether only the user, or root, can have written there; always true on Windows."""
    if sys.platform == "win32":
        return True
    if found.st_uid not in (os.geteuid(), 0):
        why = f"it belongs to user {found.st_uid}"
    elif found.st_mode & _OTHERS:
        why = f"others may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    else:
        return True
    _warn(f"{path} is not used: it is for machine code, and {why}; {remedy}")
    return False


@cache
def _warn(what: str) -> None:
    """Log a warning, each text only once."""
    _log.warning(what)
