"""The command ``fit``: profiles under a layout in a file, from tables of outcomes."""

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.errors import FitError, StoreError
from ..common.progress import waiting
from . import arguments
from .fit_folder import FitFolder
from .layout_file import load_layout
from .saying import say

if TYPE_CHECKING:
    from ..evaluations.evaluation import Evaluation
    from ..inference.fit import Fit
    from ..layouts import Layout


def add(commands: arguments.Commands) -> None:
    """Add the command."""
    parser = arguments.add_command(
        commands,
        "fit",
        _fit,
        "Fit your own layout to each subject; after a stop, the same command continues.",
        example="fit layout.py:layout --items items.csv --outcomes outcomes.csv --out fitted",
        done="every profile can be trusted",
        falls_short="some subjects did not converge or failed, with reasons in the table",
    )
    arguments.takes_layout(parser)
    arguments.takes_data(parser)
    arguments.takes_path(
        parser,
        "--out",
        "DIR",
        "folder for fit.nc, profiles.csv, diagnostics.csv, layout.svg, fitted_items.csv and "
        "fitted_subjects.csv, and, if subjects share something, population.csv and "
        "item_effects.csv",
        required=True,
    )
    arguments.takes_subjects(parser)
    arguments.takes_sampling(parser)
    parser.add_argument(
        "--method",
        choices=("nuts", "grid"),
        default="nuts",
        help="NUTS, or integration over a grid for layouts of few latents (nuts)",
    )
    parser.add_argument(
        "--jobs",
        type=arguments.at_least(1),
        metavar="N",
        help="subjects at a time (default: all processors)",
    )
    arguments.takes_overwrite(parser)


def _fit(chosen: argparse.Namespace) -> int:
    folder = FitFolder(chosen.out)
    with waiting("reading the layout and the tables", show=True):
        from ..inference.fitting import fit
        from .printing import print_profiles
        from .tables import read_evaluation

        layout = load_layout(chosen.layout)
        if not (chosen.overwrite or folder.store.is_dir()):
            folder.refuse_used()
        evaluation = read_evaluation(layout, arguments.data_of(chosen))
    if chosen.subjects:
        evaluation = evaluation.select(subjects=chosen.subjects)
    arguments.make_writable(folder.path)
    if chosen.overwrite:
        _discard(folder.store)
    try:
        fit(
            layout,
            evaluation,
            **arguments.sampling_of(chosen),
            method=chosen.method,
            store=folder.store,
            n_jobs=chosen.jobs,
        ).save(folder.fit, overwrite=True)
    except KeyboardInterrupt:
        say(_kept(folder, layout, evaluation), error=True)
        raise
    except FitError as error:
        said = _in_options(error, folder)
        if said is None:
            raise
        raise FitError(said) from error
    with waiting("writing the profiles", show=True):
        fitted = _write(folder, layout, evaluation)
    print_profiles(fitted, evaluation)
    print(folder.path)
    told = "has the fit, its tables and the diagram; `forecast`, `compare` and `report` read it"
    say(f"The folder {told}.", error=True)
    from ..inference.sampling.convergence import UNTRUSTED

    return int(fitted.diagnostics()["status"].isin(UNTRUSTED).any())


def _discard(store: Path) -> None:
    """Empty the store of an unfinished fit, unless another process uses it."""
    from ..inference.files.store import clear

    try:
        clear(store)
    except StoreError as error:
        raise FitError(_in_use(store)) from error
    except FitError as error:
        raise FitError(f"{store} exists and is not a store of fits; give another --out") from error


def _in_options(error: "FitError", folder: FitFolder) -> str | None:
    """Write what to do about a store, in terms of the command's options."""
    from filelock import Timeout

    if not isinstance(error, StoreError):
        return None
    if isinstance(error.__cause__, Timeout):
        return _in_use(folder.store)
    if isinstance(error.__cause__, OSError):
        return f"{error.found}; make room, and the same command, without --overwrite, goes on"
    return (
        f"{error.found}; give the same again to continue it, another --out, or --overwrite to "
        "begin anew"
    )


def _in_use(store: Path) -> str:
    return (
        f"{store.parent} is in use by another process; wait until that is done, or give another "
        "--out"
    )


def _kept(folder: FitFolder, layout: "Layout", evaluation: "Evaluation") -> str:
    """Write which results an interrupted fit has kept."""
    from ..common.messages import many
    from ..inference.files.store import Store

    try:
        done = Store.read(folder.store, functions=layout.functions).done
    except FitError:
        done = f"0 of {many(len(evaluation.subjects), 'subject')}"
    return f"{done} done, kept in {folder.path}; the same command, without --overwrite, goes on"


def _write(folder: FitFolder, layout: "Layout", evaluation: "Evaluation") -> "Fit":
    """Write the other files of a fit; then remove its store."""
    from ..common.files import csv_text, write_text
    from ..inference.fit import load

    fitted = load(folder.fit, layout=layout)
    write_text(folder.items, csv_text(evaluation.item_table, index=True))
    write_text(folder.subjects, csv_text(evaluation.subject_table, index=True))
    write_text(folder.profiles, csv_text(fitted.profiles()))
    write_text(folder.diagnostics, csv_text(fitted.diagnostics(), index=True))
    if layout.joint:
        write_text(folder.population, csv_text(fitted.population()))
        write_text(folder.effects, csv_text(fitted.items()))
    layout.draw(folder.diagram)
    _remove(folder.store)
    return fitted


def _remove(store: Path) -> None:
    """Remove a store, completely or not at all, also if the process is killed."""
    gone = store.with_name(".finished")
    shutil.rmtree(gone, ignore_errors=True)
    store.rename(gone)
    shutil.rmtree(gone)
