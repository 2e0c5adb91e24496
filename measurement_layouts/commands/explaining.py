"""The commands ``describe`` and ``criticise``: what a fit says, and what its layout misses."""

import argparse
from typing import TYPE_CHECKING

from ..inference.wording import visible
from .arguments import add_command, takes_data, takes_fit, takes_subjects
from .fit_folder import open_fit

if TYPE_CHECKING:
    from .arguments import Commands


def add(commands: "Commands") -> None:
    """Add the commands."""
    describe = add_command(
        commands,
        "describe",
        _describe,
        "Describe each subject's cognitive profile in plain words.",
        example="describe fitted",
    )
    takes_fit(describe)
    takes_subjects(describe)

    criticise = add_command(
        commands,
        "criticise",
        _criticise,
        "Ask which properties of the items explain what the layout leaves over.",
        example="criticise fitted",
        done="nothing is flagged",
        falls_short="a property, or repeated attempts, are flagged: the layout misses something",
    )
    takes_fit(criticise)
    takes_data(criticise, required=False)
    takes_subjects(criticise)


def _describe(chosen: argparse.Namespace) -> int:
    from ..inference.description.describe import describe

    print(visible(describe(open_fit(chosen.fit, chosen.layout), subjects=chosen.subjects)))
    return 0


def _criticise(chosen: argparse.Namespace) -> int:
    from ..inference.criticism.criticise import criticise
    from ..printing import print_criticism
    from .tables import fitted_evaluation

    fit = open_fit(chosen.fit, chosen.layout)
    evaluation = fitted_evaluation(fit, chosen.fit, chosen.items, chosen.outcomes)
    found = criticise(fit, evaluation, subjects=chosen.subjects)
    print_criticism(found)
    suggested = found.suggestions()
    print(visible("\n".join(suggested or ["nothing is flagged"])))
    return 1 if suggested else 0
