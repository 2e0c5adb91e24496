"""What commands print as text: wrapped at words in a terminal, as it stands in files and pipes."""

import os
import sys
import textwrap
from typing import TextIO

from .messages import visible

_NARROWEST = 20  # columns; a narrower terminal is written as if it had so many
_USUAL = 80  # columns of a terminal that does not tell how wide it is


def say(text: object, *, error: bool = False, end: str = "\n") -> None:
    """Print a text; what would steer the terminal is shown as Python writes it.

    Parameters
    ----------
    text : object
        Printed as `str` writes it.
    error : bool
        Print it to standard error.
    end : str
        What is printed after it.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    shown = visible(text)
    if width := _width(stream):
        shown = "\n".join(_wrapped(line, width) for line in shown.split("\n"))
    print(shown, end=end, file=stream)


def _width(stream: TextIO) -> int | None:
    """Find how many columns a terminal has; None where the stream is none."""
    if not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return max(int(told), _NARROWEST)
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(found or _USUAL, _NARROWEST)


def _wrapped(line: str, width: int) -> str:
    """Break a line at words; what continues it is indented as it is."""
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line,
        width,
        subsequent_indent=indent if len(indent) < width // 2 else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
