"""The browser of this machine; nothing is downloaded."""

import os
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

PROMISED = ("CI", "REQUIRE_REAL_DATA")


@contextmanager
def chromium():
    """Open it; without one a test is skipped, and fails where everything is promised."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        message = "there is no chromium; install it (apt-get install chromium)"
        if any(os.environ.get(name) for name in PROMISED):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as driver:  # root, as in a container, has no sandbox
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
