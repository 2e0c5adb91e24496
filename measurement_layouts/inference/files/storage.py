"""Fits on disk: one netCDF file each, or a store."""

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from ...common.errors import FitError
from ...common.given import refuse_other
from ...layouts import Layout
from ...linking import LinkingFunction
from ..posterior.posterior import GROUPS, Posterior
from .store import Store
from .trees import read_tree, write_tree


def save(fit: Posterior, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit into one netCDF file, which is only replaced when it is complete.

    Parameters
    ----------
    fit : Posterior
        The fit.
    path : str or Path
        File to write; its folder must exist.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        Path of the written file.

    Raises
    ------
    FitError
        When `path` is no path, or the file exists and may not be replaced, or cannot be written (an
        existing file is then unchanged).

    Examples
    --------
    >>> import tempfile
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read(save(result, Path(folder) / "profile.nc"))
    <Posterior of 'animal-ai-olympics': 1 subject, 2 chains of 100 draws, 0 failed>
    """
    refuse_other("path", path, str | PathLike, "a path", "name a file, such as 'fit.nc'", FitError)
    path = Path(path)
    if path.exists() and not overwrite:
        raise FitError(f"{path} exists already; choose another name, or pass overwrite=True")
    write_tree(path, fit.data, GROUPS)
    return path


def read(
    path: str | Path,
    *,
    layout: Layout | None = None,
    functions: Sequence[LinkingFunction] = (),
) -> Posterior:
    """Read a file that `save` wrote, or open a store; parameters and errors as in `fit.load`."""
    remedy = "give the file that fit.save(path) wrote, or the folder of a store"
    refuse_other("path", path, str | PathLike, "a path", remedy, FitError)
    path = Path(path)
    if path.is_dir():
        return Store.read(path, layout, functions).posterior()
    if not path.is_file():
        raise FitError(f"there is no file or store {path}")
    saved, data, _ = read_tree(path, layout, functions)
    failures, attempts = (json.loads(data.attrs[name]) for name in ("failures", "attempts"))
    return Posterior(saved, data, failures, attempts)
