"""Fits in netCDF files, with a checksum: written whole, and read only if nothing has changed."""

import json
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import xarray as xr

from ...common.errors import FitError
from ...common.files import whole
from ...layouts import Layout
from ...linking import LayoutError, LinkingFunction
from ..posterior.assembly import FORMAT
from .archives import digest

_AROUND = 2**16  # bytes of a file's structure, with fewer free the disk is full


def write_tree(path: Path, tree: xr.DataTree, groups: Sequence[str]) -> None:
    """Write some groups of a fit, and its attributes, into a file as a whole."""
    with whole(path, needs=tree.nbytes + _AROUND) as beside:
        marked = xr.DataTree.from_dict({name: tree[name].to_dataset() for name in groups})
        marked.attrs = {**tree.attrs, "checksum": checksum(tree, groups)}
        marked.to_netcdf(beside, engine="netcdf4")
        with beside.open("rb+") as written:
            os.fsync(written.fileno())


def read_tree(
    path: Path,
    groups: Sequence[str],
    layout: Layout | None,
    functions: Sequence[LinkingFunction],
    remedy: str = "fit again",
) -> tuple[Layout, xr.DataTree]:
    """Read a file that `write_tree` wrote: its layout, and the groups with the attributes.

    Parameters
    ----------
    path : Path
        The file.
    groups : sequence of str
        Groups that it must have.
    layout, functions
        As in `fit.load`.
    remedy : str
        What to do if the fit cannot be read.

    Raises
    ------
    FitError
        When the file is damaged, something else, or has the format of another version; when its
        layout is not the given one, or cannot be read.
    """
    try:
        with xr.open_datatree(path, engine="netcdf4") as tree:
            data = tree.load()
    except Exception as error:  # netCDF4 and xarray raise many kinds for a damaged file
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged or not a "
            f"saved fit: restore a copy, or {remedy}"
        ) from error
    head = dict(data.attrs)
    missing = [name for name in groups if name not in data.children]
    missing += [name for name in ("checksum",) if name not in head]
    written, functions = head.get("format"), [*functions, *(layout.functions if layout else ())]
    if isinstance(written, int | np.integer) and written != FORMAT:
        raise FitError(
            f"{path} has format {written}, and this version of measurement-layouts reads format "
            f"{FORMAT}; read it with version {head.get('measurement_layouts')}, or {remedy}"
        )
    if missing:
        raise FitError(f"{path} is not a saved fit: it lacks {', '.join(missing)}; {remedy}")
    mark = data.attrs.pop("checksum")
    if checksum(data, groups) != mark:
        raise FitError(
            f"{path} is damaged: its contents do not match its checksum; restore a copy, or "
            f"{remedy}"
        )
    try:
        saved = Layout.from_dict(json.loads(head["layout"]), functions)
    except (LayoutError, ValueError) as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    if saved.fingerprint != head["fingerprint"]:
        raise FitError(
            f"{path} has a layout with fingerprint {saved.fingerprint}, but it was fitted with "
            f"{head['fingerprint']}; the file or the library was changed, fit again"
        )
    if layout is not None and layout.fingerprint != saved.fingerprint:
        raise FitError(
            f"{path} is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{layout.name!r} ({layout.fingerprint}); load it without layout=, or fit again"
        )
    return saved, data


def checksum(data: xr.DataTree, groups: Sequence[str]) -> str:
    """Hash all contents of a fit, since HDF5 reads most damaged numbers without an error."""
    attributes = ((str(name), str(value)) for name, value in sorted(data.attrs.items()))
    variables = (
        (f"{group}/{name}", variable.to_numpy())
        for group in groups
        for name, variable in sorted(data[group].variables.items())
    )
    return digest(chain(attributes, variables))
