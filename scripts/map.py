"""Write the module map of ARCHITECTURE.md from the modules' own first lines."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
ROOMS = ("linking", "layouts", "annotation", "inference", "reports", "scenarios")
ROOMS += ("measurement_layouts",)
BEGIN, END = "<!-- map -->\n", "<!-- end of map -->"


def module_map() -> str:
    """Return one table per room: each file and what it says of itself."""
    parts = []
    for room in ROOMS:
        rows = [
            f"| `{path.relative_to(ROOT)}` | {_first_line(path)} |"
            for path in sorted((ROOT / room).rglob("*.py"))
        ]
        parts.append("\n".join(["| file | what it is |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """Return ARCHITECTURE.md with today's map."""
    head, rest = PAGE.read_text().split(BEGIN)
    return head + BEGIN + module_map() + END + rest.split(END)[1]


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]


if __name__ == "__main__":
    PAGE.write_text(page())
