"""Archives of NumPy, written as a whole and read lazily; they contain numbers and JSON only."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

type Arrays = dict[str, np.ndarray]


def write_whole(file: Path, write: Callable[[Any], object]) -> None:
    """Write a file beside, through to the disk, and rename it when it is complete."""
    beside = file.with_name(f".{file.name}")
    try:
        with beside.open("wb") as opened:
            write(opened)
            opened.flush()
            os.fsync(opened.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def write_archive(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays into a file as a whole."""
    write_whole(file, lambda opened: np.savez(opened, **arrays))  # type: ignore[arg-type]


def read_archive(file: Path, start: str | tuple[str, ...] = "") -> Arrays:
    """Read the arrays whose names start with a text; damage raises errors of many classes."""
    with file.open("rb") as opened, np.load(opened) as archive:
        return {name: archive[name] for name in archive.files if name.startswith(start)}


def as_array(contents: object) -> np.ndarray:
    """Write names and texts as JSON in an array of bytes."""
    return np.frombuffer(json.dumps(contents).encode(), np.uint8)


def flat(groups: Mapping[str, Mapping[str, np.ndarray]]) -> Arrays:
    """Name arrays ``group/name``."""
    return {
        f"{group}/{name}": np.asarray(values)
        for group, arrays in groups.items()
        for name, values in arrays.items()
    }


def grouped(arrays: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Return the arrays of one group, which are named ``group/name``, by their names."""
    start = f"{group}/"
    return {
        name.removeprefix(start): values
        for name, values in arrays.items()
        if name.startswith(start)
    }


def digest(contents: Iterable[tuple[str, Any]]) -> str:
    """Hash named contents: arrays of numbers with types and shapes, and all else as text."""
    mark = hashlib.sha256()
    for name, values in contents:
        array = np.asarray(values)
        mark.update(f"{name}{array.shape}\0".encode())
        if array.dtype.kind in "biuf":
            mark.update(array.dtype.str.encode())
            mark.update(np.ascontiguousarray(array))
        else:
            mark.update("\0".join(map(str, array.ravel())).encode())
    return mark.hexdigest()


class Stacked(BackendArray):
    """Draws of several files, stacked along a new axis after that of draws, read when indexed.

    Parameters
    ----------
    keys : sequence
        A key for each file.
    read : callable
        Function that returns the array of a key; picklable.
    like : ndarray
        Array of the shape and type of each file's.
    """

    def __init__(
        self, keys: Sequence[Any], read: Callable[[Any], np.ndarray], like: np.ndarray
    ) -> None:
        self.keys, self.read, self.dtype = keys, read, like.dtype
        self.shape = (*like.shape[:2], len(keys), *like.shape[2:])

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._indexed
        )

    def _indexed(self, key: tuple[Any, ...]) -> np.ndarray:
        files, inside = np.arange(len(self.keys))[key[2]], (*key[:2], *key[3:])
        if files.ndim == 0:
            return _on_each_axis(self.read(self.keys[files]), inside).astype(self.dtype)
        empty = np.empty((*self.shape[:2], *self.shape[3:]), self.dtype)
        stacked = np.empty((len(files), *_on_each_axis(empty, inside).shape), self.dtype)
        for position, file in enumerate(files):
            stacked[position] = _on_each_axis(self.read(self.keys[file]), inside)
        single = sum(isinstance(axis, int | np.integer) for axis in key[:2])
        return np.moveaxis(stacked, 0, 2 - single)


def _on_each_axis(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values
