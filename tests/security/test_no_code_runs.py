"""Hostile files are loaded under watch: nothing of them runs, whatever the reader makes of them."""

import pytest
from helpers.hostile_files import CODE, PICKLE, everything
from helpers.watched import loaded

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """By name: what the reader was to say, what it said, and what would have run."""
    folder = tmp_path_factory.mktemp("hostile")
    place = tmp_path_factory.mktemp("place")
    made = list(everything(folder))
    told = loaded([(kind, good, bad) for _, kind, good, bad, _ in made], place)
    assert list(place.iterdir()) == []  # no canary
    return {each[0]: (each[-1], *said) for each, said in zip(made, told, strict=True)}


def test_nothing_runs(found, request):
    assert {name: ran for name, (_, _, ran) in found.items() if ran} == {}


def test_every_reader_says_what_is_wrong(found):
    wrong = {name: said for name, (message, said, _) in found.items() if message not in said}
    assert wrong == {}
    errors = {said.split(":")[0] for _, said, _ in found.values()}
    assert errors == {"", "AnnotationError", "DataError", "FitError"}


@pytest.mark.parametrize(
    ("kind", "content", "event"),
    [("pickle", PICKLE, "pickle.find_class"), ("eval", CODE.encode(), "exec")],
    ids=["pickle", "eval"],
)
def test_what_runs_would_be_noticed(tmp_path, kind, content, event):
    """Twin that must fail: readers that do run what they read."""
    place, path = tmp_path / "place", tmp_path / "hostile"
    place.mkdir()
    path.write_bytes(content)
    ((said, ran),) = loaded([(kind, None, path)], place)
    assert said == f"PermissionError: refused while a file is loaded: {event}"
    assert [line.split()[0] for line in ran] == [event]
    assert list(place.iterdir()) == []
