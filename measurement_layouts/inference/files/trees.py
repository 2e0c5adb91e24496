"""Fits in netCDF files that end in a checksum: written whole, and read only if unchanged."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from ...common.errors import FitError
from ...common.files import whole
from ...layouts import Layout
from ...linking import LayoutError, LinkingFunction
from ..posterior.assembly import FORMAT

_AROUND = 2**16  # bytes of a file's structure, with fewer free the disk is full
_MARK = 32  # bytes of the checksum; HDF5 ignores what follows its own contents


def write_tree(path: Path, tree: xr.DataTree, groups: Sequence[str]) -> str:
    """Write some groups of a fit and its attributes into a file, and return the checksum."""
    with whole(path, needs=tree.nbytes + _AROUND) as beside:
        chosen = xr.DataTree.from_dict({name: tree[name].to_dataset() for name in groups})
        chosen.attrs = tree.attrs
        chosen.to_netcdf(beside, engine="netcdf4")
        with beside.open("rb+") as written:
            mark = hashlib.file_digest(written, "sha256")
            written.write(mark.digest())
    return mark.hexdigest()


def read_tree(
    path: Path,
    layout: Layout | None,
    functions: Sequence[LinkingFunction],
    remedy: str = "fit again",
) -> tuple[Layout, xr.DataTree, str]:
    """Read a file that `write_tree` wrote: its layout, the groups with attributes, the checksum.

    Parameters
    ----------
    path : Path
        The file.
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
        content = np.memmap(path, np.uint8, "r")
        mark = hashlib.sha256(content[:-_MARK])
        if mark.digest() != content[-_MARK:].tobytes():
            raise ValueError("its contents do not match the checksum at its end")
        with xr.open_datatree(path, engine="netcdf4") as tree:
            data = tree.load()
    except Exception as error:  # NumPy, netCDF4 and xarray raise many kinds
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged or not a "
            f"saved fit: restore a copy, or {remedy}"
        ) from error
    head, functions = data.attrs, [*functions, *(layout.functions if layout else ())]
    if head["format"] != FORMAT:
        raise FitError(
            f"{path} has format {head['format']}, and this version of measurement-layouts reads "
            f"format {FORMAT}; read it with version {head['measurement_layouts']}, or {remedy}"
        )
    try:
        saved = Layout.from_dict(json.loads(head["layout"]), functions)
    except (LayoutError, json.JSONDecodeError) as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    if layout is not None and layout.fingerprint != saved.fingerprint:
        raise FitError(
            f"{path} is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{layout.name!r} ({layout.fingerprint}); load it without layout=, or fit again"
        )
    for name in ("failures", "attempts", "call"):
        try:
            json.loads(head.get(name, "null"))
        except json.JSONDecodeError as error:
            raise FitError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore a copy, or {remedy}"
            ) from error
    return saved, data, mark.hexdigest()
