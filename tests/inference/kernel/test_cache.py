"""Compiled code is kept between processes, and a bad cache costs time only."""

import os
import subprocess
import sys

import pytest
from helpers import TESTS

from measurement_layouts.common import cache

COUNT = """
import sys
sys.path.insert(0, sys.argv[1])
from helpers.small_layouts import coin, counts
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.kernel import machine
compile_, made = machine._compile, []
machine._compile = lambda *args: made.append(args[0]) or compile_(*args)
evaluation = counts([3], [9])
sampler = compile_sampler(Battery.of(coin(), evaluation))
sampler.on(SubjectData.of(evaluation, "Ann"))
print(len(made))
"""


def compilations(folder):
    """Compilations of a fresh process that has this cache folder."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(TESTS)],
        env={**os.environ, cache.VARIABLE: str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    assert compilations(tmp_path / "new" / "folder") == 1
    assert compilations(tmp_path / "new" / "folder") == 0


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache with one entry; how often it was made."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    made = []

    def get(key="key", content=b"content"):
        return cache.cached(key, ".o", lambda: made.append(key) or content)

    assert get() == get() == b"content"
    assert made == ["key"]
    return get, made


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 60])
def test_a_damaged_entry_is_made_again(kept, tmp_path, damage):
    get, made = kept
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(damage)
    assert get() == get() == b"content"
    assert made == ["key", "key"]


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file" / "below"))
    assert cache.cached("key", ".o", lambda: b"content") == b"content"
