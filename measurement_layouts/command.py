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
    checking,
    comparing,
    drawing,
    explaining,
    fitting,
    forecasting,
    importing,
    studies,
)
from .commands.arguments import HelpFormatter
from .commands.saying import say
from .common.errors import AnnotationError, DataError, FitError
from .linking import LayoutError

_STATUSES = """\
exit status:
  0    the command succeeded
  1    a negative result, such as a failed check; each command's help states when
  2    the input cannot be used; the reason is one line
  130  stopped by Ctrl-C; what was finished is kept
  141  the reader of the output has closed it, as `head` does
"""

_IN_PYTHON = {
    "criticise": "ml.validation.criticise(fit, evaluation)",
    "decide": "ml.decisions.accept(forecast) or route(forecast, costs)",
    "describe": "ml.describe(fit)",
    "design": "ml.batteries.design(layout, bank, n)",
    "explain": "fit.explain(item, subject)",
    "next": "ml.AdaptiveTest.next()",
    "record": "ml.AdaptiveTest.record(item, outcome)",
    "sbc": "ml.validation.sbc(layout, items)",
}


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
        - 1: a published figure falls short (``reproduce``), a subject did not converge or failed
          (``fit``), or a problem was found (``check``).
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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     main(["draw", "propensities", "--out", folder])
    /.../propensity-published.svg
    /.../propensity-recommended.svg
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot write is no error
            stream.reconfigure(errors="backslashreplace")
    typed = sys.argv[1:] if arguments is None else arguments
    if typed and typed[0] in _IN_PYTHON:
        parser().error(f"there is no command {typed[0]}; call {_IN_PYTHON[typed[0]]} in Python")
    chosen = parser().parse_args(typed)
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
        drawing,
        fitting,
        forecasting,
        comparing,
        explaining,
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
