"""The command ``design``: which items of a bank are most informative."""

import argparse
from typing import TYPE_CHECKING

from ..common.files import write_text
from ..common.progress import waiting
from ..common.saying import say
from . import arguments
from .fit_folder import open_fit
from .layout_file import load_layout

if TYPE_CHECKING:
    from ..batteries.design.result import Design


def add(commands: arguments.Commands) -> None:
    """Add the command."""
    parser = arguments.add_command(
        commands,
        "design",
        _design,
        "Choose the items of a bank that are expected to leave the least uncertainty, as CSV.",
        example="design layout.py:layout --items bank.csv --n 150 --out battery.csv",
    )
    arguments.takes_layout(parser)
    arguments.takes_path(
        parser,
        "--items",
        "FILE",
        "the bank: CSV, Parquet or JSON lines; a column `item`, one per property",
        required=True,
    )
    arguments.takes_numbers(
        parser,
        ("--n", 1, 150, "items to choose"),
        ("--seed", 0, 1, "of the draws of the profile"),
    )
    parser.add_argument(
        "--target", nargs="+", metavar="LATENT", help="latents to learn about (default: all)"
    )
    parser.add_argument(
        "--costs", metavar="COLUMN", help="column of the items' costs (default: 1 each)"
    )
    arguments.takes_path(
        parser,
        "--given",
        "FIT",
        "fit of the layout with the subject to start from",
    )
    parser.add_argument(
        "--subject",
        metavar="NAME",
        help="subject of that fit to start from (default: the only one)",
    )
    arguments.takes_path(parser, "--out", "FILE.csv", "file to write (default: standard output)")
    arguments.takes_overwrite(parser)


def _design(chosen: argparse.Namespace) -> int:
    arguments.refuse_existing([chosen.out], chosen.overwrite)
    with waiting("choosing the items", show=True):
        found = _designed(chosen)
    say(found, error=True)
    table = found.battery.to_csv()
    if chosen.out is None:
        print(table, end="")
    else:
        write_text(chosen.out, table)
    return 0


def _designed(chosen: argparse.Namespace) -> "Design":
    """Choose the items of a battery."""
    from ..batteries.design.design import design
    from .tables import read_items

    layout = load_layout(chosen.layout)
    return design(
        layout,
        read_items(chosen.items),
        chosen.n,
        target=chosen.target,
        costs=chosen.costs,
        given=None if chosen.given is None else open_fit(chosen.given, [chosen.layout]),
        subject=chosen.subject,
        seed=chosen.seed,
    )
