"""The page that goes through the paper of measurement layouts: every part is there."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "studies" / "paper-003.md"
WORDS = {"real", "simulated", "a tool", "published", "not here"}
DESCRIBED = [
    *("1", "2", "3", "4", "4.1", "4.2", "5", "5.1", "5.2", "5.3", "6"),
    *(f"Appendix {letter}" for letter in "ABCDEFG"),
    *(f"Figure {number}" for number in range(1, 16)),
    *(f"Table {number}" for number in range(1, 9)),
]
"""Its sections, appendices, figures and tables, but for the discussion of others' work."""


def rows(text):
    """Cells of the table's rows."""
    return [
        [cell.strip() for cell in line.split("|")]
        for line in re.findall(r"^\|(.*)\|$", text, re.MULTILINE)[2:]
    ]


def parts(cell):
    """Sections, figures and tables that a cell names."""
    found = []
    for part in cell.split(", "):
        kind = re.match(r"(Appendix|Figure|Table)s? ", part)
        numbers = re.findall(r"\b(\d+(?:\.\d+)?|[A-G])\b", part)
        found += [f"{kind[1]} {number}" if kind else number for number in numbers]
    return found


def missing(text):
    """Parts of the paper that no row names."""
    named = [part for row in rows(text) for part in parts(row[0])]
    return [part for part in DESCRIBED if part not in named]


def leads_nowhere(text):
    """Names that are not public, and links to pages that are not there."""
    names = re.findall(r"\{py:obj\}`~?([\w.]+)`", text)
    split = [name.rpartition(".") for name in names]
    wrong = [f"{p}.{own}" for p, _, own in split if own not in importlib.import_module(p).__all__]
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        beside = PAGE.parent / target
        notebook = ROOT / "notebooks" / f"{beside.name}.ipynb"
        if not (beside.with_name(f"{beside.name}.md").is_file() or notebook.is_file()):
            wrong.append(target)
    return wrong


def test_nothing_that_the_paper_describes_is_missing():
    text = PAGE.read_text(encoding="utf-8")
    assert missing(text) == []
    for row in rows(text):
        assert len(row) == 5, row
        assert {*row[3].replace("and ", "").split(", ")} <= WORDS, row
        assert row[2], row
        assert row[4], row


def test_its_links_lead_somewhere():
    assert leads_nowhere(PAGE.read_text(encoding="utf-8")) == []


def test_what_is_missing_or_leads_nowhere_is_noticed():
    """Twin: a row taken out, a name that is not public, a page that is not there."""
    text = PAGE.read_text(encoding="utf-8")
    assert missing(re.sub(r"^\| Table 5 .*\n", "", text, flags=re.MULTILINE)) == ["Table 5"]
    spoilt = (
        "{py:obj}`~measurement_layouts.gone` [a](../how-to/gone) [b](../how-to/handle-guessing)"
    )
    assert leads_nowhere(spoilt) == ["measurement_layouts.gone", "../how-to/gone"]
