"""No text in a table of a report is a formula to a spreadsheet, however it cuts the lines."""

import csv
import io

import pandas as pd
import pytest

from measurement_layouts.reports.exports import csv as written

CALLS = '=cmd|" /C calc"!A1'
NAMES = (
    *(CALLS, "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"),
    *(f"Ann;{CALLS}", "Ann\t=1", 'Ann"\n=1', "Ann\r\n=1", '";=1', "a;b;-1;c"),
)
STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def cells(text, separator):
    """Cells as a spreadsheet with this separator reads them; quotes of no use are letters."""
    return [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", NAMES)
def test_no_cell_is_a_formula(name, separator):
    table = pd.DataFrame({name: [name, "Ann"], "mean": [-0.5, 2.0]})
    texts = [cell for cell in cells(written(table), separator) if not cell.endswith("-0.5")]
    assert [cell for cell in texts if cell.startswith(STARTS)] == []


@pytest.mark.parametrize(("name", "separator"), [("=1+1", ","), ("Ann;=1+1", ";")])
def test_as_pandas_writes_them_they_are(name, separator):
    """Twin that must fail."""
    raw = pd.DataFrame({"name": [name]}).to_csv(index=False)
    assert any(cell.startswith("=") for cell in cells(raw, separator))


def test_other_texts_and_numbers_stay():
    table = pd.DataFrame({"name": ["Ann-Lee", "a = b; c", "1-2", "x\n\ny"], "mean": [-1, 2, 3, 4]})
    assert pd.read_csv(io.StringIO(written(table))).equals(table)
