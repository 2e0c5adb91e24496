"""The trust table counts what ran, and names what did not hold."""

from types import SimpleNamespace

import pytest
import trust_table


def report(kind, name, when="call", **more):
    properties = [("trust", (kind, name)), *more.items()]
    return SimpleNamespace(when=when, user_properties=properties)


def test_a_name_holds_when_all_its_tests_pass():
    stats = {
        "passed": [
            report("faults", "full disk"),
            report("faults", "full disk"),
            report("faults", "killed worker"),
            report("fuzz", "layouts", inputs=5000),
            report("fuzz", "tables", inputs=5000),
        ],
        "failed": [report("faults", "killed worker")],
        "skipped": [report("security", "scripts in names", when="setup")],
    }
    lines = list(trust_table.lines(stats))
    assert "faults survived                             1 of 2" in lines
    assert "    not: killed worker" in lines
    assert "kinds of malformed input refused            2 of 2 (10,000 inputs)" in lines
    assert "attacks withstood                           0 of 1" in lines


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
    with pytest.raises(ValueError, match="no kind 'luck' of trust; know oracles"):
        trust_table.note(item)
