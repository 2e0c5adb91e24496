"""Files that commands write: nothing that exists is replaced unasked."""

import tempfile
from collections.abc import Iterable
from pathlib import Path


def make_writable(folder: Path) -> None:
    """Find out before a long fit, not after it, that its results could not be written.

    Raises
    ------
    OSError
        When the folder can neither be made nor written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"cannot write into {folder} ({reason}); give another --out") from error


def refuse_existing(paths: Iterable[Path], remedy: str = "give another --out") -> None:
    """Refuse to write where something is.

    Raises
    ------
    FileExistsError
        Naming the first.
    """
    for path in paths:
        if path.exists():
            raise FileExistsError(f"{path} exists already; move it away, or {remedy}")
