"""Settings that all tests share, and the trust table."""

import gc
import os
import sys

import pytest
import trust_table
from hypothesis import settings

# the same examples each time, and no clock: a busy machine must not fail a test
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("fast")

# compiled modules are kept, here and in the processes that tests start: to rewrite the assertions
# of all test modules takes longer than everything else about collecting them
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser):
    parser.addoption("--trust-table", action="store_true", help="print the trust table at the end")
    parser.addoption(
        "--simulations", type=int, default=100, help="of each layout's calibration (100)"
    )


LONGEST = (
    "test_propensity_published",
    "test_calibration",
    "test_coverage",
    "test_references",
    "test_noncentred",
    "test_propensity_benchmark",
    "test_adele_recovery",
    "test_adele_assessed",
)
"""Files whose slow tests take longest, which start first: no process ends with one, alone."""


def _longest_first(item):
    name = item.path.stem
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


@pytest.hookimpl(tryfirst=True)  # before -m picks
def pytest_collection_modifyitems(items):
    items.sort(key=_longest_first)
    promised = trust_table.promised_tests()
    for item in items:
        trust_table.note(item)
        if trust_table.place_of(item.nodeid) in promised:
            item.add_marker(pytest.mark.trust)


def pytest_collection_finish():
    """Modules and tests stay to the end: no search for garbage needs to visit them again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--trust-table"):
        terminalreporter.section("trust")
        for line in trust_table.lines(terminalreporter.stats):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def simulations(request):
    """How many simulations a calibration takes."""
    return request.config.getoption("--simulations")
