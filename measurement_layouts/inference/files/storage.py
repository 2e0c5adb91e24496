"""Fits on disk: one netCDF file each, or a store."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from ...common.errors import FitError
from ...common.files import whole
from ...common.given import refuse_other
from ...layouts import Layout
from ...layouts.plates import SUBJECT
from ...linking import LayoutError, LinkingFunction
from ..posterior.assembly import FORMAT
from ..posterior.posterior import GROUPS, Posterior
from .refusals import other_format
from .store import Store

_MARKS = ("layout", "fingerprint", "failures", "attempts", "checksum")
_DRAWS = ("posterior", "sample_stats")
_BLOCK = 2**26  # bytes of draws read and written at a time


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
        _write(fit.data, beside)
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
        stored = Store.read(
            path, lambda head: _read_layout(path, head["attributes"], layout, functions)
        )
        return stored.posterior()
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
    written = data.attrs.get("format")
    if isinstance(written, int | np.integer) and written != FORMAT:
        raise other_format(path, int(written), FORMAT, data.attrs, "fit again")
    missing = [name for name in GROUPS if name not in data.children]
    missing += [name for name in _MARKS if not isinstance(data.attrs.get(name), str)]
    if missing:
        raise FitError(
            f"{path} is not a saved fit: it lacks {', '.join(missing)}; give a file written by "
            "Fit.save()"
        )
    if data.attrs.pop("checksum") != _checksum(data):
        raise FitError(
            f"{path} is damaged: its contents do not match its checksum; restore a copy, or fit "
            "again"
        )
    saved = _read_layout(path, data.attrs, layout, functions)
    try:
        failures, attempts = (json.loads(data.attrs[name]) for name in ("failures", "attempts"))
    except ValueError as error:
        raise FitError(
            f"{path}: its failures or attempts cannot be read ({error}); restore a copy, or fit "
            "again"
        ) from error
    return Posterior(saved, data, failures, attempts)


def _write(data: xr.DataTree, path: Path) -> None:
    """Write a fit's tree; large draws some subjects at a time."""
    groups = {name: data[name].to_dataset() for name in GROUPS}
    growing = [
        name for name in _DRAWS if SUBJECT in groups[name].dims and groups[name].nbytes > _BLOCK
    ]
    begun = {name: groups[name].isel(subject=slice(1)) for name in growing}
    tree = xr.DataTree.from_dict(groups | begun)
    tree.attrs = {**data.attrs, "checksum": _checksum(data)}
    unlimited = {f"/{name}": {SUBJECT} for name in growing}
    tree.to_netcdf(path, engine="netcdf4", unlimited_dims=unlimited)
    if not growing:
        return
    with netCDF4.Dataset(path, "a") as file:
        for name in growing:
            for title, variable in groups[name].variables.items():
                if SUBJECT in variable.dims:
                    axis = variable.dims.index(SUBJECT)
                    for start, values in _blocks(variable):
                        rows = slice(start, start + len(values))
                        text = object if values.dtype.kind == "U" else values.dtype
                        place = (*[slice(None)] * axis, rows)
                        file[name][title][place] = np.moveaxis(values, 0, axis).astype(text)


def _checksum(data: xr.DataTree) -> str:
    """Hash all contents of a fit, since HDF5 reads most damaged numbers without an error."""
    found = hashlib.sha256()
    for name, value in sorted(data.attrs.items()):
        found.update(f"{name}={value}\0".encode())
    for group in GROUPS:
        for name, variable in sorted(data[group].variables.items()):
            found.update(f"{group}/{name}{variable.shape}\0".encode())
            if variable.dtype.kind in "biuf":
                for _, values in _blocks(variable):
                    found.update(np.ascontiguousarray(values))
            else:
                found.update("\0".join(map(str, variable.to_numpy().ravel())).encode())
    return found.hexdigest()


def _blocks(variable: xr.Variable) -> Iterator[tuple[int, np.ndarray]]:
    """Read a variable some subjects at a time, as first axis, with the number of the first one."""
    if SUBJECT not in variable.dims:
        yield 0, variable.to_numpy()
        return
    count, axis = variable.sizes[SUBJECT], variable.dims.index(SUBJECT)
    step = max(1, count * _BLOCK // max(1, variable.nbytes))
    for start in range(0, count, step):
        values = variable.isel(subject=slice(start, start + step)).to_numpy()
        yield start, np.moveaxis(values, axis, 0)


def _read_layout(
    path: Path,
    attributes: Mapping[Any, Any],
    expected: Layout | None,
    functions: Sequence[LinkingFunction],
) -> Layout:
    """Read the saved layout, and compare it with the fitted and with the expected layout."""
    try:
        known = [*functions, *(expected.functions if expected is not None else ())]
        saved = Layout.from_dict(json.loads(attributes["layout"]), known)
    except (LayoutError, json.JSONDecodeError) as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    if saved.fingerprint != attributes["fingerprint"]:
        raise FitError(
            f"{path}: its layout has fingerprint {saved.fingerprint}, but it was fitted with "
            f"{attributes['fingerprint']}; the file or the library was changed, fit again"
        )
    if expected is not None and expected.fingerprint != saved.fingerprint:
        raise FitError(
            f"{path} is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{expected.name!r} ({expected.fingerprint}); load it without layout=, or fit again"
        )
    return saved
