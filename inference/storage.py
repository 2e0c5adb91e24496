"""Fits on disk: one netCDF file each."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from ..layouts import Layout
from ..linking import LayoutError, LinkingFunction
from .errors import FitError

if TYPE_CHECKING:
    from .results import Fit

_GROUPS = ("posterior", "sample_stats", "prior", "observed_data", "constant_data")


def save(fit: "Fit", path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit into one netCDF file, whole or not at all.

    Parameters
    ----------
    fit : Fit
        The fit.
    path : str or Path
        File to write; its folder must exist.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    FitError
        When the file exists and may not be replaced, or cannot be written (the old one stays).
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise FitError(f"{path} exists already; choose another name, or pass overwrite=True")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise FitError(f"cannot write into {path.parent}: {error.strerror}") from error
    try:
        fit.data.to_netcdf(temporary, engine="h5netcdf")
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise FitError(f"could not write {path}: {error}; nothing was changed") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return path


def load(
    path: str | Path,
    *,
    layout: Layout | None = None,
    functions: Sequence[LinkingFunction] = (),
) -> "Fit":
    """Read a fit from the file that `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    layout : Layout, optional
        The layout it must be a fit of.
    functions : sequence of LinkingFunction, optional
        Your own linking functions in it.

    Returns
    -------
    Fit
        Equal to the saved one.

    Raises
    ------
    FitError
        When there is no such file, it is no fit, is damaged, or is the fit of another layout.
    """
    from .results import Fit

    path = Path(path)
    if not path.is_file():
        raise FitError(f"there is no file {path}")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            data = tree.load()
    except Exception as error:  # h5py and xarray raise many kinds for a damaged file
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged or no saved "
            "fit: restore a copy, or fit again"
        ) from error
    missing = [name for name in _GROUPS if name not in data.children]
    if missing or "layout" not in data.attrs:
        raise FitError(
            f"{path} is no saved fit: it lacks {', '.join(missing) or 'the layout'}; give a file "
            "that Fit.save() wrote"
        )
    try:
        saved = Layout.from_dict(json.loads(data.attrs["layout"]), functions)
        failures = json.loads(data.attrs["failures"])
    except (LayoutError, json.JSONDecodeError) as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    if saved.fingerprint != data.attrs["fingerprint"]:
        raise FitError(
            f"{path}: its layout has fingerprint {saved.fingerprint}, but it was fitted with "
            f"{data.attrs['fingerprint']}; the file was changed, fit again"
        )
    if layout is not None and layout.fingerprint != saved.fingerprint:
        raise FitError(
            f"{path} is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{layout.name!r} ({layout.fingerprint}); load it without layout=, or fit again"
        )
    return Fit(saved, data, failures)
