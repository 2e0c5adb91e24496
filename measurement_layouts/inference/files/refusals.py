"""What fits on disk refuse: other formats and fits, damage, a second writer, other files."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from filelock import FileLock, Timeout

from ...common.errors import FitError, StoreError
from ...common.messages import some
from ...layouts.plates import SUBJECT

HEAD, LOCK = "head.nc", ".lock"
_OURS = re.compile(r"\.lock|\.?head\.nc.*|\.?unit-.*")


def files_of(path: Path) -> list[Path]:
    """List the files of a store.

    Raises
    ------
    FitError
        When the folder is no store, empty or half made, or has a link in it.
    """
    files = list(path.iterdir()) if path.is_dir() else []
    ours = [file for file in files if _OURS.fullmatch(file.name)]
    if path.exists() and not (path.is_dir() and (files == ours or path / HEAD in files)):
        raise FitError(f"{path} exists and is not a store of fits; give another folder")
    for file in files:
        if file.is_symlink():
            raise FitError(
                f"{file} is a link, but a store must not contain links; replace it by a copy of "
                "its target, or give another store"
            )
    return ours


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Make a folder if there is none, and lock it."""
    lock = FileLock(path / LOCK, timeout=0, thread_local=False)
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise StoreError(
            f"{path} is in use, by another process or by an outer call in this one",
            "wait until that has finished, or give another store",
        ) from error
    except OSError as error:
        raise FitError(
            f"cannot write into {path}: {error.strerror}; give another folder"
        ) from error
    try:
        yield
    finally:
        lock.release()


def refuse_other(path: Path, stored: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise an error if a store holds a fit of another layout, with other options or other data.

    Parameters
    ----------
    path : Path
        The store.
    stored, now : mapping
        The options by name, and ``data``, the fit without draws.
    """
    other = [
        f"{name}: {value}, now {now[name]}"
        for name, value in stored.items()
        if name != "data" and value != now[name]
    ]
    other += _other_data(stored["data"], now["data"])
    if other:
        raise StoreError(
            f"{path} holds another fit ({some(other, 2)})",
            "give another store, or the same layout, evaluation and options",
        )


def _other_data(stored: xr.DataTree, now: xr.DataTree) -> list[str]:
    """Name the levels, or else the subjects' outcomes and the properties, that differ."""
    coordinates = [
        {**tree["posterior"].coords, **tree["constant_data"].coords} for tree in (stored, now)
    ]
    cells = [tree["observed_data"].to_dataset().to_dataframe() for tree in (stored, now)]
    changed = pd.concat(cells).drop_duplicates(keep=False)[SUBJECT].unique()
    values = _unequal(*(tree["constant_data"].data_vars for tree in (stored, now)))
    levels = [f"{name}s" for name in _unequal(*coordinates)]
    different = levels or [*(f"outcomes of {subject}" for subject in changed), *values]
    return [f"other {name}" for name in different]


def _unequal(stored: Mapping[Any, xr.DataArray], now: Mapping[Any, xr.DataArray]) -> list[str]:
    """Name the arrays that two mappings do not share."""
    same = {name for name in stored if name in now and stored[name].equals(now[name])}
    return [str(name) for name in {**stored, **now} if name not in same]
