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


def grouped(arrays: Mapping[str, Any], groups: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Group arrays that are named ``group/name``; other names are left out."""
    by_group: dict[str, dict[str, Any]] = {group: {} for group in groups}
    for name, values in arrays.items():
        group, _, node = name.partition("/")
        if group in by_group:
            by_group[group][node] = values
    return by_group


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Hash arrays with their names, types and shapes."""
    found = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        found.update(f"{name}{values.dtype.str}{values.shape}\0".encode())
        found.update(np.ascontiguousarray(values))
    return found.hexdigest()


class Stacked(BackendArray):
    """Draws of several files, stacked along a new axis after that of draws, read when indexed.

    Parameters
    ----------
    keys : sequence
        A key for each file.
    read : callable
        Function that returns the array of a key; picklable.
    shape : tuple of int
        Shape of the array of one file.
    dtype : dtype
        Type of the numbers.
    """

    def __init__(
        self,
        keys: Sequence[Any],
        read: Callable[[Any], np.ndarray],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.keys, self.read = keys, read
        self.shape, self.dtype = (*shape[:2], len(keys), *shape[2:]), dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._indexed
        )

    def _indexed(self, key: tuple[Any, ...]) -> np.ndarray:
        rows, inside = np.arange(len(self.keys))[key[2]], (*key[:2], *key[3:])
        if rows.ndim == 0:
            return _on_each_axis(self.read(self.keys[rows]), inside).astype(self.dtype)
        like = _on_each_axis(np.empty((*self.shape[:2], *self.shape[3:]), self.dtype), inside)
        values = np.empty((len(rows), *like.shape), self.dtype)  # one subject beside the other
        for position, row in enumerate(rows):
            values[position] = _on_each_axis(self.read(self.keys[row]), inside)
        single = sum(isinstance(axis, int | np.integer) for axis in key[:2])
        return np.moveaxis(values, 0, 2 - single)


def _on_each_axis(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values
