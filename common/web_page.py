"""Pages that a browser opens and that load nothing: colours, templates, and what may run."""

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
"""By variable of the style sheet."""

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
"""The same variables."""


@cache
def environment(folder: Path) -> jinja2.Environment:
    """Read templates from a folder, and those that pages share; all that they write is escaped.

    Parameters
    ----------
    folder : Path
        Of the page's own templates.

    Returns
    -------
    Environment
        The same for the same folder.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, Path(__file__).parent / "templates"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def script_digest(script: str) -> str:
    """Hash a script, so that the page's policy allows it and no other.

    Examples
    --------
    >>> script_digest('"use strict";')
    'Xs8vTYPmJg2r1uxI522N3rzPlWVj80ByIhv5YNO4wlU='
    """
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
