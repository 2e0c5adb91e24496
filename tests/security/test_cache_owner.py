"""The cache holds machine code, which is run: it is read only where nobody else can write."""

import hashlib
import logging
import os

import pytest

from measurement_layouts.common import cache

REMEDY = "remove that permission (chmod go-w), or let MEASUREMENT_LAYOUTS_CACHE name another folder"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache's folder, not there yet."""
    cache._warn.cache_clear()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def kept(place):
    """A folder with one entry, and the entry."""
    get(b"good")
    (entry,) = place.iterdir()
    assert get(b"made again") == b"good"
    return place, entry


def get(content, key="key"):
    return cache.cached(key, ".o", lambda: content)


def planted(key, content):
    """What an entry looks like to whoever knows how it is written."""
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest() + content


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_folder_that_others_may_write_to(kept, caplog, mode):
    folder, entry = kept
    entry.write_bytes(planted("key", b"evil"))
    assert get(b"good") == b"evil"  # of the user's own: nobody else can have written it
    folder.chmod(mode)
    with caplog.at_level(logging.WARNING):
        assert get(b"good") == get(b"good") == b"good"
    assert caplog.messages == [
        f"{folder} is not used: it is for machine code, and others may write to it (mode "
        f"{mode:o}); {REMEDY}"
    ]
    assert entry.read_bytes() == planted("key", b"evil")  # nothing is written there either


def test_a_folder_of_somebody_else(kept, caplog, monkeypatch):
    folder, _ = kept
    owner = os.geteuid()
    stranger = owner + 1
    if owner == 0:  # root's folders are everybody's to use: so it is a user's
        os.chown(folder, stranger, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: stranger)
    theirs = folder.stat().st_uid
    with caplog.at_level(logging.WARNING):
        assert get(b"made") == b"made"
    assert caplog.messages == [
        f"{folder} is not used: it is for machine code, and it belongs to user {theirs}; {REMEDY}"
    ]


def test_a_file_that_others_may_write_to(kept, caplog):
    _, entry = kept
    entry.chmod(0o666)
    with caplog.at_level(logging.WARNING):
        assert get(b"made") == b"made"
    assert caplog.messages == [
        f"{entry} is not used: it is for machine code, and others may write to it (mode 666); "
        "delete it"
    ]
    assert get(b"again") == b"made"  # replaced by a file of one's own


def test_a_link_to_a_file_elsewhere(kept, tmp_path):
    _, entry = kept
    elsewhere = tmp_path / "downloaded"
    elsewhere.write_bytes(planted("key", b"evil"))
    entry.unlink()
    entry.symlink_to(elsewhere)
    assert get(b"good") == b"good"
    assert not entry.is_symlink()
    assert elsewhere.read_bytes() == planted("key", b"evil")


def test_an_entry_renamed_to_another_key(kept):
    folder, entry = kept
    get(b"other", key="other key")
    (other,) = set(folder.iterdir()) - {entry}
    entry.replace(other)
    assert get(b"made", key="other key") == b"made"


def test_a_new_folder_is_the_user_s_alone(place):
    before = os.umask(0)
    try:
        get(b"content")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (place, *place.iterdir())}
    assert set(modes.values()) == {0o700, 0o600}
