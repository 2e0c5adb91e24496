"""The command ``measurement-layouts``."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import scenarios
from .linking import LayoutError
from .scenarios.figures import Reproduction

if TYPE_CHECKING:
    from .scenarios.scenario import Scenario


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the command's name; by default what was typed.

    Returns
    -------
    int
        0 when all went well and every figure holds, 1 when a figure falls short, 2 when the input
        cannot be used.

    Raises
    ------
    SystemExit
        With status 2 when the arguments are wrong, with 0 after the help was asked for.

    Examples
    --------
    >>> main(["scenarios"])
    animal-ai-olympics: Animal-AI Olympics: 68 agents look for and reach a reward (Burden ...)
      published layout
      recommended layout
    ...
    0
    """
    chosen = _parser().parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
    except (LayoutError, ValueError, RuntimeError, OSError) as error:
        if not _is_for_users(error):
            raise
        print(f"measurement-layouts: {error}", file=sys.stderr)
        return 2
    return status


def _is_for_users(error: Exception) -> bool:
    from .inference.errors import DataError, FitError

    return isinstance(error, LayoutError | DataError | FitError | OSError)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="measurement-layouts", description="Cognitive profiles from published studies."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], about: str, scenario: bool = True
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        if scenario:
            added.add_argument("scenario", choices=scenarios.NAMES, metavar="SCENARIO")
        return added

    command("scenarios", _list, "List the scenarios.", scenario=False)

    draw = command("draw", _draw, "Draw a scenario's layouts into files.")
    draw.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="folder to write into (this one)"
    )

    run = command("run", _run, "Fit all subjects, print their profiles, write everything.")
    run.add_argument(
        "--data", type=Path, metavar="DIR", help="real data (an embedded, simulated cohort)"
    )
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="new or empty folder to write (out/SCENARIO)"
    )
    run.add_argument(
        "--seed", type=_at_least(0), default=1, metavar="N", help="of every random step (1)"
    )
    run.add_argument(
        "--draws", type=_at_least(4), default=1000, metavar="N", help="kept of each chain (1000)"
    )

    reproduce = command("reproduce", _reproduce, "Hold published figures against obtained ones.")
    reproduce.add_argument(
        "--published", type=Path, metavar="DIR", help="published tables, where there are"
    )

    validate = command("validate", _validate, "Score layouts and baselines on held-out items.")
    validate.add_argument(
        "--repeats", type=_at_least(1), default=15, metavar="N", help="random splits (15)"
    )

    for parser_with_figures in (reproduce, validate):
        parser_with_figures.add_argument(
            "--data",
            type=Path,
            metavar="DIR",
            help="real data (those in MEASUREMENT_LAYOUTS_DATA, else downloaded)",
        )
        parser_with_figures.add_argument(
            "--json", action="store_true", help="print one JSON object"
        )
    return parser


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value < 2**63:
            raise argparse.ArgumentTypeError(f"{text!r}; give a whole number of at least {least}")
        return value

    return read


def _list(chosen: argparse.Namespace) -> int:
    for name in scenarios.NAMES:
        scenario = scenarios.get(name)
        print(f"{name}: {scenario.title} ({scenario.source})")
        for layout in scenario.layouts:
            print(f"  {layout}")
    return 0


def _draw(chosen: argparse.Namespace) -> int:
    scenario = scenarios.get(chosen.scenario)
    layouts = [make() for make in scenario.layouts.values()]
    paths = {chosen.out / f"{layout.name}.svg": layout for layout in layouts}
    for path in paths:
        if path.exists():
            raise FileExistsError(f"{path} exists already; move it away, or give another --out")
    _make_writable(chosen.out)
    for path, layout in paths.items():
        print(layout.draw(path))
    return 0


def _run(chosen: argparse.Namespace) -> int:
    from .printing import print_profiles
    from .scenarios.study import Study

    scenario = scenarios.get(chosen.scenario)
    folder = chosen.out or Path("out", scenario.name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is no empty folder; move it away, or give another --out"
        )
    if chosen.data:
        evaluation = scenario.load(chosen.data)
        origin = f"real subjects from {chosen.data}"
    else:
        evaluation = scenario.simulate(chosen.seed).evaluation
        origin = f"simulated subjects, seed {chosen.seed}; --data fits real ones, where there are"
    _make_writable(folder)
    layout = next(iter(scenario.layouts.values()))()
    print(f"{scenario.title} ({origin})\n{evaluation!r}", file=sys.stderr)
    print("Fitted twice: on all items, then without a fifth of them.", file=sys.stderr)
    study = Study.run(
        layout,
        evaluation,
        method=scenario.method,
        seed=chosen.seed,
        draws=chosen.draws,
        progressbar=True,
    )
    try:
        written = study.write(folder)
    finally:  # what was sampled is neither lost to a full disk nor to a closed pipe
        print_profiles(study.fit, evaluation)
    print(*written, sep="\n")
    return 0


def _make_writable(folder: Path) -> None:
    """Find out before a long fit, not after it, that its results could not be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"cannot write into {folder} ({reason}); give another --out") from error


def _reproduce(chosen: argparse.Namespace) -> int:
    start = time.perf_counter()
    scenario = scenarios.get(chosen.scenario)
    if scenario.tables and chosen.published is None:
        raise FileNotFoundError(
            f"{scenario.name} is held against published tables; give their folder as --published"
        )
    found = scenario.reproduce(scenario, chosen.data, chosen.published)
    return _report(scenario, found, time.perf_counter() - start, as_json=chosen.json)


def _validate(chosen: argparse.Namespace) -> int:
    from .inference.validation import hold_out
    from .printing import print_scores

    start = time.perf_counter()
    scenario = scenarios.get(chosen.scenario)
    scores = hold_out(
        {name: make() for name, make in scenario.layouts.items()},
        scenario.load(chosen.data),
        repeats=chosen.repeats,
        columns=scenario.columns,
        method=scenario.method,
        seed=1,
    )
    if not chosen.json:
        print_scores(scores)
    found = Reproduction(scenario.judge(scores))
    return _report(scenario, found, time.perf_counter() - start, as_json=chosen.json)


def _report(scenario: "Scenario", found: Reproduction, seconds: float, *, as_json: bool) -> int:
    if as_json:
        report = {"scenario": scenario.name, "seconds": seconds, **found.to_dict()}
        print(json.dumps(report, allow_nan=False))
    else:
        from .printing import print_figures, print_tables

        print_tables(found.tables)
        print_figures(found.figures)
    return 0 if all(figure.holds for figure in found.figures) else 1
