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
        """Return all that makes one figure, and of the set-up no more than it needs."""
        return f"{_needed(self.setup, self.cells[cell])}\n\n{self.cells[cell]}"


def read(name: str) -> Theme:
    """Read the theme of a name."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    setup, *cells = re.split(r"^# %% ", text, flags=re.MULTILINE)
    about = ast.get_docstring(ast.parse(setup)) or ""
    setup = setup.split('"""', 2)[2].strip()
    code = {title.strip(): code.strip() for title, code in (cell.split("\n", 1) for cell in cells)}
    seen = {title: _first_comment(lines) for title, lines in code.items()}
    return Theme(name, about, setup, code, seen)


def _needed(setup: str, cell: str) -> str:
    """Return the statements of a set-up that bind names which the cell, or one of them, reads."""
    before, kept = setup.split("\n"), [""]
    read = _names(ast.parse(cell), ast.Load)
    for statement in reversed(ast.parse(setup).body):
        own, before = before[statement.lineno - 1 :], before[: statement.lineno - 1]
        bound = _names(statement, ast.Store)
        if bound & read or not bound:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                statement.names = [alias for alias in statement.names if _bound(alias) in read]
                own = [ast.unparse(statement)]
            kept = [*own, *kept]
            read = (read - bound) | _names(statement, ast.Load)
        code = len("\n".join(before).rstrip().split("\n"))
        before, blank = before[:code], before[code:]  # blank lines stay, but do not add up
        kept = [*blank, *kept] if kept[0] else kept
    return "\n".join(kept).strip()


def _names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that are read, or bound, in some code; functions and imports bind theirs."""
    if context is ast.Store and isinstance(tree, ast.FunctionDef):
        return {tree.name}
    if context is ast.Store and isinstance(tree, ast.Import | ast.ImportFrom):
        return set(map(_bound, tree.names))
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, context)}


def _bound(alias: ast.alias) -> str:
    """Return the name under which a module or what is in it is imported."""
    return alias.asname or alias.name.split(".")[0]


def _first_comment(code: str) -> str:
    """Return the comment that some code begins with, as one line."""
    lines = itertools.takewhile(lambda line: line.startswith("# "), code.split("\n"))
    return " ".join(line.removeprefix("# ") for line in lines)


def plots() -> list[str]:
    """Return the plots that have an example, repeated ones twice."""
    return [cell for theme in THEMES for cell in read(theme).cells]
