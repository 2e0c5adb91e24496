"""Files that are written: their permissions, and texts of every kind."""

import csv
import os
import stat
from io import StringIO

import pandas as pd
import pytest

from measurement_layouts.common.files import csv_text, write_text


@pytest.fixture
def masked():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("umask", "wanted"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_a_file_has_the_permissions_that_the_umask_leaves(tmp_path, masked, umask, wanted):
    masked(umask)
    write_text(tmp_path / "a.txt", "a")
    assert mode(tmp_path / "a.txt") == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_private_file_stays_private_and_a_link_is_replaced(tmp_path, masked):
    path, link = tmp_path / "a.txt", tmp_path / "link"
    write_text(path, "a")
    path.chmod(0o600)
    link.symlink_to(path)
    for each in (path, link):
        write_text(each, "b")
    assert (mode(path), mode(link), link.is_symlink()) == (0o600, 0o644, False)
    masked(0o077)
    write_text(link, "c")
    assert mode(link) == 0o600


TEXTS = ["\r", "a\r", "\n", "\r\n", "a,b", '"', "", "1"]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("index", [False, True])
def test_texts_of_every_kind_are_read_back(name, index):
    table = pd.DataFrame({"plain": ["Ann"] * len(TEXTS), name: TEXTS}, pd.Index(TEXTS, name="row"))
    header, *rows = csv.reader(StringIO(csv_text(table, index=index), newline=""), strict=True)
    first = 0 if index else 1
    assert header == ["row", "plain", name][first:]
    assert rows == [[text, "Ann", text][first:] for text in TEXTS]
