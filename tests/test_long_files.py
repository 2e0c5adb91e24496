"""What keeps the tests short: which files start first, and what PyTensor leaves out."""

import gc
from collections import Counter

import pytensor
from helpers import TESTS
from helpers.long_files import LONGEST


def test_every_long_file_exists_once():
    """They are named by their stems, so that a file that moves keeps its place."""
    stems = Counter(path.stem for path in TESTS.rglob("test_*.py"))
    assert {name: stems[name] for name in LONGEST} == dict.fromkeys(LONGEST, 1)
    assert len(set(LONGEST)) == len(LONGEST)


def test_pytensor_notes_no_places_and_garbage_is_searched_for():
    """One is set before PyTensor is imported, the other again once tests are collected."""
    assert pytensor.config.traceback__limit == 0
    assert gc.isenabled()
    assert gc.get_freeze_count() > 100_000
