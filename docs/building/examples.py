"""Examples of figures: scripts in cells, a figure each, after a set-up that they share.

A cell begins with ``# %% name`` and a comment that states what one sees, which is the
alternative text of its picture, and leaves ``axes``. What comes before the first cell is run once.
"""

import ast
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "examples"
THEMES = (
    "profiles",
    "populations",
    "comparisons",
    "forecasts",
    "criticism",
    "curves",
    "designs",
    "propensities",
    "dispositions",
)
LINKING = "linking"


@dataclass(frozen=True)
class Theme:
    """A script: what it is about, its set-up, and its cells and what one sees, by name."""

    name: str
    about: str
    setup: str
    cells: dict[str, str]
    seen: dict[str, str]

    def code(self, cell: str) -> str:
        """Return all that makes one figure."""
        return f"{self.setup}\n\n{self.cells[cell]}"


def read(name: str) -> Theme:
    """Read the theme of a name."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    setup, *cells = re.split(r"^# %% ", text, flags=re.MULTILINE)
    about = ast.get_docstring(ast.parse(setup)) or ""
    setup = setup.split('"""', 2)[2].strip()
    code = {title.strip(): code.strip() for title, code in (cell.split("\n", 1) for cell in cells)}
    seen = {title: _first_comment(lines) for title, lines in code.items()}
    return Theme(name, about, setup, code, seen)


def _first_comment(code: str) -> str:
    """Return the comment that some code begins with, as one line."""
    lines = itertools.takewhile(lambda line: line.startswith("# "), code.split("\n"))
    return " ".join(line.removeprefix("# ") for line in lines)


def plots() -> list[str]:
    """Return the plots that have an example, repeated ones twice."""
    return [cell for theme in THEMES for cell in read(theme).cells]
