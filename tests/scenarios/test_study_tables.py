"""Tables of studies: three significant digits."""

import pandas as pd
import pytest

from measurement_layouts.commands import printing

WIDE = {"hours": [14.31234], "low": [9.13], "high": [22.51], "width": [1.03125]}
ERROR = {"elpd_diff": [-109.08123], "dse": [13.57123], "weight": [0.25]}


@pytest.mark.parametrize(
    ("columns", "shown", "not_shown"),
    [
        (WIDE, ("14.3 ", "9.13 ", "22.5 ", "1.03 "), ("14.31", "1.031")),
        (ERROR, ("−109 ", "13.6 ", "0.250"), ("109.0", "13.57")),
        ({"rate": [0.12345]}, ("0.123",), ("0.1234",)),
    ],
    ids=["interval", "error", "neither"],
)
def test_digits(columns, shown, not_shown, capsys):
    printing.print_table(pd.DataFrame({"name": ["x"], **columns}), "a study")
    said = capsys.readouterr().out
    assert all(text in said for text in shown), said
    assert not any(text in said for text in not_shown), said
