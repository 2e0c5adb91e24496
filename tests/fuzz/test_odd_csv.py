"""CSV files as they arrive: read rightly, or refused with file, line and what to do."""

import tracemalloc

import pytest

from measurement_layouts import DataError
from measurement_layouts.command import main
from measurement_layouts.evaluations import read_table

ROWS = "subject,item,outcome\nAnn,naïve,1\nBob,b,0\n"


def outcomes_of(path):
    rows = read_table(path).outcomes
    return list(zip(rows["subject"], rows["item"], rows["outcome"], strict=True))


READ = {
    "CSV with a byte order mark": ROWS.encode("utf-8-sig"),
    "CSV with CRLF line ends": ROWS.replace("\n", "\r\n").encode(),
    "CSV with mixed line ends": ROWS.replace("\n", "\r\n", 1).encode(),
    "CSV with quoted cells": '"subject","item","outcome"\n"Ann","naïve","1"\nBob,b,0'.encode(),
}
REFUSED = {
    "CSV in Latin-1": (ROWS.encode("latin-1"), "line 2: byte 0xef is not UTF-8; save the file in"),
    "CSV in UTF-16": (
        ROWS.encode("utf-16"),
        "line 1: a NUL byte, which texts do not have; the file",
    ),
    "CSV in UTF-16 without a mark": (ROWS.encode("utf-16-le"), "line 1: a NUL byte, which texts"),
    "CSV with a NUL byte": (ROWS.replace("b", "b\0").encode(), "line 1: a NUL byte, which te"),
    "CSV with an unclosed quote": (ROWS.replace("Bob", '"Bob').encode(), "line 3: unexpected end"),
    "CSV with a ragged row": ((ROWS + "Cy,a\n").encode(), "line 4: 2 cells where the header has 3"),
    "CSV without rows": (b"subject,item,outcome\n", "there are no rows; give some"),
    "empty CSV": (b"", "the file is empty; give one with outcomes"),
    "CSV with semicolons": (
        ROWS.replace(",", ";").encode(),
        "one column, .* separate columns by c",
    ),
    "CSV with decimal commas": (
        ROWS.replace("1\n", "0,5\n").encode(),
        "line 2: 4 cells where the ",
    ),
    "CSV with a quoted decimal comma": (
        ROWS.replace("1\n", '"0,5"\n').encode(),
        r"Ann on naïve \('0,5'\); code outcomes as numbers in \[0, 1\]",
    ),
}


def named(cases):
    return [pytest.param(case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize("content", named(READ))
def test_it_is_read(content, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert outcomes_of(path) == [("Ann", "naïve", 1.0), ("Bob", "b", 0.0)]


@pytest.mark.parametrize("case", named(REFUSED))
def test_it_is_refused(case, tmp_path, capsys):
    content, complaint = case
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=complaint):
        read_table(path)
    assert main(["import", "table", str(path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("measurement-layouts: ")
    assert said.count("\n") == 1


def test_a_file_that_memory_may_not_hold_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    with path.open("r+b") as file:
        file.truncate(2**30)  # takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(
            DataError, match=r"rows\.csv: the file has 1,024 MiB, and a CSV file of"
        ):
            read_table(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22
