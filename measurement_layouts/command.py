"""The command ``measurement-layouts``."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import scenarios
from .linking import LayoutError

if TYPE_CHECKING:
    from rich.console import Console

    from .inference.data import Evaluation
    from .inference.results import Fit
    from .scenarios.figures import Figure
    from .scenarios.scenario import Scenario


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Returns
    -------
    int
        0 when all went well and every figure holds, 1 when a figure falls short, 2 when the input
        cannot be used.
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
    draw.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="folder (this one)")

    run = command("run", _run, "Fit all subjects, print their profiles, write everything.")
    run.add_argument("--data", type=Path, metavar="DIR", help="real data; simulated ones otherwise")
    run.add_argument("--out", type=Path, metavar="DIR", help="folder to write (out/SCENARIO)")
    run.add_argument("--seed", type=int, default=1, metavar="N", help="of every random step (1)")
    run.add_argument("--draws", type=int, default=1000, metavar="N", help="per chain (1000)")

    reproduce = command("reproduce", _reproduce, "Hold published figures against obtained ones.")
    reproduce.add_argument("--published", type=Path, required=True, metavar="DIR", help="tables")

    validate = command("validate", _validate, "Score layouts and baselines on held-out items.")
    validate.add_argument("--repeats", type=int, default=15, metavar="N", help="splits (15)")

    for parser_with_figures in (reproduce, validate):
        parser_with_figures.add_argument("--data", type=Path, metavar="DIR", help="real data")
        parser_with_figures.add_argument(
            "--json", action="store_true", help="print one JSON object"
        )
    return parser


def _list(chosen: argparse.Namespace) -> int:
    for name in scenarios.NAMES:
        scenario = scenarios.get(name)
        print(f"{name}: {scenario.title} ({scenario.source})")
        for layout in scenario.layouts:
            print(f"  {layout}")
    return 0


def _draw(chosen: argparse.Namespace) -> int:
    scenario = scenarios.get(chosen.scenario)
    for make in scenario.layouts.values():
        layout = make()
        path = chosen.out / f"{layout.name}.svg"
        if path.exists():
            raise FileExistsError(f"{path} exists already; move it away, or give another --out")
        print(layout.draw(path))
    return 0


def _run(chosen: argparse.Namespace) -> int:
    from .scenarios.study import Study

    scenario = scenarios.get(chosen.scenario)
    folder = chosen.out or Path("out", scenario.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is not empty; move it away, or give another --out"
        )
    evaluation = (
        scenario.load(chosen.data) if chosen.data else scenario.simulate(chosen.seed).evaluation
    )
    layout = next(iter(scenario.layouts.values()))()
    print(f"{scenario.title}: {evaluation!r}", file=sys.stderr)
    study = Study.run(layout, evaluation, seed=chosen.seed, draws=chosen.draws, progressbar=True)
    _print_profiles(study.fit, evaluation)
    for path in study.write(folder):
        print(path)
    return 0


def _reproduce(chosen: argparse.Namespace) -> int:
    from .inference.fitting import fit

    start = time.perf_counter()
    scenario = scenarios.get(chosen.scenario)
    layout = next(iter(scenario.layouts.values()))()
    result = fit(layout, scenario.load(chosen.data), seed=1, progressbar=not chosen.json)
    figures = scenario.compare(result, chosen.published)
    return _report(scenario, figures, time.perf_counter() - start, as_json=chosen.json)


def _validate(chosen: argparse.Namespace) -> int:
    from .inference.validation import hold_out

    start = time.perf_counter()
    scenario = scenarios.get(chosen.scenario)
    scores = hold_out(
        {name: make() for name, make in scenario.layouts.items()},
        scenario.load(chosen.data),
        repeats=chosen.repeats,
        columns=scenario.columns,
        seed=1,
        progressbar=not chosen.json,
    )
    figures = scenario.judge(scores)
    return _report(scenario, figures, time.perf_counter() - start, as_json=chosen.json)


def _report(scenario: "Scenario", figures: list["Figure"], seconds: float, *, as_json: bool) -> int:
    if as_json:
        report = {
            "scenario": scenario.name,
            "seconds": seconds,
            "figures": [figure.to_dict() for figure in figures],
        }
        print(json.dumps(report))
    else:
        from rich.table import Table

        table = Table("figure", "published", "obtained", "goal", "holds")
        for figure in figures:
            published = "" if figure.published is None else f"{figure.published:g}"
            holds = "yes" if figure.holds else "NO"
            table.add_row(figure.name, published, f"{figure.obtained:.4f}", figure.goal, holds)
        _console().print(table)
    return 0 if all(figure.holds for figure in figures) else 1


def _print_profiles(fit: "Fit", evaluation: "Evaluation") -> None:
    from rich.table import Table

    profiles = fit.profiles()
    success = evaluation.success_rates()
    status = fit.diagnostics()["status"]
    profiles["element"] = profiles["node"] + profiles["label"].map(
        lambda name: f"[{name}]" * bool(name)
    )
    elements = list(dict.fromkeys(profiles["element"]))
    table = Table("subject", "success", *elements, "status", title=f"{fit.layout.name}: mean ± sd")
    for subject, rows in profiles.groupby("subject", sort=False):
        shown = [
            f"{row.mean_:.2f} ± {row.sd:.2f}"
            for row in rows.rename(columns={"mean": "mean_"}).itertuples()
        ]
        table.add_row(str(subject), f"{success[subject]:.2f}", *shown, status[subject])
    for subject, reason in fit.failures.items():
        table.add_row(
            subject, f"{success[subject]:.2f}", *[""] * len(elements), f"failed: {reason}"
        )
    _console().print(table)


def _console() -> "Console":
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=160)
