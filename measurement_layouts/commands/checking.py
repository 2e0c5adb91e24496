"""The command ``check``: a layout against data, before anything is sampled."""

import argparse
from typing import TYPE_CHECKING

from ..inference.wording import visible
from .arguments import add_command, at_least, takes_data, takes_layout
from .layout_file import load_layout

if TYPE_CHECKING:
    from .arguments import Commands


def add(commands: "Commands") -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "check",
        _check,
        "Check a layout against data before sampling: what each latent would be informed by.",
        example="check layout.py:layout --items items.csv --outcomes outcomes.csv",
        done="no problem found",
        falls_short="problems found, each printed with its remedy",
    )
    takes_layout(parser)
    takes_data(parser)
    parser.add_argument(
        "--seed", type=at_least(0), default=1, metavar="N", help="of the prior's draws (1)"
    )


def _check(chosen: argparse.Namespace) -> int:
    from ..inference.checking.check import check
    from .tables import read_evaluation

    layout = load_layout(chosen.layout)
    found = check(layout, read_evaluation(layout, chosen.outcomes, chosen.items), seed=chosen.seed)
    print(visible(found))
    return 1 if found.problems else 0
