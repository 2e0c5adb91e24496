"""Fits on disk: one netCDF file each."""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from ..layouts import Layout
from ..linking import LayoutError, LinkingFunction
from .errors import FitError
from .results import GROUPS, Fit

_MARKS = ("layout", "fingerprint", "failures", "checksum")


def save(fit: Fit, path: str | Path, *, overwrite: bool = False) -> Path:
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

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(result, Path(folder) / "profile.nc"))
    <Fit of 'animal-ai-olympics': 1 subject, 2 chains of 100 draws, 0 failed>
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise FitError(f"{path} exists already; choose another name, or pass overwrite=True")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise FitError(
            f"cannot write into {path.parent}: {error.strerror}; choose or make another folder"
        ) from error
    try:
        tree = fit.data.copy()
        tree.attrs = {**fit.data.attrs, "checksum": _checksum(fit.data)}
        tree.to_netcdf(temporary, engine="netcdf4")
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except (OSError, RuntimeError) as error:  # netCDF4 raises either for a full disk
        raise FitError(f"could not write {path}: {error}; nothing was changed") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return path


def load(
    path: str | Path,
    *,
    layout: Layout | None = None,
    functions: Sequence[LinkingFunction] = (),
) -> Fit:
    """Read a fit from the file that `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    layout : Layout, optional
        The layout it must be a fit of; its linking functions are then known.
    functions : sequence of LinkingFunction, optional
        Your own linking functions in it, where `layout` is not given.

    Returns
    -------
    Fit
        Equal to the saved one.

    Raises
    ------
    FitError
        When there is no such file, it is no fit, is damaged, or is the fit of another layout.

    Examples
    --------
    >>> load("nowhere.nc")
    Traceback (most recent call last):
        ...
    measurement_layouts.inference.errors.FitError: there is no file nowhere.nc
    """
    path = Path(path)
    if not path.is_file():
        raise FitError(f"there is no file {path}")
    try:
        with xr.open_datatree(path, engine="netcdf4") as tree:
            data = tree.load()
    except Exception as error:  # netCDF4 and xarray raise many kinds for a damaged file
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged or no saved "
            "fit: restore a copy, or fit again"
        ) from error
    missing = [name for name in GROUPS if name not in data.children]
    missing += [name for name in _MARKS if not isinstance(data.attrs.get(name), str)]
    if missing:
        raise FitError(
            f"{path} is no saved fit: it lacks {', '.join(missing)}; give a file that Fit.save() "
            "wrote"
        )
    if data.attrs.pop("checksum") != _checksum(data):
        raise FitError(
            f"{path} is damaged: its contents do not match its checksum; restore a copy, or fit "
            "again"
        )
    try:
        known = [*functions, *(layout.functions if layout is not None else ())]
        saved = Layout.from_dict(json.loads(data.attrs["layout"]), known)
        failures = json.loads(data.attrs["failures"])
    except (LayoutError, json.JSONDecodeError) as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    _check_layout(path, saved, data.attrs["fingerprint"], layout)
    return Fit(saved, data, failures)


def _checksum(data: xr.DataTree) -> str:
    """Hash everything in a fit: HDF5 alone reads most damaged numbers without a word."""
    found = hashlib.sha256()
    for name, value in sorted(data.attrs.items()):
        found.update(f"{name}={value}\0".encode())
    for group in GROUPS:
        for name, variable in sorted(data[group].variables.items()):
            values = variable.to_numpy()
            found.update(f"{group}/{name}{values.shape}\0".encode())
            if values.dtype.kind in "biuf":
                found.update(np.ascontiguousarray(values))
            else:
                found.update("\0".join(map(str, values.ravel())).encode())
    return found.hexdigest()


def _check_layout(path: Path, saved: Layout, fingerprint: str, expected: Layout | None) -> None:
    """Hold the saved layout against what was fitted and against what it must be."""
    if saved.fingerprint != fingerprint:
        raise FitError(
            f"{path}: its layout has fingerprint {saved.fingerprint}, but it was fitted with "
            f"{fingerprint}; the file or the library was changed, fit again"
        )
    if expected is not None and expected.fingerprint != saved.fingerprint:
        raise FitError(
            f"{path} is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{expected.name!r} ({expected.fingerprint}); load it without layout=, or fit again"
        )
