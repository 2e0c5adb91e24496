"""Writing of files, completely or not at all."""

import csv
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import FitError

if TYPE_CHECKING:
    import pandas as pd

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def whole(
    path: Path, refusal: type[Exception] = FitError, needs: int = 0, mode: int = 0o666
) -> Iterator[Path]:
    """Write a temporary file, which is renamed when it is complete, and otherwise removed.

    The file has the permissions that the umask leaves of `mode`. Where it replaces a file, it has
    none that the replaced file did not have.

    Parameters
    ----------
    path : Path
        Path of the file; an existing file is kept until the new one is complete.
    refusal : type of Exception
        Error to raise when the file cannot be written.
    needs : int
        Least number of bytes of the file. Errors of some libraries do not state that a disk is
        full; this is then recognised by the free space.
    mode : int
        Permissions before the umask is applied.

    Yields
    ------
    Path
        Path of the temporary file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "hello.txt") as beside:
    ...         _ = beside.write_text("hello")
    ...     [file.name for file in Path(folder).iterdir()]
    ['hello.txt']
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        with suppress(FileNotFoundError):
            _keep_private(path, beside)
    except OSError as error:
        raise refusal(
            f"cannot write into {path.parent}: {error.strerror}; choose or make another folder"
        ) from error
    try:
        yield beside
        with beside.open("rb+") as written:
            os.fsync(written.fileno())
        beside.replace(path)
    except FitError:  # raised while the content was made
        raise
    except (OSError, RuntimeError) as error:  # netCDF4 raises either
        problem = f"could not write {path}: {_reason(error, beside, needs)}; nothing was changed"
        raise refusal(problem) from error
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str, refusal: type[Exception] = FitError) -> Path:
    """Write a text file completely or not at all, without changing line ends.

    Parameters
    ----------
    path : Path
        Path of the file.
    text : str
        Content of the file.
    refusal : type of Exception
        Error to raise when the file cannot be written.

    Returns
    -------
    Path
        Path of the file.
    """
    with whole(path, refusal) as beside:
        beside.write_text(text, encoding="utf-8", newline="")
    return path


def _keep_private(path: Path, beside: Path) -> None:
    """Take from a new file the permissions that the file it replaces does not give."""
    replaced = path.lstat().st_mode
    if stat.S_ISREG(replaced):
        beside.chmod(stat.S_IMODE(beside.stat().st_mode & replaced))


def csv_text(table: "pd.DataFrame", *, index: bool = False) -> str:
    r"""Write a table as CSV with line feeds as line ends, from which every text is read back.

    Where a text contains a carriage return, all cells are quoted: Python 3.12 does not quote such a
    cell by itself, and a reader then takes it for the end of a line.

    Parameters
    ----------
    table : DataFrame
        Table.
    index : bool
        Whether the index is the first column.

    Returns
    -------
    str
        Lines of the file, the header first.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"a\r": [1]}))
    '"a\r"\n"1"\n'
    """
    text = str(table.to_csv(index=index, lineterminator="\n"))
    if "\r" not in text:
        return text
    return str(table.to_csv(index=index, lineterminator="\n", quoting=csv.QUOTE_ALL))


def _reason(error: Exception, beside: Path, needs: int) -> str:
    full = isinstance(error, OSError) and error.errno in _FULL
    if not full and beside.exists():
        full = shutil.disk_usage(beside.parent).free + beside.stat().st_size < needs
    if full:
        return "the disk is full: make room, or choose another folder"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
