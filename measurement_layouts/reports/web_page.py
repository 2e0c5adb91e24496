"""HTML pages that load no other files: colours, templates, and permitted scripts."""

import base64
import hashlib
from functools import cache
from pathlib import Path

import jinja2

LIGHT = {
    "paper": "#FFFFFF",
    "raised": "#F6F7F8",
    "ink": "#1A1C1E",
    "quiet": "#565C63",
    "rule": "#DFE2E6",
    "track": "#C3C8CE",
    "accent": "#00609A",
    "alarm": "#9C3A00",
}
"""Colours by variable of the style sheet."""

DARK = {
    "paper": "#14171A",
    "raised": "#1D2125",
    "ink": "#E8EAED",
    "quiet": "#A4ABB3",
    "rule": "#343A41",
    "track": "#4C545D",
    "accent": "#7CC4F2",
    "alarm": "#F5A878",
}
"""Colours of a dark page, for the same variables."""


@cache
def environment(folder: Path) -> jinja2.Environment:
    """Load the templates of a folder; all values are escaped.

    Parameters
    ----------
    folder : Path
        Folder of the page's own templates.

    Returns
    -------
    Environment
        Environment of the templates, the same object for the same folder.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def script_digest(script: str) -> str:
    """Hash a script, so that the page's policy permits this script only.

    Examples
    --------
    >>> script_digest('"use strict";')
    'Xs8vTYPmJg2r1uxI522N3rzPlWVj80ByIhv5YNO4wlU='
    """
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
