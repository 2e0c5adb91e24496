"""The trust table: what is tested of the promises, counted over one run of the tests.

A test says what it stands for with ``@pytest.mark.trust(kind, name)``: a kind of `KINDS`, and a
short name in words. Without a name it is the test's parameters, or its function. Several tests may
stand for one name: it holds when all of them pass. A test that tries many inputs records how many,
``request.node.user_properties.append(("inputs", 10_000))``; one of calibration, the verdict, which
is said where it does not hold.

What is promised stands in ``docs/PROMISES.md``, one promise in a row, with links to its tests: the
name of the function, and its file. Those tests run for the table, whatever they are marked with.
"""

import re
from collections import defaultdict
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "PROMISES.md"
_LINK = re.compile(r"\[`?(test_\w+)`?\]\(\.\./(tests/[\w/]+\.py)\)")

KINDS = {
    "oracles": "oracles equal",
    "metamorphic": "transformations that change nothing",
    "calibration": "layouts calibrated",
    "references": "reference posteriors met",
    "faults": "faults survived",
    "fuzz": "kinds of malformed input refused",
    "security": "attacks withstood",
    "digits": "prints of uncertain numbers",
    "stability": "versions and formats kept",
    "promises": "other promises kept",
}


def note(item):
    """Keep what a collected test stands for; processes of pytest-xdist send it along."""
    for mark in item.iter_markers("trust"):
        kind, *name = mark.args
        if kind not in KINDS:
            raise ValueError(f"{item.nodeid}: no kind {kind!r} of trust; known: {', '.join(KINDS)}")
        callspec = getattr(item, "callspec", None)
        default = callspec.id if callspec else item.originalname.removeprefix("test_")
        item.user_properties.append(("trust", (kind, *(name or [default]))))


def promises(page):
    """Read the promises of a page: each with its tests, as (file, function)."""
    found = {}
    for line in page.splitlines():
        tests = [(file, name) for name, file in _LINK.findall(line)]
        if tests:
            found[line.strip("| ").split(" | ")[0]] = tests
    return found


def promised_tests():
    """Tests that promises link to, as (file, function)."""
    return {test for tests in promises(PAGE.read_text()).values() for test in tests}


def place_of(nodeid):
    """Tell the file and the function of a test, whatever its class and parameters."""
    file, *_, name = nodeid.split("[")[0].split("::")
    return file, name


def lines(stats, page=None):
    """Write the table, from the reports of a run by their outcome, and the page of promises."""
    page = PAGE.read_text() if page is None else page
    held, inputs = defaultdict(lambda: defaultdict(list)), defaultdict(int)
    ran, verdicts = defaultdict(list), {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in stats.get(outcome, []):
            if outcome == "passed" and report.when != "call":
                continue
            ran[place_of(report.nodeid)].append(outcome)
            properties = getattr(
                report, "user_properties", ()
            )  # a file that cannot be read has none
            for kind, name in (value for key, value in properties if key == "trust"):
                held[kind][name].append(outcome)
                inputs[kind] += sum(value for key, value in properties if key == "inputs")
                verdicts[name] = dict(properties).get("verdict", verdicts.get(name, ""))
    for kind, about in KINDS.items():
        tried = f" ({inputs[kind]:,} inputs)" if inputs[kind] else ""
        yield from _row(about, held[kind], tried, verdicts)
    promised = {
        promise: [outcome for test in tests for outcome in ran[test] or ["not run"]]
        for promise, tests in promises(page).items()
    }
    yield from _row("promises tested", promised)


def _row(about, names, more="", verdicts=None):
    """Write how many names hold, and which do not, with the verdict where one was recorded."""
    good = [name for name, outcomes in names.items() if set(outcomes) == {"passed"}]
    yield f"{about:<40}{len(good):>5} of {len(names)}{more}"
    for name in names:
        if name not in good:
            said = (verdicts or {}).get(name)
            yield f"    not: {name}{f': {said}' if said else ''}"
