"""The command ``measurement-layouts``."""

import argparse
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata

from .commands import (
    asking,
    checking,
    designing,
    drawing,
    explaining,
    fitting,
    forecasting,
    importing,
    studies,
)
from .commands.arguments import HelpFormatter
from .common.errors import AnnotationError, DataError, FitError
from .common.saying import say
from .linking import LayoutError

_STATUSES = """\
exit status:
  0    the command succeeded
  1    a negative result, such as a failed check; each command's help states when
  2    the input cannot be used; the reason is one line
  130  stopped by Ctrl-C; what was finished is kept
  141  the reader of the output has closed it, as `head` does
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the command's name; by default what was typed.

    Returns
    -------
    int
        - 0: all went well.
        - 1: a published figure falls short (``reproduce``, ``validate``), a subject did not
          converge or failed (``fit``), a problem was found (``check``), a layout is not calibrated
          or that is inconclusive (``sbc``), a property flagged (``criticise``), or nothing is to be
          asked (``next``).
        - 2: the input cannot be used; the reason is one line on standard error.
        - 130: stopped by Ctrl-C; what ``fit`` has finished is kept, and it goes on from there.
        - 141: the reader of the output has closed it, as ``head`` does.

    Raises
    ------
    SystemExit
        With status 2 when the arguments are wrong, with 0 after the help or the version was asked
        for.

    Examples
    --------
    >>> main(["scenarios"])
    animal-ai-olympics: Animal-AI Olympics: 68 agents look for and reach a reward (Burden ...)
      published layout
      recommended layout
    ...
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot write is no error
            stream.reconfigure(errors="backslashreplace")
    chosen = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            status: int = chosen.run(chosen)
        print(end="", flush=True)  # if standard output is still open
    except KeyboardInterrupt:
        _say("stopped")
        return 130
    except BrokenPipeError:
        _silence()
        return 141
    except (LayoutError, ValueError, RuntimeError, OSError) as error:
        told = LayoutError | DataError | FitError | AnnotationError | OSError
        if not isinstance(error, told):
            raise
        _say(str(error))
        return 2
    return status


def parser() -> argparse.ArgumentParser:
    """Assemble the parser of all commands.

    Returns
    -------
    ArgumentParser
        What it reads has ``run``, which takes it and returns the exit status.
    """
    made = argparse.ArgumentParser(
        prog="measurement-layouts",
        description="Cognitive profiles from your own layout and outcomes, or from published "
        "studies.",
        epilog=_STATUSES,
        formatter_class=HelpFormatter,
    )
    version = metadata.version("measurement-layouts")
    made.add_argument("--version", action="version", version=f"measurement-layouts {version}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for module in (
        importing,
        checking,
        designing,
        drawing,
        fitting,
        forecasting,
        explaining,
        asking,
        studies,
    ):
        module.add(commands)
    return made


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Write the message of a warning."""
    _say(str(message))


def _say(what: str) -> None:
    """Print a text, one line in a file or a pipe, if standard error is still open."""
    with contextlib.suppress(ValueError, OSError):
        say(f"measurement-layouts: {' '.join(what.split())}", error=True)


def _silence() -> None:
    """Redirect the last flush of Python, so that it writes nothing."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
