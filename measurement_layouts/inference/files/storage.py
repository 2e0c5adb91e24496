"""Fits on disk: one netCDF file each, or a store."""

import json
from collections.abc import Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

import xarray as xr

from ...common.errors import FitError
from ...common.files import whole
from ...common.given import refuse_other
from ...layouts import Layout
from ...linking import LinkingFunction
from ..posterior.posterior import GROUPS, Posterior
from .archives import digest
from .refusals import checked_layout
from .store import Store


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
    with whole(path, needs=fit.data.nbytes) as beside:
        tree = xr.DataTree.from_dict({name: fit.data[name].to_dataset() for name in GROUPS})
        tree.attrs = {**fit.data.attrs, "checksum": _checksum(fit.data)}
        tree.to_netcdf(beside, engine="netcdf4")
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
    try:
        with xr.open_datatree(path, engine="netcdf4") as tree:
            data = tree.load()
    except Exception as error:  # netCDF4 and xarray raise many kinds for a damaged file
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged or not a "
            "saved fit: restore a copy, or fit again"
        ) from error
    missing = [name for name in GROUPS if name not in data.children]
    missing += [name for name in ("checksum",) if name not in data.attrs]
    head = dict(data.attrs)
    data.attrs.pop("checksum", None)
    saved = checked_layout(
        path, head, missing, lambda: _checksum(data), layout, functions, "fit again"
    )
    failures, attempts = (json.loads(head[name]) for name in ("failures", "attempts"))
    return Posterior(saved, data, failures, attempts)


def _checksum(data: xr.DataTree) -> str:
    """Hash all contents of a fit, since HDF5 reads most damaged numbers without an error."""
    attributes = ((str(name), str(value)) for name, value in sorted(data.attrs.items()))
    variables = (
        (f"{group}/{name}", variable.to_numpy())
        for group in GROUPS
        for name, variable in sorted(data[group].variables.items())
    )
    return digest(chain(attributes, variables))
