"""Names from data are no paths: everything that is written lies in the folder that was named."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main
from measurement_layouts.linking import LayoutError

NAMES = (
    *("../../x", "..", ".", "", "/etc/x", "~/x", "a/b", "a\\b", "C:\\x", "con", "nul", "a" * 300),
    *("a b", "A", "é", "e", "ａ", "a", "a.", "%2e%2e%2f", "..\u2215x"),
    *("-rf", "$HOME", "`x`", "*", "head.nc", "unit-0-1-0.npz", ".lock", "\u202etxt"),
)


def tree(folder):
    """Everything below a folder: name, size and content of files, and where links lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        is_file = path.is_file() and not path.is_symlink()
        content = path.read_bytes() if is_file else None
        found[path.relative_to(folder)] = path.readlink() if path.is_symlink() else content
    return found


@pytest.fixture(scope="module")
def evaluation():
    """Subjects and items of every such name, and a property whose values are such names."""
    columns = [name for name in NAMES if name]  # a column without a name is no item
    items = pd.DataFrame({"kind": columns}, index=columns)
    rng = np.random.default_rng(1)
    outcomes = rng.integers(0, 2, (len(NAMES), len(columns)))
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, NAMES, columns), items)


@pytest.fixture(scope="module")
def layout():
    return ml.Layout("../../x/etc/x", ml.Success("heads", ml.Capability("p", low=0, high=1)))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder deep inside another; the process is elsewhere."""
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(tmp_path / "outside")
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_CACHE", "")
    inside = tmp_path / "a" / "b" / "inside"
    inside.mkdir(parents=True)
    return inside


def fitted(layout, evaluation, **options):
    chosen = {"method": "grid", "draws": 10, "chains": 1, "seed": 1, "progressbar": False}
    return ml.fit(layout, evaluation, **chosen, **options)


@pytest.mark.slow
def test_everything_written_lies_inside(layout, evaluation, place, tmp_path, request):
    before = {path: held for path, held in tree(tmp_path).items() if "inside" not in path.parts}
    whole = fitted(layout, evaluation, store=place / "store")
    whole.save(place / "fit.nc")
    ml.report(whole, place / "report.html", evaluation=evaluation)
    ml.reports.export_tables(whole, place / "tables", evaluation=evaluation)
    layout.draw(place / "layout.svg")
    after = {path: held for path, held in tree(tmp_path).items() if "inside" not in path.parts}
    assert after == before
    assert {path.name for path in place.iterdir()} == {
        *("store", "fit.nc", "report.html", "tables", "layout.svg")
    }
    names = {path.name for path in (place / "store").rglob("*")}
    assert names <= {
        *("head.nc", ".lock"),
        *(f"unit-{row}-{attempt}-0.npz" for row in range(len(NAMES)) for attempt in (1, 2, 3)),
    }


@pytest.mark.slow
def test_no_two_names_collide(layout, evaluation, place):
    whole = fitted(layout, evaluation, store=place / "store")
    whole.save(place / "fit.nc")
    alone = fitted(layout, evaluation)
    for found in (ml.load(place / "store"), ml.load(place / "fit.nc")):
        assert list(found.subjects) == list(NAMES)
        assert found.posterior["p"].equals(alone.posterior["p"])


@pytest.mark.slow
def test_the_command(place, tmp_path, capsys):
    shown = [name for name in NAMES if name]  # an empty cell is no name
    rows = [{"subject": who, "item": what, "outcome": 1} for who in shown for what in shown[:3]]
    table = place.parent / "rows.csv"
    pd.DataFrame(rows).to_csv(table, index=False)
    code = place.parent / "coin.py"
    code.write_text(
        "import measurement_layouts as ml\n"
        "coin = ml.Layout('coin', ml.Success('heads', ml.Capability('p', low=0, high=1)))\n"
    )
    before = {path: held for path, held in tree(tmp_path).items() if "inside" not in path.parts}
    assert main(["import", "table", str(table), "--out", str(place / "data")]) == 0
    asked = ["--outcomes", str(place / "data" / "outcomes.csv"), "--out", str(place / "fit")]
    options = ["--method", "grid", "--draws", "10", "--chains", "1"]
    assert main(["fit", f"{code}:coin", *asked, *options]) in (0, 1)
    after = {path: held for path, held in tree(tmp_path).items() if "inside" not in path.parts}
    assert {path for path in after if "__pycache__" not in path.parts} == set(before)
    assert len(ml.load(place / "fit" / "fit.nc").subjects) == len(shown)


def test_a_zero_byte_is_refused():
    """A file of netCDF would end the name there, and be damaged."""
    items = pd.DataFrame(index=["a"])
    with pytest.raises(ml.DataError) as caught:
        ml.Evaluation.from_wide(pd.DataFrame({"a": [1, 0]}, ["Ann", "x\x00y"]), items)
    assert str(caught.value) == (
        "the table of outcomes: the name 'x\\x00y' in row 1, counted from 0, contains a zero byte, "
        "which ends a text in files; remove it"
    )


@pytest.mark.slow
@pytest.mark.parametrize("link", ["unit-0-1-0.npz", ".unit-0-1-0.npz", ".lock", "head.nc"])
def test_a_store_with_a_link_is_not_written_into(layout, evaluation, place, tmp_path, link):
    store = place / "store"
    small = evaluation.select(subjects=NAMES[:2])
    fitted(layout, small, store=store)
    target = tmp_path / "outside" / "precious"
    target.write_text("precious")
    there = store / link
    there.unlink(missing_ok=True)
    there.symlink_to(target)
    before = tree(tmp_path)
    with pytest.raises(ml.FitError) as caught:
        fitted(layout, evaluation, store=store)
    assert str(caught.value) == (
        f"{there} is a link, but a store must not contain links; replace it by a copy of its "
        "target, or give another store"
    )
    assert tree(tmp_path) == before


def test_a_link_is_replaced_and_not_followed(layout, evaluation, place, tmp_path):
    target = tmp_path / "outside" / "precious"
    target.write_text("precious")
    names = ("fit.nc", "layout.svg", "report.html", "report.md")
    for name in names:
        (place / name).symlink_to(target)
    whole = fitted(layout, evaluation.select(subjects=NAMES[:2]))
    whole.save(place / "fit.nc", overwrite=True)
    layout.draw(place / "layout.svg")
    for name in names[2:]:
        ml.report(whole, place / name, overwrite=True)
    assert target.read_text() == "precious"
    assert not any((place / name).is_symlink() for name in names)


@pytest.mark.parametrize("dim", ["../../x", "..", ".", "a/b", "/etc/x", "x\x00y", "a\\b", " a"])
def test_a_dimension_is_no_path(dim):
    with pytest.raises(LayoutError) as caught:
        ml.Capability("p", low=0, high=1, labels=("u", "v"), dim=dim)
    assert str(caught.value) == (
        f"p: dim={dim!r} must start with a letter and contain only letters, digits, '_', '-', '.' "
        "and spaces inside; choose a name that a variable, a column and a folder can have"
    )


def test_what_leaves_the_folder_would_be_noticed(place, tmp_path):
    """Twin that must fail: a file above the folder, and one written through a link."""
    before = tree(tmp_path)
    (place / ".." / ".." / "x").write_text("")
    assert tree(tmp_path) != before
    (place.parent.parent / "x").unlink()
    assert tree(tmp_path) == before
