"""Tables of whole columns."""

import io

import pytest
from rich.console import Console

from measurement_layouts.commands.tables_that_fit import Fitting


def shown(table, width):
    out = io.StringIO()
    Console(file=out, width=width).print(table.table("title"))
    return out.getvalue()


def wide():
    table = Fitting(("subject", "a", "b", "status"), long=("subject",))
    table.add("s" * 60, "1.0 ± 0.1*", "n" * 30, "ok")
    return table


@pytest.mark.parametrize(("width", "left"), [(46, ["b"]), (78, ["b"]), (79, []), (200, [])])
def test_columns_are_whole_or_left_out(width, left):
    """Subject 20, a 10, b 30, status 6, three between two cells and one more: 79."""
    table = wide()
    assert table.fit(width, needed=("subject", "status")) == left
    text = shown(table, width)
    assert max(map(len, text.splitlines())) <= width
    assert ("n" * 30 in text) == (not left)
    assert "1.0 ± 0.1*" in text
    assert text.count("s") == 60 + "subject".count("s") + "status".count("s")
    assert "…" not in text


def test_marks_count_where_they_are_shown():
    table = wide()
    assert table.shows("*")
    table.fit(30, needed=("subject", "status"))
    assert not table.shows("*")
