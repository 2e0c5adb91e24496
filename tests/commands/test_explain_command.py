"""The command ``explain``: sentences of one forecast, and what it refuses."""

import pytest

from measurement_layouts.command import main


def said(capsys, *arguments):
    assert main(["explain", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_a_fitted_item_and_a_new_one_are_explained(fitted, data, capsys):
    told = said(capsys, fitted, "--item", "003", "--subject", "Ann")
    assert "Ann" in told.splitlines()[0]
    assert "003: success 0." in told
    assert "nearest training items, Ann succeeded" in told
    items = data / "new" / "items.csv"
    new = (fitted, "--item", "new-001", "--items", items, "--subject", "Bob")
    told = said(capsys, *new, "--set", "distance=1", "--change", "reach=2")
    assert told.count("With ") == 3
    assert "With reach 2 m more: success 0." in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--item", "nothing", "--subject", "Ann"], "the fit has no item 'nothing'"),
        (["--item", "003"], "the fit has 3 subjects"),
        (["--item", "003", "--subject", "Ann", "--set", "distance"], "--set distance; give NAME="),
        (["--item", "003", "--subject", "Ann", "--change", "reach=far"], "--change reach=far"),
        (["--item", "003", "--subject", "Ann", "--set", "reach=2"], "instead names reach"),
    ],
)
def test_what_cannot_be_explained_is_one_line(fitted, capsys, arguments, message):
    assert main(["explain", str(fitted), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_item_that_the_table_lacks_is_named(fitted, data, capsys):
    items = str(data / "new" / "items.csv")
    status = main(["explain", str(fitted), "--item", "003", "--items", items, "--subject", "Ann"])
    assert status == 2
    assert "there is no item '003' in" in capsys.readouterr().err


def test_the_report_explains_items_for_everybody(fitted, tmp_path, capsys):
    path = tmp_path / "why.md"
    assert main(["report", str(fitted), "--out", str(path), "--explain", "003"]) == 0
    text = path.read_text(encoding="utf-8").split("## Forecasts explained")[1]
    assert text.count("003: success") == 3
