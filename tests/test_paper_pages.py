"""Pages that go through a paper: every part is there once, every link and name leads somewhere."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted((DOCS / "studies").glob("paper-*.md"))
WORDS = ("real", "simulated", "a tool", "published", "not here")
DESCRIBED = {
    "paper-000": [  # acknowledgements and impact statement compute nothing
        *("1", "2", "2.1", "2.2", "3", "3.1", "3.2", "3.3", "4", "4.1", "4.2", "4.3", "4.4"),
        *("5", "6", "4.2, other items", "6, first limit", "6, second limit"),
        *(f"Appendix {letter}" for letter in "ABCDEFG"),
        *(f"Appendix B.{number}" for number in range(1, 5)),
        *(f"Figure {number}" for number in range(1, 55)),
        *(f"Table {number}" for number in range(1, 9)),
        *(f"Equation {number}" for number in range(1, 40)),
        *("Listing 1", "Listing 2"),
    ],
    "paper-001": [  # acknowledgements, section 6, compute nothing
        *("1", "2.1", "2.2", "3.1", "3.2", "3.3", "3.4", "4", "7"),
        *(f"5.{number}" for number in range(1, 9)),
        *(f"8.{number}" for number in range(1, 8)),
        *(f"8.5.{number}" for number in range(1, 8)),
        *("9", "9.1", "9.2", "9.3"),
        *(f"Figure {number}" for number in range(1, 32)),
        *(f"Table {number}" for number in range(1, 20)),
        "Equation 1",
        *("1, failures explained", "1, uses of forecasts"),
        *(f"4, {which} limit" for which in ("first", "second", "third", "fourth")),
        *("5.4, selection", "5.4, inspection", "7, other dimensions", "7, sandbagging"),
        *("8.1, many dimensions", "8.1, benchmarks forecast"),
        *("8.1, item design", "8.1, people who predict"),
    ],
    "paper-003": [  # but for the discussion of others' work
        *("1", "2", "3", "4", "4.1", "4.2", "5", "5.1", "5.2", "5.3", "6"),
        *(f"Appendix {letter}" for letter in "ABCDEFG"),
        *(f"Figure {number}" for number in range(1, 16)),
        *(f"Table {number}" for number in range(1, 9)),
    ],
    "paper-004": [
        *("1", "2", "3.1", "3.2", "3.3", "3.4", "3.5", "4", "5", "5.1", "6", "7", "8", "9", "10"),
        *(f"Appendix {letter}" for letter in "ABCDEF"),
        *(f"Figure {number}" for number in range(1, 14)),
        *("Table 1", "Table 2", "Equation 1", "Equation 2", "Equation 3"),
    ],
}
"""Sections with something to compute, what else they describe, figures, tables and equations."""


def is_public(name):
    """Whether a dotted name is exported by the package that it names."""
    package, _, own = name.rpartition(".")
    module = importlib.import_module(package)
    return own in getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])


def leads_nowhere(text, folder=DOCS / "studies"):
    """Links and names that lead nowhere."""
    names = re.findall(r"\{py:obj\}`~?([\w.]+)`", text)
    wrong = [name for name in names if not is_public(name)]
    heads = {
        re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        page, _, place = target.partition("#")
        if target.startswith("https://"):
            continue
        beside = (folder / page).with_suffix("")
        found = [beside.with_suffix(end) for end in (".md", ".rst")]
        found.append(DOCS.parent / "notebooks" / f"{beside.name}.ipynb")
        if (page and not any(path.is_file() for path in found)) or (
            not page and place not in heads
        ):
            wrong.append(target)
    return wrong


def rows(text):
    """Cells of the table's rows."""
    lines = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]


def parts(cell):
    """Sections, figures, tables, equations and listings that a cell names."""
    found = []
    for part in re.split(r", ", cell):
        kind = re.match(r"(Appendix|Figure|Table|Equation|Listing)s? ", part)
        numbers = re.findall(r"\b((?:\d+|[A-G])(?:\.\d+)*)\b", part)
        if kind and re.search(r"\d to \d", part):
            numbers = [str(number) for number in range(int(numbers[0]), int(numbers[1]) + 1)]
        found += [f"{kind[1]} {number}" if kind else number for number in numbers]
    return found


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_every_link_of_a_paper_s_page_leads_somewhere(path):
    assert leads_nowhere(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", DESCRIBED)
def test_nothing_that_the_paper_describes_is_missing(name):
    table = rows((DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8"))
    named = [part for row in table for part in (*parts(row[0]), row[0])]
    assert [part for part in DESCRIBED[name] if part not in named] == []
    for row in table:
        assert len(row) == 5, row
        assert all(word in WORDS for word in re.split(r", and |, ", row[3])), row
        assert row[4], row
        assert row[2] or row[3] == "not here", row
