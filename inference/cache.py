"""What one process has compiled, kept for the next."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

VARIABLE = "MEASUREMENT_LAYOUTS_CACHE"


def folder() -> Path | None:
    """Where compiled code is kept: the folder that `MEASUREMENT_LAYOUTS_CACHE` names.

    Without it the user's cache folder; None where the variable is empty, which turns keeping off.
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
    """Read what was kept under a key, or make and keep it.

    A damaged or unwritable cache costs time, and nothing else.

    Parameters
    ----------
    key : str
        Everything that the result depends on.
    suffix : str
        Of the file.
    make : callable
        Makes the result.

    Returns
    -------
    bytes
        The result.
    """
    try:
        home = folder()
    except RuntimeError:  # nobody is at home
        home = None
    if home is None:
        return make()
    path = home / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{suffix}"
    with suppress(OSError):
        kept = path.read_bytes()
        digest, content = kept[:32], kept[32:]
        if hashlib.sha256(content).digest() == digest:
            return content
    made = make()
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=home)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(made).digest() + made)
        Path(name).replace(path)
    return made
