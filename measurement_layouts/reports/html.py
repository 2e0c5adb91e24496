"""A report as an HTML page: one file that loads nothing."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from .contents import Contents
from .exports import csv
from .pictures import theme
from .sections import sections

_FOLDER = Path(__file__).parent / "templates"
_NUMBER = re.compile(r"[\[<>−]*[\d.∞]|–$")

THEME = {
    "paper": ("#FFFFFF", "#14171A"),
    "raised": ("#F6F7F8", "#1D2125"),
    "ink": ("#1A1C1E", "#E8EAED"),
    "quiet": ("#565C63", "#A4ABB3"),
    "rule": ("#DFE2E6", "#343A41"),
    "accent": ("#00609A", "#7CC4F2"),
    "alarm": ("#9C3A00", "#F5A878"),
}
"""Colours of a light and of a dark page, by variable of the style sheet."""


def as_html(contents: Contents) -> str:
    """Write the page; it has no date, so that the same contents give the same page."""
    script = (_FOLDER / "page.js").read_text(encoding="utf-8").strip()
    written = list(sections(contents))
    templates = _environment()
    table = csv(contents.profiles).encode() if contents.fit.subjects else b""
    parts: Any = templates.get_template("parts.html").module
    body = parts.body(written)
    return templates.get_template("page.html").render(
        contents=contents,
        sections=written,
        body=body,
        style=Markup((_FOLDER / "page.css").read_text(encoding="utf-8").strip()),
        script=Markup(script),
        digest=script_digest(script),
        theme=THEME | theme(str(body)),
        csv=base64.b64encode(table).decode(),
    )


@cache
def _environment() -> jinja2.Environment:
    """Load the templates, which escape all values."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["numeric"] = _numeric
    return made


def _numeric(rows: list[list[str]]) -> list[bool]:
    """Whether all cells of a column begin with a number, or are dashes."""
    columns = zip(*rows, strict=True)
    return [place > 0 and all(map(_NUMBER.match, cells)) for place, cells in enumerate(columns)]


def script_digest(script: str) -> str:
    """Hash a script, so that the page's policy permits this script only.

    Examples
    --------
    >>> script_digest('"use strict";')
    'Xs8vTYPmJg2r1uxI522N3rzPlWVj80ByIhv5YNO4wlU='
    """
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
