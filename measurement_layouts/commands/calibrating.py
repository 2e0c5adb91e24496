"""The command ``sbc``: whether layouts are calibrated, by simulation."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import scenarios
from .arguments import (
    add_command,
    make_writable,
    refuse_existing,
    takes_method,
    takes_numbers,
    takes_overwrite,
)
from .layout_file import is_layout_file, load_layout, short_name

if TYPE_CHECKING:
    from ..inference.sbc.result import SimulationBasedCalibration
    from ..scenarios.calibrated import Case
    from .arguments import Commands

_FILES = ("ranks.csv", "table.csv", "ranks.png", "report.md")
_FEWEST = 20


class _Task(NamedTuple):
    case: "Case"
    method: Literal["nuts", "grid"]


def add(commands: "Commands") -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "sbc",
        _sbc,
        "Check by simulation whether posteriors hold known profiles as often as they say.",
        example="sbc animal-ai-olympics --simulations 200 --out out/calibration",
        done="every layout is calibrated",
        falls_short="a layout is not calibrated: the table says in which quantity; or its "
        "verdict is inconclusive, since too many simulations did not converge",
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SCENARIO|LAYOUT.py:name",
        help="scenarios, on parts of their embedded batteries; or your own layouts, as Python "
        "files, each of which is executed, with --items",
    )
    parser.add_argument("--all", action="store_true", help="every scenario")
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="of your own layouts: CSV, Parquet or JSON lines; a column `item`, one per property",
    )
    numbers = (
        ("--simulations", _FEWEST, 1000, "of each layout; the slow ones of scenarios take a part"),
        ("--trials", 1, 1, "attempts per item"),
        ("--draws", 4, 600, "kept of each chain; 99 of all are used"),
        ("--tune", 1, 400, "tuning steps of each chain"),
        ("--chains", 1, 2, "chains of each simulation"),
        ("--seed", 0, 1, "of every random step"),
    )
    takes_numbers(parser, numbers)
    takes_method(
        parser,
        about="of your own layouts: NUTS, or integration over a grid",
        those="simulations",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out", "sbc"),
        metavar="DIR",
        help=f"folder for {', '.join(_FILES)} (out/sbc)",
    )
    takes_overwrite(parser)


def _sbc(chosen: argparse.Namespace) -> int:
    from ..inference.sbc.run import sbc

    if not chosen.overwrite:
        files = [chosen.out / name for name in _FILES]
        refuse_existing(files, "give another --out, or --overwrite")
    tasks = _tasks(chosen)
    make_writable(chosen.out)
    found = {}
    for name, (case, method) in tasks.items():
        print(name, file=sys.stderr)
        found[name] = sbc(
            case.layout,
            case.items,
            simulations=max(_FEWEST, round(case.share * chosen.simulations)),
            trials=chosen.trials,
            draws=chosen.draws,
            tune=chosen.tune,
            chains=chosen.chains,
            seed=chosen.seed,
            method=method,
            n_jobs=chosen.jobs,
        )
        print(f"{name}: {found[name].verdict()}")
        _write(chosen.out, found)
    print(*(chosen.out / name for name in _FILES), sep="\n")
    return 0 if all(one.calibrated for one in found.values()) else 1


def _tasks(chosen: argparse.Namespace) -> dict[str, _Task]:
    """Read what was asked for, by the name under which it is reported."""
    from ..inference.errors import DataError

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
    from ..inference.errors import DataError
    from ..scenarios.calibrated import Case
    from .tables import read_items

    if chosen.items is None:
        raise DataError(f"{target} needs items to be simulated on; give them as --items")
    return _Task(Case(load_layout(target), read_items(chosen.items)), chosen.method)


def _write(folder: Path, found: "dict[str, SimulationBasedCalibration]") -> None:
    """Write all files, of the layouts that are done."""
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd

    from ..inference.plots import rank_ecdf
    from ..inference.sbc.text import report

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
