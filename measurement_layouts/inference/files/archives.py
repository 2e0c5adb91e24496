"""Archives of NumPy, written as a whole and read lazily; they contain numbers and JSON only."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from ...common.files import whole

type Arrays = dict[str, np.ndarray]


def write_archive(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays into a file, which is only replaced when it is complete."""
    with whole(file, OSError) as beside, beside.open("wb") as opened:
        np.savez(opened, **arrays)  # type: ignore[arg-type]


def flat(groups: Mapping[str, Mapping[str, np.ndarray]]) -> Arrays:
    """Name arrays ``group/name``."""
    return {
        f"{group}/{name}": values
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
            return on_each_axis(self.read(self.keys[files]), inside).astype(self.dtype)
        empty = np.empty((*self.shape[:2], *self.shape[3:]), self.dtype)
        stacked = np.empty((len(files), *on_each_axis(empty, inside).shape), self.dtype)
        for position, file in enumerate(files):
            stacked[position] = on_each_axis(self.read(self.keys[file]), inside)
        single = sum(isinstance(axis, int | np.integer) for axis in key[:2])
        return np.moveaxis(stacked, 0, 2 - single)


def on_each_axis(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values
