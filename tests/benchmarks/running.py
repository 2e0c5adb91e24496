"""What benchmarks do around their measurements: options, silence, and the table at the end."""

import argparse
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from lines import Line, show


def run(
    name: str,
    about: str | None,
    measure: Callable[[argparse.Namespace], Iterable[Line]],
    arguments: Sequence[str] | None = None,
    *,
    quick: str,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> int:
    """Measure and report; return the exit status, 1 when a goal is missed.

    Parameters
    ----------
    name : str
        In the report.
    about : str, optional
        The benchmark's docstring; its first paragraph is shown as help.
    measure : callable
        From the options that were given to lines of the table.
    arguments : sequence of str, optional
        Instead of those that were typed.
    quick : str
        What there is less of with ``--quick``.
    options : mapping, optional
        Further options of the command, as `argparse` takes them.
    """
    parser = argparse.ArgumentParser(description=(about or "").split("\n\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--quick", action="store_true", help=f"fewer {quick}")
    for option, settings in (options or {}).items():
        parser.add_argument(option, **settings)
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        lines = list(measure(chosen))
    return show(name, time.perf_counter() - start, lines, as_json=chosen.json)
