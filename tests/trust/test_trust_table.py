"""The trust table counts what ran, and names what did not hold."""

from types import SimpleNamespace

import pytest
from helpers import trust_table

PAGE = """
| promise | tested by |
| --- | --- |
| A full disk loses nothing | [`test_full`](../tests/a.py), [`test_fuller`](../tests/a.py) |
| Nothing hangs | [`test_hang`](../tests/b.py) |
| Never run | [`test_asleep`](../tests/b.py) |
"""


def report(kind, name, when="call", test="tests/c.py::test_it", **more):
    properties = [("trust", (kind, name)), *more.items()]
    return SimpleNamespace(when=when, user_properties=properties, nodeid=test)


def test_a_name_holds_when_all_its_tests_pass():
    stats = {
        "passed": [
            report("faults", "full disk", test="tests/a.py::test_full[nc]"),
            report("faults", "full disk", test="tests/a.py::test_fuller"),
            report("faults", "killed worker"),
            report("fuzz", "layouts", inputs=5000),
            report("fuzz", "tables", inputs=5000),
        ],
        "failed": [report("faults", "killed worker", test="tests/b.py::test_hang[1]")],
        "skipped": [report("security", "scripts in names", when="setup")],
    }
    lines = list(trust_table.lines(stats, PAGE))
    assert "faults survived                             1 of 2" in lines
    assert "    not: killed worker" in lines
    assert "kinds of malformed input refused            2 of 2 (10,000 inputs)" in lines
    assert "attacks withstood                           0 of 1" in lines
    assert lines[-3:] == [
        "promises tested                             1 of 3",
        "    not: Nothing hangs",
        "    not: Never run",
    ]


def test_an_inconclusive_layout_does_not_count_as_calibrated():
    said = "inconclusive (of 250 simulations 250 did not converge)"
    stats = {
        "passed": [report("calibration", "coin", verdict="calibrated")],
        "failed": [report("calibration", "abilities", verdict=said)],
    }
    lines = list(trust_table.lines(stats, PAGE))
    place = lines.index("layouts calibrated                          1 of 2")
    assert lines[place + 1] == f"    not: abilities: {said}"


def test_every_promise_has_tests_that_are_there():
    promised = trust_table.promises(trust_table.PAGE.read_text())
    assert len(promised) > 20
    root = trust_table.PAGE.parents[1]
    for promise, tests in promised.items():
        for file, name in tests:
            text = (root / file).read_text()
            assert f"def {name}(" in text, f"{promise}: {file} has no {name}"


@pytest.mark.parametrize("args", [("faults", "one"), ("faults",)], ids=["named", "by parameter"])
def test_what_a_test_stands_for(args):
    item = SimpleNamespace(
        iter_markers=lambda name: [SimpleNamespace(args=args)],
        user_properties=[],
        nodeid="test_it[one]",
        callspec=SimpleNamespace(id="one"),
    )
    trust_table.note(item)
    assert item.user_properties == [("trust", ("faults", "one"))]


def test_an_unknown_kind_is_refused():
    item = SimpleNamespace(
        iter_markers=lambda name: [SimpleNamespace(args=("luck",))], nodeid="test_it"
    )
    with pytest.raises(ValueError, match="no kind 'luck' of trust; known: oracles"):
        trust_table.note(item)
