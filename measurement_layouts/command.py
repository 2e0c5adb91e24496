"""The command ``measurement-layouts``: its commands, exit statuses and errors on one line."""

import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import metadata

from cyclopts import App, CycloptsError, Parameter

from .commands.fitting import fit
from .commands.importing import imports
from .commands.layouts import check, draw
from .commands.studies import reproduce, run
from .commands.uses import compare, forecast, report, score

_STATUSES = """\
Exit status:

- 0: the command succeeded
- 1: a negative result: `check` found a problem, a subject of `fit` failed or did not converge, or a
  figure of `reproduce` falls short of its goal
- 2: the input cannot be used; the reason is one line
- 130: stopped by Ctrl-C; what `fit` has finished is kept
- 141: the reader of the output has closed it, as `head` does"""

_EXAMPLES: dict[Callable[..., int | None], str] = {
    check: "check layout.py:layout --items items.csv --outcomes outcomes.csv",
    draw: "draw layout.py:layout --out layout.svg",
    fit: "fit layout.py:layout --items items.csv --outcomes outcomes.csv --out fitted",
    forecast: "forecast fitted --items new.csv --out forecasts.csv",
    score: "score fitted --items new.csv --outcomes new_outcomes.csv",
    compare: "compare fitted --by success --cluster task",
    report: "report fitted --out report.html",
    run: "run animal-ai-olympics --out out/animals",
    reproduce: "reproduce animal-ai-olympics --published published",
}


def application() -> App:
    """Assemble the commands; their options are the parameters of functions.

    Returns
    -------
    App
        Called with what was typed, it returns the exit status, or None after help or the version.
    """
    app = App(
        name="measurement-layouts",
        help="Cognitive profiles from your own layout and outcomes, or from published studies.",
        help_epilogue=_STATUSES,
        help_format="markdown",
        version=f"measurement-layouts {metadata.version('measurement-layouts')}",
        default_parameter=Parameter(negative=(), consume_multiple=True),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for command, example in _EXAMPLES.items():
        app.command(command, help_epilogue=f"Example: `measurement-layouts {example}`")
    app.command(imports)
    return app


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
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(message)
            status = application()(typed, exit_on_error=False, print_error=False)
        print(end="", flush=True)  # if standard output is still open
    except CycloptsError as error:
        command = " ".join(["measurement-layouts", *(error.command_chain or ())])
        _say(f"{str(error).rstrip('.')}; see {command} --help")
        return 2
    except KeyboardInterrupt:
        _say("stopped")
        return 130
    except BrokenPipeError:
        with suppress(OSError):  # the last flush of Python writes nothing
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, RuntimeError, OSError) as error:
        from .linking.errors import ReadableError

        if not isinstance(error, ReadableError | OSError):
            raise
        _say(error)
        return 2
    return status or 0


def _say(what: object) -> None:
    """Print a text on one line, if standard error is still open."""
    from .commands.printing import say

    with suppress(ValueError, OSError):
        say(f"measurement-layouts: {' '.join(str(what).split())}", error=True)
