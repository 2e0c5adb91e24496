"""The command ``report``: one page about a fit, for people who were not there."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import (
    add_command,
    make_writable,
    refuse_existing,
    takes_data,
    takes_fit,
    takes_overwrite,
)
from .fit_folder import FitFolder, open_fit

if TYPE_CHECKING:
    from .arguments import Commands


def add(commands: "Commands") -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        _report,
        "Write a report of a fit: one page, for people who were not there.",
        example="report fitted --out report.html",
    )
    takes_fit(parser)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="ending in .html (one page that needs no network) or .md",
    )
    takes_data(parser, required=False)
    parser.add_argument(
        "--forecast", type=Path, metavar="FILE", help="new items to forecast, as for `forecast`"
    )
    parser.add_argument("--title", metavar="TEXT", help="of the page (the layout's name)")
    takes_overwrite(parser)


def _report(chosen: argparse.Namespace) -> int:
    from ..reports.report import report
    from .tables import fitted_evaluation, read_items

    if not chosen.overwrite:
        refuse_existing([chosen.out], "give another --out, or --overwrite")
    make_writable(chosen.out.parent)
    fit = open_fit(chosen.fit, chosen.layout)
    known = chosen.items or chosen.outcomes or FitFolder(chosen.fit).items.is_file()
    evaluation = None
    if known:
        evaluation = fitted_evaluation(fit, chosen.fit, chosen.items, chosen.outcomes)
    forecast = None if chosen.forecast is None else fit.forecast(read_items(chosen.forecast))
    written = report(
        fit,
        chosen.out,
        evaluation=evaluation,
        forecast=forecast,
        title=chosen.title,
        overwrite=chosen.overwrite,
    )
    print(written)
    return 0
