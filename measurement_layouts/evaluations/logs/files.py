"""Reading of files: finding and decoding them, and reading JSON lines."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ...common.errors import DataError
from ...common.given import kind_of, refuse_other
from .imported import Notes

type Paths = str | Path | Iterable[str | Path]

MOST_BYTES = 256 * 2**20
"""Largest size of a text that is read: a file, or what a file in an archive unpacks to."""

MOST_VALUES = 10_000_000
"""Largest number of values in one JSON text, each of which takes some hundred bytes of memory."""

_STEP = 4096  # bytes of an archive that are unpacked at a time


def files_among(
    logs: Paths,
    inside: Callable[[Path], Iterable[Path]],
    lacking: str,
    notes: Notes | None = None,
) -> list[Path]:
    """List files, and those that folders contain; a file with several names is listed once.

    Links are followed, and files keep the names by which they are given, since a link may lead to a
    file that is named by a digest.

    Parameters
    ----------
    logs : path or iterable of path
        Files and folders.
    inside : callable
        Function that lists the files of a folder.
    lacking : str
        What a folder without such files does not have, and what to do, for messages.
    notes : Notes, optional
        Notes, to which further names of a file are added.

    Returns
    -------
    list of Path
        The files, those of a folder in alphabetical order.

    Raises
    ------
    DataError
        When `path` is something else, nothing is given, a path does not exist, or a folder has no
        such files.
    """
    paths = list(logs) if isinstance(logs, Iterable) and not isinstance(logs, str) else [logs]
    for path in paths:
        refuse_other("logs", path, str | Path, "a path", "give a file, several, or a folder")
    if not paths:
        raise DataError("no logs are given; give a file, several, or a folder")
    by_target: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; check the path")
        files = sorted(inside(path)) if path.is_dir() else [path]
        if not files:
            raise DataError(f"{path}: the folder has no {lacking}")
        for file in files:
            first = by_target.setdefault(file.resolve(), file)
            if notes is not None and first.absolute() != file.absolute():
                notes.add("dropped: further names of a file, which is read once", file)
    return list(by_target.values())


def files_below(folder: Path, belongs: Callable[[Path], bool], notes: Notes) -> Iterator[Path]:
    """List the files of a folder and of its subfolders that belong to a reader.

    Links to folders are followed, each folder once.

    Parameters
    ----------
    folder : Path
        Folder.
    belongs : callable
        Whether the reader takes a file.
    notes : Notes
        Notes, to which the other files are added.

    Yields
    ------
    Path
        A file.
    """
    entered: set[Path] = set()
    for root, folders, names in folder.walk(follow_symlinks=True):
        target = root.resolve()
        if target in entered:
            folders.clear()
            continue
        entered.add(target)
        folders.sort()
        for path in (root / name for name in names):
            if not path.is_file():
                notes.add("dropped: links that lead to no file", path)
            elif belongs(path):
                yield path
            else:
                notes.add("dropped: files of the folder that are no logs of this kind", path)


def bounded(file: IO[bytes], where: str, remedy: str) -> bytearray:
    """Read a file up to the limit; what it unpacks to counts, not what it states.

    Raises
    ------
    DataError
        When there is more.
    """
    content = bytearray()
    while step := file.read(_STEP):
        content += step
        if len(content) > MOST_BYTES:
            raise too_large(where, remedy)
    return content


class OverLimitError(DataError):
    """The error for what takes more memory than a reader may use."""


def too_large(where: str, remedy: str, most: int | None = None) -> OverLimitError:
    """Make the error for what is over the limit of bytes."""
    return OverLimitError(
        f"{where}: there are more than {(most or MOST_BYTES) / 2**20:,.4g} MiB, the most that is "
        f"read at once; {remedy}"
    )


def parsed(
    content: bytearray | str, where: str, hook: Callable[[dict[str, Any]], object] | None = None
) -> Any:
    """Read a JSON text.

    Parameters
    ----------
    content : bytearray or str
        The text.
    where : str
        Where it is, for messages.
    hook : callable, optional
        Function of each object, whose result replaces it.

    Returns
    -------
    object
        The value.

    Raises
    ------
    DataError
        When the text is no JSON, is nested too deeply, or has more values than are read.
    """
    try:
        if not isinstance(content, str):
            content = content.decode(json.detect_encoding(content))
        if sum(map(content.count, ",[{")) > MOST_VALUES:
            raise OverLimitError(
                f"{where}: there are more than {MOST_VALUES:,} values, the most that are read at "
                "once; keep only what is needed, or give parts of it"
            )
        return json.loads(content.removeprefix("\ufeff"), object_hook=hook)
    except RecursionError:
        raise DataError(
            f"{where}: this is no JSON that can be read (it is nested too deeply)"
        ) from None
    except ValueError as error:
        raise DataError(f"{where}: this is no JSON ({error})") from None


def text_of(path: Path) -> str:
    """Read a text file in UTF-8.

    Raises
    ------
    DataError
        When it cannot be read, is too large, is empty, contains NUL bytes or has another encoding;
        file and line are named.
    """
    lines, size = [], 0
    for _, line in _lines(path):
        size += len(line)
        if size > MOST_BYTES:
            raise too_large(str(path), "give parts of the file")
        lines.append(line)
    return "".join(lines)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a text file, with their numbers from 1; see `text_of`."""
    empty = True
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > MOST_BYTES:
                    raise too_large(where, "give shorter lines")
                if b"\0" in line:
                    raise DataError(
                        f"{where}: a NUL byte, which texts do not have; the file may be UTF-16: "
                        "save it in UTF-8"
                    )
                empty = empty and not line.strip()
                try:
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{where}: byte 0x{line[error.start]:02x} is not UTF-8; save the file in "
                        "UTF-8"
                    ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if empty:
        raise DataError(f"{path}: the file is empty; give one with outcomes, or leave it out")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON lines, one at a time: number of the line, from 1, and its object.

    Raises
    ------
    DataError
        When a line is not a JSON object; the error names file and line.
    """
    for number, line in _lines(path):
        if not line.strip():
            continue
        record = parsed(line, f"{path}, line {number}")
        if not isinstance(record, dict):
            raise DataError(
                f"{path}, line {number}: this is {kind_of(record)}; give one JSON object a line"
            )
        if "\\ud" in line.lower():
            _refuse_half_characters(record, f"{path}, line {number}")
        yield number, record


def _refuse_half_characters(record: dict[str, Any], where: str) -> None:
    """Refuse halves of characters, which JSON can write and text files cannot."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: half a character ({error.reason}); correct the text") from None
