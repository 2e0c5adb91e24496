"""Every fault that is to be survived, by its name: none is without a test."""

import re

from helpers import TESTS

NOT_OF_FAULTS = ("test_every_fault.py", "test_trust_table.py")

FAULTS = {
    "outcomes outside {0, 1}": [
        *("an outcome P", "an outcome 0.5", "outcomes True and C in one table", "an outcome 2"),
        *("an outcome P in a row", "half a success", "more successes than trials"),
        "truth values as outcomes",
    ],
    "missing and infinite values": [
        *("a meta-feature that is missing", "an infinite meta-feature", "an infinite outcome"),
        *("a meta-feature that is text", "a count that is missing"),
    ],
    "outcomes that are all alike": ["a subject all success", "a subject all failure"],
    "a constant meta-feature": ["a meta-feature that never varies", "a single level"],
    "ranges": [
        *("a range of no width", "a reversed range", "an end of a range that is no number"),
        *("the log of a zero demand", "a division by a zero demand", "a division by zero"),
    ],
    "layouts that are none": [
        *("a cycle", "an orphan capability", "a layout without a capability"),
        *("a name of two nodes", "a name of a node and the outcome"),
    ],
    "collinear demands": ["perfectly collinear demands"],
    "rows that repeat": [
        *("a row of a subject and item twice", "epochs as repeats", "a subject twice"),
        *("an item twice", "an item twice among the outcomes", "a row without a subject"),
    ],
    "names": [
        "half a character",
    ],
    "other items": [
        *("a new item outside the range", "a training item outside the range"),
        *("an unknown category", "a new item of an unknown category", "a category as text"),
        *("a missing column", "a new item without a column", "no column of outcomes"),
        "no column at all",
        *("a column twice", "permuted columns", "outcomes of an unknown item"),
        *("outcomes of other items", "a forecast of an unknown subject"),
    ],
    "leaks": [
        *("test rows that were trained on", "a name of a trained item with other features"),
        "trained items under other names",
    ],
    "scores": [
        *("a single-class test set", "probabilities of exactly 0 and 1", "empty bins"),
        *("a probability above 1", "a probability that is missing", "a score without a trial"),
        *("nothing to score", "a prediction of steps of outcomes"),
    ],
    "chains": [
        *("no finite start", "fewer chains than R-hat needs", "R-hat that is NaN"),
        *("fewer draws than R-hat needs", "no chain"),
    ],
    "priors": [
        *("a prior that cannot be drawn", "a prior with a negative scale", "a prior of no width"),
        *("a prior of an unknown family", "a prior with an unknown parameter"),
        "a prior of whole numbers",
    ],
    "small evaluations": [
        *("an evaluation of one item", "an evaluation of one subject", "no items", "no subjects"),
        *("a subject without outcomes", "zero trials everywhere"),
    ],
    "workers": ["a worker that is killed", "out of memory in one subject"],
    "disks": [
        *("disk full while saving a fit", "disk full while writing a store"),
        *("disk full from the start of a store", "disk full while writing a report"),
        *("disk full while exporting tables", "disk full while drawing"),
        "a test that adapts, on a disk that is full",
        *("disk full during the command fit", "disk full while writing a forecast"),
        *("a read-only folder", "a read-only folder for the command", "a file that exists"),
        *("two processes writing one store", "a home that cannot be written"),
    ],
    "saved fits": [
        *("a saved fit that is truncated", "a saved fit with a damaged byte"),
        *("a store with a truncated file", "a store with a damaged file"),
        *("a saved fit of another layout", "a store of another layout"),
        "a store of another version",
    ],
    "stopped": [
        *("Ctrl-C keeps what is done", "a command that is stopped or killed"),
        "a fit that is killed",
        *("Ctrl-C while threads sample", "a script that ends while a thread samples"),
        *("Ctrl-C while a layout file runs", "a joint fit that is killed"),
        "Ctrl-C keeps the chains of a joint fit that are done",
        *("a test that adapts, killed between and within calls",),
        "a test that adapts, interrupted anywhere in a call",
        "an adaptive test inside Inspect fails and is retried",
        "an adaptive test inside Inspect is killed",
    ],
    "layout files": [
        *("a layout file that raises", "a layout file that closes what it should not"),
    ],
    "clocks": ["a clock that goes backwards"],
    "large tables": ["CSV of 1 GB"],
    "repeated attempts": ["repeated attempts that depend on each other"],
}


def marked(folder=TESTS):
    """Names that tests are marked with, or that stand in their tables."""
    pattern = re.compile(r'(?:trust\(\s*"faults",\s*|\bfault\(\s*)"([^"]+)"')
    files = (path for path in folder.rglob("test_*.py") if path.name not in NOT_OF_FAULTS)
    return {name for path in files for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_every_fault_has_a_test():
    listed = [name for names in FAULTS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert sorted(set(listed) - marked()) == []


def test_every_test_of_a_fault_is_listed():
    listed = {name for names in FAULTS.values() for name in names}
    assert sorted(marked() - listed) == []
