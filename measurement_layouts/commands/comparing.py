"""The command ``compare``: subjects of one fit, or layouts fitted to the same outcomes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import add_command, takes_fit, takes_subjects
from .fit_folder import open_fit

if TYPE_CHECKING:
    from ..inference.results import Fit
    from .arguments import Commands


def add(commands: "Commands") -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        _compare,
        "Compare the subjects of one fit, or the layouts of several fits to the same outcomes.",
        example="compare fitted --reference Ann",
    )
    takes_fit(parser, several=True)
    takes_subjects(parser)
    parser.add_argument(
        "--reference",
        metavar="NAME",
        help="subject that the others are held against, of a single fit (all pairs)",
    )


def _compare(chosen: argparse.Namespace) -> int:
    from ..inference.errors import FitError

    fits = [open_fit(path, chosen.layout) for path in chosen.fit]
    if len(fits) == 1:
        return _subjects(fits[0], chosen.subjects, chosen.reference)
    if chosen.reference is not None:
        raise FitError("--reference is for the subjects of a single fit; leave it out")
    return _layouts(_by_name(chosen.fit, fits), chosen.subjects)


def _subjects(fit: "Fit", subjects: list[str] | None, reference: str | None) -> int:
    from ..inference.contrast.compare import compare_profiles
    from ..printing import print_comparison

    print_comparison(compare_profiles(fit, subjects, reference=reference))
    return 0


def _layouts(fits: dict[str, "Fit"], subjects: list[str] | None) -> int:
    from ..inference.loo.compare import compare_layouts
    from ..printing import print_layouts

    print_layouts(compare_layouts(fits, subjects=subjects))
    return 0


def _by_name(paths: list[Path], fits: list["Fit"]) -> dict[str, "Fit"]:
    """Name fits by their layouts, or by where they lie where layouts share a name."""
    names = [fit.layout.name for fit in fits]
    if len(set(names)) < len(names):
        names = list(map(str, paths))
    return dict(zip(names, fits, strict=True))
