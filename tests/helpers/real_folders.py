"""Folders of real data, where this machine has them."""

import os
from pathlib import Path

import pytest


def missing(reason):
    """Skip on a user's machine; fail where the real data are promised."""
    if os.environ.get("CI") or os.environ.get("REQUIRE_REAL_DATA"):
        pytest.fail(f"{reason}; the real data are required here (CI or REQUIRE_REAL_DATA is set)")
    pytest.skip(reason)


def study(folder, *files):
    """Folder of one study's real data."""
    named = os.environ.get("MEASUREMENT_LAYOUTS_DATA")
    if not named:
        missing("MEASUREMENT_LAYOUTS_DATA is not set: no real data")
    found = Path(named, folder)
    if not all((found / name).is_file() for name in files):
        missing(f"{found} lacks {' or '.join(files)}")
    return found
