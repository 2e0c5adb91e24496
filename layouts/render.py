"""Diagrams and equations of a layout."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .layout import Layout


def to_graphviz(layout: "Layout") -> str:
    return ""


def to_mermaid(layout: "Layout") -> str:
    return ""


def to_latex(layout: "Layout") -> str:
    return ""


def to_svg(layout: "Layout") -> str:
    return ""


def draw(layout: "Layout", path: Path) -> Path:
    return path
