"""The command ``design``: which items of a bank are most informative."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..common.errors import DataError
from ..common.files import write_text
from ..common.progress import waiting
from ..common.saying import say
from . import arguments
from .fit_folder import open_fit
from .layout_file import load_layout

if TYPE_CHECKING:
    from ..batteries.design.quotas import Quota
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
        ("--n", 1, 150, "items to choose, repeats counted"),
        ("--repeats", 1, 1, "times that an item may be chosen"),
        ("--seed", 0, 1, "of the draws of the profile"),
    )
    parser.add_argument(
        "--target", nargs="+", metavar="LATENT", help="latents to learn about (default: all)"
    )
    parser.add_argument(
        "--costs", metavar="COLUMN", help="column of the items' costs (default: 1 each)"
    )
    parser.add_argument("--budget", type=float, metavar="X", help="cost of all items together")
    parser.add_argument(
        "--quota",
        nargs="+",
        default=[],
        metavar="COLUMN=LOW:HIGH:LEAST",
        help="at least LEAST items whose COLUMN is from LOW to HIGH",
    )
    parser.add_argument(
        "--most",
        nargs="+",
        default=[],
        metavar="COLUMN:K",
        help="at most K items of each value of COLUMN",
    )
    arguments.takes_path(
        parser,
        "--given",
        "FIT",
        "fit of the layout to start from: to one subject, or, if subjects share something, "
        "the joint fit of others, for newcomers",
    )
    parser.add_argument(
        "--subject",
        metavar="NAME",
        help="subject of that fit to start from (default: the only one)",
    )
    arguments.takes_people(parser, "of newcomers, one row; needed if the layout uses some")
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
    from .tables import read_items, read_people

    subject = chosen.subject
    if chosen.subject_table is not None:
        subject = read_people(chosen.subject_table)
    layout = load_layout(chosen.layout)
    return design(
        layout,
        read_items(chosen.items),
        chosen.n,
        target=chosen.target,
        costs=chosen.costs,
        budget=chosen.budget,
        quotas=_quotas(chosen.quota, chosen.most),
        repeats=chosen.repeats,
        given=None if chosen.given is None else open_fit(chosen.given, [chosen.layout]),
        subject=subject,
        seed=chosen.seed,
    )


def _quotas(least: Sequence[str], most: Sequence[str]) -> "list[Quota]":
    """Read quotas as they are typed."""
    from ..batteries.design.quotas import Quota

    found = []
    for text in least:
        column, _, numbers = text.rpartition("=")
        try:
            low, high, count = numbers.split(":")
            found.append(Quota(column, low=float(low), high=float(high), least=int(count)))
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"--quota {text} is none; give COLUMN=LOW:HIGH:LEAST, such as size=4:5:3"
            ) from error
    for text in most:
        column, _, count = text.rpartition(":")
        if not column or not count.isdecimal():
            raise DataError(f"--most {text} is none; give COLUMN:K, such as source:20")
        found.append(Quota(column, most=int(count)))
    return found
