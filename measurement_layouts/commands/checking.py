"""The command ``check``: a layout against data, before a fit."""

import argparse
import sys

from ..common.progress import waiting
from . import arguments
from .layout_file import load_layout
from .saying import say, width_of


def add(commands: arguments.Commands) -> None:
    """Add the command."""
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
