"""What benchmarks do around their measurements: options, silence, and the table at the end."""

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from battery_cases import DATA, SEED
from lines import Line, show


def parse(
    about: str | None,
    arguments: Sequence[str] | None = None,
    *,
    quick: str | None = None,
    data: bool = False,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> argparse.Namespace:
    """Read the options of a benchmark: ``--seeds`` always, the others where they have a meaning.

    Parameters
    ----------
    about : str, optional
        The benchmark's docstring; its first paragraph is shown as help.
    arguments : sequence of str, optional
        Instead of those that were typed.
    quick : str, optional
        What there is less of with ``--quick``.
    data : bool
        Whether real data are read: ``--data`` names their folder, for other processes too.
    options : mapping, optional
        Further options of the command, as `argparse` takes them.
    """
    parser = argparse.ArgumentParser(description=(about or "").split("\n\n")[0])
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[SEED], metavar="N", help=f"of each run ({SEED})"
    )
    if quick is not None:
        parser.add_argument("--quick", action="store_true", help=f"fewer {quick}")
    if data:
        parser.add_argument("--data", type=Path, metavar="DIR", help=f"real data ({DATA})")
    for option, settings in (options or {}).items():
        parser.add_argument(option, **settings)
    chosen = parser.parse_args(arguments)
    if data and chosen.data is not None:
        os.environ[DATA] = str(chosen.data.resolve())
    return chosen


def run(
    name: str,
    about: str | None,
    measure: Callable[[argparse.Namespace, int], Iterable[Line]],
    arguments: Sequence[str] | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **accepted: Any,
) -> int:
    """Measure with every seed and report; return the exit status, 1 when a goal is missed.

    Parameters
    ----------
    name : str
        In the report.
    about : str, optional
        The benchmark's docstring.
    measure : callable
        From the options that were given and a seed to lines of the table.
    arguments, options, **accepted
        As in `parse`.
    """
    json = {"--json": {"action": "store_true", "help": "one JSON object instead of the table"}}
    chosen = parse(about, arguments, options={**json, **(options or {})}, **accepted)
    start = time.perf_counter()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        found = {seed: list(measure(chosen, seed)) for seed in chosen.seeds}
    lines = [_named(line, seed, len(found)) for seed, own in found.items() for line in own]
    return show(name, time.perf_counter() - start, lines, as_json=chosen.json)


def _named(line: Line, seed: int, seeds: int) -> Line:
    """Tell lines of several seeds apart."""
    if seeds == 1:
        return line
    figure = replace(line.figure, name=f"{line.figure.name}, seed {seed}")
    return replace(line, case=f"{line.case}, seed {seed}", figure=figure)
