"""Tables in files: CSV with commas, semicolons or tabs, Parquet, and JSON lines."""

import csv
import json
import re
from collections.abc import Collection
from io import StringIO
from pathlib import Path

import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..linking.errors import short

_MOST_TEXT = 128 * 2**20  # bytes of a file of text; short cells take some thirty times that
_MOST_PARQUET = 2**30  # bytes that a Parquet file unpacks to
_MOST_VALUES = 10_000_000  # values of JSON, each of which takes some hundred bytes
_BATCH = 1000  # rows of a Parquet file that are unpacked at a time
_LONGEST = 2**31 - 1  # characters of a cell; Python's own limit is 131,072
_NUMBER = re.compile(r"[-+]?\d+(?:,\d+)?(?:[eE][-+]?\d+)?")


def read_file(path: Path, names: Collection[str] = ()) -> pd.DataFrame:
    """Read a table; cells of a CSV file are texts, and None where they are empty.

    A CSV file has commas, semicolons or tabs between columns, whichever divides the header into
    most. Where they are semicolons, a column of numbers with decimal commas gets decimal points.

    Parameters
    ----------
    path : Path
        File whose name ends in .csv, .tsv, .txt, .parquet, .pq, .json, .jsonl or .ndjson.
    names : collection of str
        Columns of names, whose texts are kept as they are.

    Raises
    ------
    DataError
        When the file is broken, empty, too large or of another kind; file and line are named.
    """
    try:
        there = path.is_file()
    except (OSError, ValueError):  # too long a name, or a zero byte in it
        there = False
    if not there:
        raise DataError(f"{short(path)}: no such file; check the path")
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".txt"):
        return _csv(path, names)
    if suffix in (".parquet", ".pq"):
        return _parquet(path)
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _json(path)
    raise DataError(f"{path}: give a file whose name ends in .csv, .parquet or .jsonl")


def _text(path: Path) -> str:
    """Read a text in UTF-8, with or without a byte order mark."""
    size = path.stat().st_size
    if size > _MOST_TEXT:
        raise DataError(
            f"{path}: the file has {size / 2**20:,.0f} MiB, and a CSV file of up to "
            f"{_MOST_TEXT / 2**20:.0f} MiB is read, since its cells take many times that memory; "
            "keep only the columns that are needed, save it as Parquet, or give parts of it"
        )
    content = path.read_bytes()
    if not content.strip():
        raise DataError(f"{path}: the file is empty; give one with outcomes, or leave it out")
    try:
        text, start = content.decode("utf-8-sig"), content.find(b"\0")
    except UnicodeDecodeError as error:
        text, start = "", error.start
    if start >= 0:
        line = content[:start].count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{content[start]:02x} is no text in UTF-8 (UTF-16 is "
            "another encoding); save the file in UTF-8"
        )
    return text


def _csv(path: Path, names: Collection[str]) -> pd.DataFrame:
    limit = csv.field_size_limit(_LONGEST)
    try:
        separator, (header, *rows) = _rows(_text(path), path)
    finally:
        csv.field_size_limit(limit)
    cells = [[cell or None for cell in row] for row in rows]
    table = pd.DataFrame(cells, columns=pd.Index(header, dtype=object), dtype=object)
    if separator == ";":
        for column, name in enumerate(header):
            texts = table.iloc[:, column].dropna()
            numbers = texts.map(lambda text: bool(_NUMBER.fullmatch(text.strip())))
            if name not in names and numbers.all() and texts.str.contains(",").any():
                table.isetitem(column, table.iloc[:, column].str.replace(",", ".").array)
    return table


def _separator(text: str, path: Path) -> str:
    """Find what divides the header into most columns."""
    header = text.lstrip("\r\n").partition("\n")[0]
    try:
        widths = {mark: len(next(csv.reader([header], delimiter=mark), [])) for mark in ",;\t"}
    except csv.Error as error:
        raise DataError(f"{path}, line 1: {error}; correct the line") from None
    return max(widths, key=lambda mark: widths[mark])


def _rows(text: str, path: Path) -> tuple[str, list[list[str]]]:
    """Split a text into rows of equal width, the header first; blank lines are left out."""
    separator = _separator(text, path)
    lines = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        for row in filter(None, lines):
            rows.append(row)
            if len(row) != len(rows[0]):
                raise DataError(
                    f"{path}, line {lines.line_num}: {len(row)} cells where the header has "
                    f"{len(rows[0])}; put texts with {separator!r} in quotation marks"
                )
    except csv.Error as error:
        raise DataError(f"{path}, line {lines.line_num}: {error}; correct the line") from None
    return separator, rows


def _json(path: Path) -> pd.DataFrame:
    text = _text(path)
    if sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise DataError(
            f"{path}: there are more than {_MOST_VALUES:,} values, the most that are read at once; "
            "keep only what is needed, or give parts of it"
        )
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            record = json.loads(line or "null")
        except (ValueError, RecursionError) as error:
            fault = f"this is no JSON ({error}); correct the line"
            raise DataError(f"{path}, line {number}: {fault}") from None
        if isinstance(record, dict):
            records.append(record)
        elif record is not None:
            fault = f"this is {kind_of(record)}; give one JSON object a line"
            raise DataError(f"{path}, line {number}: {fault}")
    return pd.DataFrame(records, dtype=object)


def _parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file in batches, since a small file may unpack to any size."""
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            batches, size = [], 0
            for batch in file.iter_batches(_BATCH):
                size += batch.nbytes
                if size > _MOST_PARQUET:
                    raise DataError(
                        f"{path}: there are more than {_MOST_PARQUET / 2**20:,.4g} MiB, the most "
                        "that is read at once; keep only the columns that are needed"
                    )
                batches.append(batch)
            table = Table.from_batches(batches, file.schema_arrow)
        return pd.DataFrame(table.to_pandas())
    except DataError:
        raise
    except Exception as error:  # pyarrow raises many kinds
        raise DataError(f"{path}: this is no Parquet table ({error}); write it as one") from error
