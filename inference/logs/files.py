"""Files as they arrive: found, decoded, and named with the line where they are broken."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import DataError

type Paths = str | Path | Iterable[str | Path]


def given(logs: Paths) -> list[Path]:
    """List the files and folders that were given.

    Raises
    ------
    DataError
        When there is none, or one does not exist.
    """
    paths = [Path(logs)] if isinstance(logs, str | Path) else [Path(log) for log in logs]
    if not paths:
        raise DataError("no logs are given; give a file, several, or a folder")
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; check the path")
    return paths


def text_of(path: Path) -> str:
    """Read a text file in UTF-8.

    Raises
    ------
    DataError
        When it cannot be read, is empty, holds NUL bytes or has another encoding; file and line
        are named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if not content.strip():
        raise DataError(f"{path}: the file is empty; give one with outcomes")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise DataError(
            f"{path}, line {line}: a NUL byte, which no text holds; the file may be UTF-16: save "
            "it in UTF-8"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8; save the file "
            "in UTF-8"
        ) from None


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON lines: number of the line, from 1, and its object.

    Raises
    ------
    DataError
        When a line is no JSON object; file and line are named.
    """
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number}: this is no JSON ({error})") from None
        if not isinstance(record, dict):
            raise DataError(
                f"{path}, line {number}: this is a {type(record).__name__}; give one JSON object a "
                "line"
            )
        if "\\ud" in line.lower():
            _refuse_half_characters(record, f"{path}, line {number}")
        yield number, record


def _refuse_half_characters(record: dict[str, Any], where: str) -> None:
    """Refuse halves of characters, which JSON can write and no file can hold."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: half a character ({error.reason}); mend the text") from None
