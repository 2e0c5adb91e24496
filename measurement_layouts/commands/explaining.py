"""The command ``report``: one page about a fit."""

import argparse
from pathlib import Path

from ..common.progress import waiting
from . import arguments
from .fit_folder import FitFolder, open_fit
from .saying import say


def add(commands: arguments.Commands) -> None:
    """Add the command."""
    page = arguments.add_command(
        commands,
        "report",
        _report,
        "Write a report of a fit: one page, for readers who did not run it.",
        example="report fitted --out report.html",
    )
    arguments.takes_fit(page)
    arguments.takes_path(
        page,
        "--out",
        "FILE",
        "file to write, ending in .html (one page that works without a network) or .md",
        required=True,
    )
    arguments.takes_data(page, required=False)
    arguments.takes_path(page, "--forecast", "FILE", "new items to forecast, as for `forecast`")
    arguments.takes_path(page, "--bank", "FILE", "items that may be asked next, as for `forecast`")
    page.add_argument(
        "--explain", nargs="+", default=[], metavar="ITEM", help="items of the fit to explain"
    )
    arguments.takes_groups(page)
    page.add_argument("--title", metavar="TEXT", help="title of the page (the layout's name)")
    arguments.takes_overwrite(page)


def _report(chosen: argparse.Namespace) -> int:
    with waiting("writing the report", show=True):
        written = _written(chosen)
    print(written)
    how = "read it with a viewer of Markdown" if written.suffix == ".md" else "open it in a browser"
    say(f"The report is one file with all its pictures; {how}.", error=True)
    return 0


def _written(chosen: argparse.Namespace) -> Path:
    """Write the report; return its path."""
    from ..reports.report import report
    from ..validation.criticism.criticise import criticise
    from .tables import fitted_evaluation, read_items

    arguments.refuse_existing([chosen.out], chosen.overwrite)
    arguments.make_writable(chosen.out.parent)
    fit = open_fit(chosen.fit, chosen.layout)
    groups = {"by": chosen.by, "testlets": chosen.testlets}
    asked = any(groups.values())
    known = chosen.items or chosen.outcomes or FitFolder(chosen.fit).items.is_file()
    evaluation = criticism = None
    if known or asked:
        evaluation = fitted_evaluation(fit, chosen.fit, arguments.data_of(chosen))
    if evaluation is not None and asked:
        criticism = criticise(fit, evaluation, **groups, progressbar=False)
    forecast = None if chosen.forecast is None else fit.forecast(read_items(chosen.forecast))
    return report(
        fit,
        chosen.out,
        evaluation=evaluation,
        forecast=forecast,
        bank=None if chosen.bank is None else read_items(chosen.bank),
        explain=[fit.explain(item, who) for item in chosen.explain for who in fit.subjects],
        criticism=criticism,
        title=chosen.title,
        overwrite=chosen.overwrite,
    )
