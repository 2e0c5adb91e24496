"""The trust table: what is tested of the promises, counted over one run of the tests.

A test says what it stands for with ``@pytest.mark.trust(kind, name)``: a kind of `KINDS`, and a
short name in words. Without a name it is the test's parameters, or its function. Several tests may
stand for one name: it holds when all of them pass. A test that tries many inputs records how many:
``record_property("inputs", 10_000)``.
"""

from collections import defaultdict

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
}


def note(item):
    """Keep what a collected test stands for; processes of pytest-xdist send it along."""
    for mark in item.iter_markers("trust"):
        kind, *name = mark.args
        if kind not in KINDS:
            raise ValueError(f"{item.nodeid}: no kind {kind!r} of trust; know {', '.join(KINDS)}")
        callspec = getattr(item, "callspec", None)
        default = callspec.id if callspec else item.originalname.removeprefix("test_")
        item.user_properties.append(("trust", (kind, *(name or [default]))))


def lines(stats):
    """Write the table, from the reports of a run by their outcome."""
    held, inputs = defaultdict(lambda: defaultdict(list)), defaultdict(int)
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in stats.get(outcome, []):
            if outcome == "passed" and report.when != "call":
                continue
            properties = report.user_properties
            for kind, name in (value for key, value in properties if key == "trust"):
                held[kind][name].append(outcome)
                inputs[kind] += sum(value for key, value in properties if key == "inputs")
    for kind, about in KINDS.items():
        names = held[kind]
        good = [name for name, outcomes in names.items() if set(outcomes) == {"passed"}]
        tried = f" ({inputs[kind]:,} inputs)" if inputs[kind] else ""
        yield f"{about:<40}{len(good):>5} of {len(names)}{tried}"
        yield from (f"    not: {name}" for name in names if name not in good)
