"""Text printed by commands: with advice as options, and wrapped at words in a terminal."""

import os
import re
import shlex
import sys
import textwrap
from typing import TextIO

from ..common.messages import visible

_CALL = re.compile(r"\bfit\(\.\.\., ([^()]*)\)")
_ADVISED = re.compile(
    r"\b(draws|tune|chains|overwrite|target_accept|training_items)\b"
    r"(?:=(True|[\d.]*\d))?|\b(subjects?)=(?:'([^']*)')?(?=[\s,;.)]|$)"
)
_NARROWEST = 20  # least number of columns; narrower terminals are treated as if they had so many
_USUAL = 80  # columns of a terminal whose width is unknown


def say(text: object, *, error: bool = False) -> None:
    """Print a text, with advice for Python as `in_options` writes it.

    Control characters are shown as escape sequences. Lines are wrapped in a terminal, and not in
    files and pipes.

    Parameters
    ----------
    text : object
        Text, or an object that `str` converts to it.
    error : bool
        Print it to standard error.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    shown = in_options(visible(text))
    if columns := width_of(stream):
        shown = "\n".join(_wrapped(line, columns) for line in shown.split("\n"))
    print(shown, file=stream)


def in_options(text: str) -> str:
    """Write the advice of a text, which is for Python, as options of commands.

    Parameters
    ----------
    text : str
        Text that may contain calls such as ``fit(..., draws=420)``, or parameters of them.

    Returns
    -------
    str
        The text with options such as ``--draws 420``.

    Examples
    --------
    >>> in_options("ask for 420 a chain: fit(..., tune=2000, draws=420)")
    'ask for 420 a chain: --tune 2000 --draws 420'
    >>> in_options("raise target_accept, as in fit(..., target_accept=0.95), or reparametrise")
    'raise --target-accept, as in --target-accept 0.95, or reparametrise'
    >>> in_options("pass training_items=True")
    'pass --training-items'
    >>> in_options("name one, as subject=")
    'name one, as --subject'
    >>> in_options("name one of them, as in subject='model 1'")
    "name one of them, as in --subject 'model 1'"
    """
    return _ADVISED.sub(_option, _CALL.sub(lambda call: call[1].replace(", ", " "), text))


def _option(found: re.Match[str]) -> str:
    """Write a parameter of Python as an option; other words are not changed."""
    name, value, asked, who = found.groups()
    if asked:
        return f"--{asked}" + (f" {shlex.quote(who)}" if who else "")
    if value is None and "_" not in name:
        return found[0]
    return f"--{name.replace('_', '-')}" + f" {value}" * (value not in (None, "True"))


def width_of(stream: TextIO | None) -> int | None:
    """Find how many columns a terminal has.

    Parameters
    ----------
    stream : file object, optional
        Such as standard output.

    Returns
    -------
    int or None
        Columns; None if the stream is no terminal.
    """
    if stream is None or not stream.isatty():
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
    """Break a line at words, with the same indentation on all lines."""
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
