"""Collect the formulas of the docstrings, with their sources, for the page of methods."""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import references

PACKAGE = Path(__file__).resolve().parent.parent.parent / "measurement_layouts"
CHAPTERS = {
    "Linking functions": ("linking/",),
    "Layouts": ("layouts/",),
    "Likelihood and integration": (
        "inference/model/",
        "inference/kernel/",
        "inference/cells",
        "inference/sampling/grid",
        "inference/posterior/density",
        "batteries/grids",
        "common/density",
    ),
    "Populations": ("inference/population/",),
    "Convergence": ("inference/sampling/", "inference/posterior/", "common/digits"),
    "Horizons": ("estimation/horizons",),
    "Raters": ("estimation/raters",),
    "Estimating one latent": ("estimation/",),
    "Answer by answer": ("inference/sequential/",),
    "Before sampling: what a battery can tell": (
        "validation/checking/",
        "batteries/information/",
        "batteries/design/",
    ),
    "What to ask next": ("batteries/adaptive/", "batteries/next_items"),
    "Forecasts and their scores": (
        "inference/forecasts/",
        "inference/explanations/",
        "validation/prediction/",
        "common/proportions",
        "evaluations/",
    ),
    "Comparing subjects and layouts": (
        "validation/leave_one_out/",
        "validation/comparing/compare.py",
    ),
    "Calibration": ("validation/calibration/",),
    "Criticism": ("validation/criticism/",),
    "Demands and characteristic curves": ("batteries/",),
    "Decisions": ("decisions.py",),
    "Dispositions": ("dispositions/",),
    "Annotation": ("annotation/",),
    "Figures": ("plots/", "reports/"),
    "Scenarios": ("scenarios/",),
}
HOMES = {
    "Linking functions": "measurement_layouts.linking",
    "Demands and characteristic curves": "measurement_layouts.batteries",
    "What to ask next": "measurement_layouts.batteries",
    "Estimating one latent": "measurement_layouts.estimation",
    "Horizons": "measurement_layouts.estimation",
    "Raters": "measurement_layouts.estimation",
    "Comparing subjects and layouts": "measurement_layouts.validation",
    "Calibration": "measurement_layouts.validation",
    "Criticism": "measurement_layouts.validation",
    "Decisions": "measurement_layouts.decisions",
    "Dispositions": "measurement_layouts.dispositions",
    "Annotation": "measurement_layouts.annotation",
    "Figures": "measurement_layouts.plots",
}
"""Where names in single quotes are looked up; elsewhere at the front door."""
_HEADING = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", re.MULTILINE)


@dataclass(frozen=True)
class Card:
    """What one docstring says of how it computes."""

    file: str
    name: str
    text: str
    sources: str

    @property
    def has_formula(self) -> bool:
        """Whether it shows one."""
        return ".. math::" in self.text


def cards() -> list[Card]:
    """Read all docstrings that have a formula or a source."""
    found: list[Card] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        for name, docstring in _docstrings(ast.parse(path.read_text(encoding="utf-8"))):
            parts = _HEADING.split(docstring)
            sections = dict(zip(parts[1::2], parts[2::2], strict=True))
            text, sources = parts[0].strip(), sections.get("References", "").strip()
            for body in parts[2::2]:
                text += "".join(f"\n\n{block}" for block in _math(body))
            card = Card(file, name, text, sources)
            if card.has_formula or sources:
                found.append(card)
    return found


def chapter_of(card: Card) -> str:
    """Return the title under which a card stands."""
    for title, places in CHAPTERS.items():
        if card.file.startswith(places):
            return title
    return "Other"


def page() -> str:
    """Write the page: formulas by chapter, then what has a source without a formula."""
    by_card = {id(card): card for card in cards()}.values()
    out = ["Formulas", "========", "", _LEAD, ""]
    for title in (*CHAPTERS, "Other"):
        here = [card for card in by_card if chapter_of(card) == title]
        if not here:
            continue
        out += [title, "-" * len(title), ""]
        out += [f".. currentmodule:: {HOMES.get(title, 'measurement_layouts')}", ""]
        for card in sorted(here, key=lambda card: not card.has_formula):
            out += _entry(card) if card.has_formula else []
        plain = [card for card in here if not card.has_formula]
        if plain:
            out += [".. rubric:: Other sources", ""]
            out += [f"* {_link(card)}: {' '.join(card.sources.split())}" for card in plain] + [""]
    return "\n".join(out)


_LEAD = """Every formula of the project with its source, read from the docstrings when this page is
built, so that each is written once: beside the code that computes it."""


def _entry(card: Card) -> list[str]:
    summary, _, rest = card.text.partition("\n")
    lines = [_link(card), textwrap.indent(f"{summary}\n{rest}", "   "), ""]
    if card.sources:
        lines += [f"   *Source:* {' '.join(card.sources.split())}", ""]
    return lines


def _link(card: Card) -> str:
    public = [name for name in _public() if name.rsplit(".", 1)[1] == card.name.split(".")[0]]
    if public and not card.name.startswith("_"):
        return f":py:obj:`{card.name} <{public[0]}>`"
    return f"``{card.name}`` in ``{card.file}``"


def _public() -> list[str]:
    if not _NAMES:
        _NAMES.extend(references.public())
    return _NAMES


_NAMES: list[str] = []


def _docstrings(tree: ast.AST, above: str = "") -> Iterator[tuple[str, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{above}{node.name}"
            yield name, ast.get_docstring(node) or ""
            yield from _docstrings(node, f"{name}.")


def _math(text: str) -> list[str]:
    blocks = re.findall(r"^([ ]*)(\.\. math::.*(?:\n(?:\1[ ]+.*|[ ]*))*)", text, re.MULTILINE)
    return [textwrap.dedent(indent + block).strip() for indent, block in blocks]
