"""Commands for published studies: ``run`` and ``reproduce``."""

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import scenarios
from ..common.messages import many
from ..common.progress import waiting
from ..scenarios.figures import Reproduction
from . import arguments
from .saying import say

if TYPE_CHECKING:
    from ..scenarios.scenario import Scenario


def add(commands: arguments.Commands) -> None:
    """Add the commands."""
    run = arguments.add_command(
        commands,
        "run",
        _run,
        "Fit all subjects, print their profiles, write everything.",
        example="run animal-ai-olympics --out out/animals",
    )
    arguments.takes_path(run, "--data", "DIR", "folder of real data (default: a simulated cohort)")
    arguments.takes_path(run, "--out", "DIR", "new or empty folder to write (out/SCENARIO)")
    arguments.takes_sampling(run)

    reproduce = arguments.add_command(
        commands,
        "reproduce",
        _reproduce,
        "Compare published figures with obtained ones.",
        example="reproduce animal-ai-olympics --published published",
        done="every figure meets its goal",
        falls_short="a figure falls short of its goal",
    )
    arguments.takes_path(
        reproduce, "--published", "DIR", "folder of published tables, for studies that have some"
    )

    run.add_argument(
        "--population",
        action="store_true",
        help="fit the study's layout in which subjects share values",
    )
    for parser in (run, reproduce):
        parser.add_argument(
            "scenario",
            choices=scenarios.NAMES,
            metavar="SCENARIO",
            help=f"one of {', '.join(scenarios.NAMES)}",
        )
    arguments.takes_path(
        reproduce,
        "--data",
        "DIR",
        "folder of real data (default: MEASUREMENT_LAYOUTS_DATA if it is set, else a download)",
    )
    reproduce.add_argument("--json", action="store_true", help="print one JSON object")


def _run(chosen: argparse.Namespace) -> int:
    with waiting("loading the study", show=True):
        from ..inference.fitting import fit
        from ..scenarios.running import write_study
        from .printing import print_profiles

        scenario = scenarios.get(chosen.scenario)
    folder = chosen.out or Path("out", scenario.name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is no empty folder; move it away, or give another --out"
        )
    layout = (
        scenario.shared_layout() if chosen.population else next(iter(scenario.layouts.values()))()
    )
    if chosen.data:
        evaluation = scenario.load(chosen.data)
        origin = f"real subjects from {chosen.data}"
    else:
        evaluation = scenario.simulate(chosen.seed).evaluation
        origin = f"simulated subjects, seed {chosen.seed}; --data reads real ones"
    arguments.make_writable(folder)
    say(f"{scenario.title} ({origin})\n{evaluation!r}", error=True)
    say("Fitted twice: on all items, then without a fifth of them.", error=True)
    options: dict[str, Any] = {
        "method": "nuts" if layout.joint else scenario.method,
        "progressbar": True,
        **arguments.sampling_of(chosen),
    }
    profiles = fit(layout, evaluation, **options)
    try:
        write_study(profiles, evaluation, folder, **options)
    finally:  # what was sampled is neither lost to a full disk nor to a closed pipe
        print_profiles(profiles, evaluation)
    written = sorted(folder.iterdir())
    print(*written, sep="\n")
    say(
        f"{many(len(written), 'file')} with tables and figures in {folder}; fit.nc is the fit, "
        "which `forecast` and `report` read",
        error=True,
    )
    return 0


def _reproduce(chosen: argparse.Namespace) -> int:
    start = time.perf_counter()
    with waiting("loading the study", show=True):
        scenario = scenarios.get(chosen.scenario)
    if scenario.tables and chosen.published is None:
        raise FileNotFoundError(
            f"{scenario.name} is compared with published tables; give their folder as --published"
        )
    with waiting(f"reproducing {scenario.name}, which takes seconds to an hour", show=True):
        found = scenarios.reproduce(scenario.name, chosen.data, chosen.published)
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
