"""The command ``compare``: subjects of a fit or of a table, or the layouts of several fits."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.errors import FitError
from ..common.progress import waiting
from . import arguments
from .fit_folder import FitFolder, open_fit

if TYPE_CHECKING:
    from ..inference.fit import Fit
    from ..validation.comparing.result import Comparison


def add(commands: arguments.Commands) -> None:
    """Add the command."""
    compare = arguments.add_command(
        commands,
        "compare",
        _compare,
        "Compare the subjects of a fit or of a table of outcomes, or the layouts of several fits.",
        example="compare fitted --by success --cluster task",
    )
    arguments.takes_fit(compare, several=True)
    arguments.takes_subjects(compare)
    arguments.takes_data(compare, required=False)
    compare.add_argument(
        "--by",
        default="success",
        metavar="NAME",
        help="success, or an element of the profile or a node of the layout (success)",
    )
    compare.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="column of the items whose equal values are one cluster, such as a text or a task",
    )


def _compare(chosen: argparse.Namespace) -> int:
    if len(chosen.fit) > 1:
        return _layouts(chosen)
    with waiting("comparing the subjects", show=True):
        from .printing import print_comparison

        comparison = _subjects(chosen)
    print_comparison(comparison)
    return 0


def _subjects(chosen: argparse.Namespace) -> "Comparison":
    from ..inference.forecasts.functions import groups_of
    from ..validation.comparing.compare import compare
    from .tables import fitted_evaluation, read_items, read_outcomes

    data, options = arguments.data_of(chosen), {"by": chosen.by, "subjects": chosen.subjects}
    if not chosen.fit:
        if data.outcomes is None:
            raise FitError("nothing to compare was given; name a FIT, or a table as --outcomes")
        return compare(read_outcomes(data), cluster=chosen.cluster, **options)
    if data.outcomes is not None:
        raise FitError("--outcomes is for a comparison without a fit; leave it or the fit out")
    (path,) = chosen.fit
    fit = open_fit(path, chosen.layout)
    items = None if data.items is None else read_items(data.items)
    cluster = chosen.cluster
    if cluster is not None and items is None and FitFolder(path).items.is_file():
        cluster = groups_of(fitted_evaluation(fit, path, data).item_table, cluster)
    return compare(fit, items, cluster=cluster, **options)


def _layouts(chosen: argparse.Namespace) -> int:
    """Compare the layouts of several fits to the same outcomes."""
    if chosen.cluster is not None or chosen.by != "success":
        raise FitError("--by and --cluster are for the subjects of a single fit; leave them out")
    with waiting("reading the fits", show=True):
        fits = [open_fit(path, chosen.layout) for path in chosen.fit]
    with waiting("comparing the layouts", show=True):
        from ..validation.leave_one_out.compare import compare_layouts
        from .printing import print_layouts

        table = compare_layouts(_by_name(chosen.fit, fits), subjects=chosen.subjects)
    print_layouts(table)
    return 0


def _by_name(paths: list[Path], fits: list["Fit"]) -> dict[str, "Fit"]:
    """Name fits by their layouts, or by their paths if layouts have the same name."""
    names = [fit.layout.name for fit in fits]
    if len(set(names)) < len(names):
        names = list(map(str, paths))
    return dict(zip(names, fits, strict=True))
