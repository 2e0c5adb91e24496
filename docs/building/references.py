"""Which names are public, and which the pages of the reference list."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

PAGES = Path(__file__).resolve().parent.parent / "reference"
DOORS = (
    "measurement_layouts",
    "measurement_layouts.linking",
    "measurement_layouts.plots",
    "measurement_layouts.dispositions",
    "measurement_layouts.annotation",
    "measurement_layouts.batteries",
    "measurement_layouts.decisions",
    "measurement_layouts.estimation",
    "measurement_layouts.evaluations",
    "measurement_layouts.reports",
    "measurement_layouts.validation",
)


def public() -> dict[str, object]:
    """Return everything public by its full name; what two doors show, by the first."""
    found: dict[str, object] = {}
    for door in DOORS:
        for name in _door(door).__all__:
            value = getattr(_door(door), name)
            full = f"{door}.{name}"
            if full not in DOORS and not any(value is known for known in found.values()):
                found[full] = value
    return found


def listed(pages: Path = PAGES) -> list[str]:
    """Return the names in the summaries of the reference, repeated ones twice."""
    found: list[str] = []
    for page in sorted(set(pages.glob("*.rst")) - {pages / "scenarios.rst"}):  # made from code
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if new := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = new[1]
            elif entry := re.match(r"   ([A-Za-z_]\w*)$", line):
                found.append(f"{module}.{entry[1]}")
    return found


def gaps(value: object) -> list[str]:
    """Name the sections that the card of something callable lacks."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, Exception)):
        return []
    needed = ["Examples"]
    formula = getattr(value, "formula", value)  # of a linking function
    if inspect.isfunction(formula):
        needed = ["Parameters"] * bool(inspect.signature(formula).parameters) + ["Returns", *needed]
    card = value.__doc__ or ""
    return [name for name in needed if not re.search(rf"^ *{name}\n *-+$", card, re.MULTILINE)]


def file_names() -> dict[str, str]:
    """Return other file names for names that differ in nothing but capitals."""
    names = list(public())
    small = [name.lower() for name in names]
    return {
        name: f"{name}-function"
        for name in names
        if small.count(name.lower()) > 1 and name.rsplit(".", 1)[1].islower()
    }


def _door(name: str) -> ModuleType:
    """Import a module, or take it off the front door."""
    top, _, inside = name.partition(".")
    package = importlib.import_module(top)
    found: ModuleType = getattr(package, inside) if inside else package
    return found
