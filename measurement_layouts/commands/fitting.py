"""The command ``fit``, and the folder that it writes."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..common.progress import waiting
from . import options

if TYPE_CHECKING:
    from ..evaluations.evaluation import Evaluation
    from ..inference.fit import Fit

_FIT, _STORE = "fit.nc", "store"  # the finished fit, and what is finished of an unfinished one
_FILES = [_FIT, options.ITEMS, options.SUBJECTS, "profiles.csv", "diagnostics.csv"]
_FILES += ["population.csv", "item_effects.csv", "layout.svg"]


def fit(
    layout: options.Layout,
    /,
    *,
    data: options.Data,
    out: Path,
    subjects: options.Subjects = None,
    sampling: options.Sampling = options.SAMPLING,
    method: Literal["nuts", "grid"] = "nuts",
    jobs: int | None = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Fit your own layout to each subject; after a stop, the same command continues.

    Parameters
    ----------
    out
        folder for fit.nc, profiles.csv, diagnostics.csv, layout.svg, fitted_items.csv and
        fitted_subjects.csv, and, if subjects share something, population.csv and item_effects.csv
    method
        NUTS, or integration over a grid for layouts of few latents
    jobs
        subjects at a time (default: all processors)
    """
    store = out / _STORE
    with waiting("reading the layout and the tables", show=True):
        from ..common.errors import FitError, StoreError
        from ..inference.files.store import clear
        from ..inference.fitting import fit as fit_all
        from ..inference.sampling.convergence import UNTRUSTED
        from .layout_file import load_layout
        from .printing import print_profiles, say
        from .tables import read_evaluation

        declared = load_layout(layout)
        if not store.is_dir():
            options.refuse_existing([out / name for name in _FILES], overwrite)
        evaluation = read_evaluation(declared, data)
    if subjects:
        evaluation = evaluation.select(subjects=subjects)
    options.make_writable(out)
    sampled = asdict(sampling)
    try:
        if overwrite:
            clear(store)
        fitted = fit_all(declared, evaluation, **sampled, method=method, store=store, n_jobs=jobs)
    except KeyboardInterrupt:
        say(f"{out} keeps what is done; the same command, without --overwrite, goes on", error=True)
        raise
    except StoreError as error:
        remedy = "repeat that command without --overwrite to continue it"
        raise FitError(f"{error.found}; {remedy}, or give another --out to begin anew") from error
    with waiting("writing the profiles", show=True):
        fitted = _write(fitted, evaluation, out)
    print_profiles(fitted, evaluation)
    print(out)
    say(f"{out} has the fit, tables and diagram; see forecast, compare and report", error=True)
    return int(fitted.diagnostics()["status"].isin(UNTRUSTED).any())


def _write(fitted: "Fit", evaluation: "Evaluation", out: Path) -> "Fit":
    """Write the files of a fit, and remove its store at last, also if the process is killed."""
    from ..common.files import csv_text, write_text
    from ..inference.fit import load

    layout = fitted.layout
    fitted.save(out / _FIT, overwrite=True)
    fitted = load(out / _FIT, layout=layout)
    tables = {
        options.ITEMS: evaluation.item_table.reset_index(),
        options.SUBJECTS: evaluation.subject_table.reset_index(),
        "profiles.csv": fitted.profiles(),
        "diagnostics.csv": fitted.diagnostics().reset_index(),
    }
    if layout.joint:
        tables |= {"population.csv": fitted.population(), "item_effects.csv": fitted.items()}
    for name, table in tables.items():
        write_text(out / name, csv_text(table))
    layout.draw(out / "layout.svg")
    finished = out / ".finished"
    shutil.rmtree(finished, ignore_errors=True)
    (out / _STORE).rename(finished)
    shutil.rmtree(finished)
    return fitted


def open_fit(path: Path, layouts: Sequence[str] | None = None) -> "Fit":
    """Open a fit, with a warning if it is not finished.

    Parameters
    ----------
    path : Path
        A folder that ``fit`` wrote, a .nc file, or a store.
    layouts : sequence of str, optional
        ``LAYOUT.py:name`` of layouts with linking functions of one's own.

    Returns
    -------
    Fit
        Of an unfinished one, what is there.

    Raises
    ------
    FitError
        When there is none, it is damaged, or a linking function of it is in none of the layouts.
    """
    from ..inference.fit import load
    from .layout_file import load_layout
    from .printing import say

    functions = [function for text in layouts or () for function in load_layout(text).functions]
    files = [file for file in (path / _FIT, path / _STORE) if file.exists()]
    if path.is_dir() and not (files or (path / "head.nc").exists()):
        raise FileNotFoundError(f"{path} has no fit; give a folder of `fit`, a .nc file or a store")
    fitted = load(files[0] if files else path, functions=functions)
    if files == [path / _STORE]:
        say(f"{path} is not finished: {fitted!r}; the same `fit` command continues it", error=True)
    return fitted
