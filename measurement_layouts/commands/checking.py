"""Commands for layouts before a fit: ``check`` with data, and ``sbc`` by simulation."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import scenarios
from ..common.errors import DataError
from ..common.progress import waiting
from ..common.saying import say, width_of
from . import arguments
from .layout_file import is_layout_file, load_layout, short_name

if TYPE_CHECKING:
    from ..scenarios.scenario import Case
    from ..validation.calibration.result import SimulationBasedCalibration

_FILES = ("ranks.csv", "table.csv", "ranks.png", "report.md")
_FEWEST = 20


class _Task(NamedTuple):
    case: "Case"
    method: Literal["nuts", "grid"] | None


def add(commands: arguments.Commands) -> None:
    """Add the commands."""
    check = arguments.add_command(
        commands,
        "check",
        _check,
        "Check a layout against data before sampling: how much the data inform each latent.",
        example="check layout.py:layout --items items.csv --outcomes outcomes.csv",
        done="no problem found",
        falls_short="problems found, each printed with its remedy",
    )
    arguments.takes_layout(check)
    arguments.takes_data(check)
    arguments.takes_numbers(check, ("--seed", 0, 1, "seed of the prior's draws"))

    calibrate = arguments.add_command(
        commands,
        "sbc",
        _sbc,
        "Check by simulation whether intervals contain known profiles at their stated rate.",
        example="sbc animal-ai-olympics --simulations 200 --out out/calibration",
        done="every layout is calibrated",
        falls_short="a layout is not calibrated: the table says in which quantity; or its "
        "verdict is inconclusive, since too many simulations did not converge",
    )
    calibrate.add_argument(
        "targets",
        nargs="*",
        metavar="SCENARIO|LAYOUT.py:name",
        help="scenarios, on parts of their embedded batteries; or your own layouts, as Python "
        "files, each of which is executed, with --items",
    )
    calibrate.add_argument("--all", action="store_true", help="every scenario")
    arguments.takes_path(
        calibrate,
        "--items",
        "FILE",
        "of your own layouts: CSV, Parquet or JSON lines; a column `item`, one per property",
    )
    arguments.takes_people(calibrate, "those of your own layouts whose subjects share something")
    arguments.takes_numbers(
        calibrate,
        ("--simulations", _FEWEST, 1000, "simulations of each layout (fewer of slow scenarios)"),
        ("--trials", 1, 1, "attempts per item"),
    )
    arguments.takes_sampling(
        calibrate, "simulation", draws=600, tune=400, chains=2, note="; 99 of all are used"
    )
    arguments.takes_method(
        calibrate,
        about="of your own layouts: NUTS, or integration over a grid",
        those="simulations",
    )
    arguments.takes_path(
        calibrate,
        "--out",
        "DIR",
        f"folder for {', '.join(_FILES)} (out/sbc)",
        default=Path("out", "sbc"),
    )
    arguments.takes_overwrite(calibrate)


def _check(chosen: argparse.Namespace) -> int:
    with waiting("checking the layout", show=True):
        from ..validation.checking.check import check
        from ..validation.checking.result import in_words
        from .tables import read_evaluation

        layout = load_layout(chosen.layout)
        evaluation = read_evaluation(layout, arguments.data_of(chosen))
        found = check(layout, evaluation, seed=chosen.seed)
    say(in_words(found, width_of(sys.stdout)))
    return 1 if found.problems else 0


def _sbc(chosen: argparse.Namespace) -> int:
    with waiting("loading the layouts", show=True):
        from ..validation.calibration.run import sbc

        arguments.refuse_existing([chosen.out / name for name in _FILES], chosen.overwrite)
        tasks = _tasks(chosen)
    arguments.make_writable(chosen.out)
    found = {}
    for name, (case, method) in tasks.items():
        print(name, file=sys.stderr)
        found[name] = sbc(
            case.layout,
            case.items,
            subjects=case.subjects,
            simulations=max(_FEWEST, round(case.share * chosen.simulations)),
            trials=chosen.trials,
            **arguments.sampling_of(chosen),
            method=method,
            n_jobs=chosen.jobs,
        )
        say(f"{name}: {found[name].verdict()}")
        _write(chosen.out, found)
    print(*(chosen.out / name for name in _FILES), sep="\n")
    return 0 if all(one.calibrated for one in found.values()) else 1


def _tasks(chosen: argparse.Namespace) -> dict[str, _Task]:
    """Read the named layouts, by the names under which they are reported."""
    found: dict[str, _Task] = {}
    for target in [*chosen.targets, *(scenarios.NAMES if chosen.all else ())]:
        if is_layout_file(target):
            found[short_name(target)] = _own(target, chosen)
        elif target in scenarios.NAMES:
            scenario = scenarios.get(target)
            for name, case in scenario.calibration().items():
                found[f"{target}, {name}"] = _Task(case, scenario.method)
        else:
            raise DataError(
                f"{target} is neither a scenario ({', '.join(scenarios.NAMES)}) nor a file "
                "LAYOUT.py:name"
            )
    if not found:
        raise DataError("nothing was named; give scenarios, LAYOUT.py:name or --all")
    return found


def _own(target: str, chosen: argparse.Namespace) -> _Task:
    from ..scenarios.scenario import Case
    from .tables import read_items, read_people

    if chosen.items is None:
        raise DataError(f"{target} needs items to be simulated on; give them as --items")
    people = None if chosen.subject_table is None else read_people(chosen.subject_table)
    case = Case(load_layout(target), read_items(chosen.items), subjects=people)
    return _Task(case, chosen.method)


def _write(folder: Path, found: "dict[str, SimulationBasedCalibration]") -> None:
    """Write all files for the finished layouts."""
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd

    from ..plots import rank_ecdf
    from ..validation.calibration.result import report

    ranks, table, picture, text = (folder / name for name in _FILES)
    ranked = {
        name: one.ranks.join(one.status["status"], "simulation") for name, one in found.items()
    }
    pd.concat(ranked, names=["layout"]).droplevel(1).to_csv(ranks)
    pd.concat({name: one.table() for name, one in found.items()}, names=["layout"]).to_csv(table)
    figure = np.ravel(rank_ecdf(found))[0].get_figure(root=True)
    figure.savefig(picture, dpi=150)
    plt.close(figure)
    text.write_text(report(found, picture.name), encoding="utf-8")
