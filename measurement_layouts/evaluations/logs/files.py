"""Reading of files: finding and decoding them, and reading tables or JSON lines."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from ...common.errors import DataError
from ...common.given import kind_of, refuse_other
from ...common.messages import some

type Paths = str | Path | Iterable[str | Path]


def files_among(logs: Paths, inside: Callable[[Path], Iterable[Path]], lacking: str) -> list[Path]:
    """List files, and those that folders contain, each once.

    Parameters
    ----------
    logs : path or iterable of path
        Files and folders.
    inside : callable
        Function that lists the files of a folder.
    lacking : str
        What a folder without such files does not have, and what to do, for messages.

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
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; check the path")
        files = sorted(inside(path)) if path.is_dir() else [path]
        if not files:
            raise DataError(f"{path}: the folder has no {lacking}")
        found |= dict.fromkeys(file.resolve() for file in files)
    return list(found)


def text_of(path: Path) -> str:
    """Read a text file in UTF-8.

    Raises
    ------
    DataError
        When it cannot be read, is empty, contains NUL bytes or has another encoding; file and line
        are named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if not content.strip():
        raise DataError(f"{path}: the file is empty; give one with outcomes, or leave it out")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise DataError(
            f"{path}, line {line}: a NUL byte, which texts do not have; the file may be UTF-16: "
            "save it in UTF-8"
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
        When a line is not a JSON object; the error names file and line.
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


_MOST_BYTES = 128 * 2**20  # of a CSV file; short cells take some thirty times that as texts
_LONGEST = 2**31 - 1  # characters of a cell; Python's own limit is 131,072


def read_file(path: Path) -> pd.DataFrame:
    """Read a table; cells of a CSV file are texts, and None if missing.

    Raises
    ------
    DataError
        When the file is broken, empty or of another kind; file and line are named.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; check the path")
    readers = {
        ".csv": _csv,
        ".parquet": _parquet,
        ".pq": _parquet,
        ".json": _json,
        ".jsonl": _json,
        ".ndjson": _json,
    }
    if path.suffix.lower() not in readers:
        raise DataError(f"{path}: give a file whose name ends in {some(readers, 9)}")
    return readers[path.suffix.lower()](path)


def _csv(path: Path) -> pd.DataFrame:
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise DataError(
            f"{path}: the file has {size / 2**20:,.0f} MiB, and a CSV file of up to "
            f"{_MOST_BYTES / 2**20:.0f} MiB is read, since its cells take many times that memory; "
            "keep only the columns that are needed, save it as Parquet, or give parts of it"
        )
    limit = csv.field_size_limit(_LONGEST)
    try:
        header, *rows = _rows(path)
    finally:
        csv.field_size_limit(limit)
    if len(header) < 2 and any(mark in header[0] for mark in ";\t"):
        raise DataError(
            f"{path}: the table has one column, {header[0]!r}; separate columns by commas"
        )
    cells = [[cell or None for cell in row] for row in rows]
    return pd.DataFrame(cells, columns=pd.Index(header, dtype=object), dtype=object)


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows that are not blank, the header first."""
    lines = csv.reader(StringIO(text_of(path), newline=""), strict=True)
    width = 0
    try:
        for row in lines:
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                raise DataError(
                    f"{path}, line {lines.line_num}: {len(row)} cells where the header has {width};"
                    " put texts with commas in quotation marks"
                )
            yield row
    except csv.Error as error:
        raise DataError(f"{path}, line {lines.line_num}: {error}") from None


def _json(path: Path) -> pd.DataFrame:
    records = [record for _, record in json_lines(path)]
    columns = list(dict.fromkeys(name for record in records for name in record))
    cells: Sequence[Sequence[object]] = [
        [record.get(name) for name in columns] for record in records
    ]
    return pd.DataFrame(cells, columns=pd.Index(columns, dtype=object), dtype=object)


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except Exception as error:  # pyarrow raises many kinds
        raise DataError(f"{path}: this is no Parquet table ({error})") from error
