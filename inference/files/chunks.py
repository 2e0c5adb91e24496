"""Draws on disk: a chunk per subject and array, read when asked for and checked each time."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs.zstd import Zstd  # type: ignore[import-untyped]
from xarray.backends import BackendArray
from xarray.core import indexing

from ..sampling.draws import Draws
from .records import Record, damaged, digest

LEVEL = 0
"""Of Zstandard, its own choice: 87 kB instead of 114 kB for 2 x 1000 draws of 4 latents and 4
statistics, in 1 ms; reordered bytes and higher levels save 5 % more in several times the time."""


def by_array(draws: Draws) -> dict[str, np.ndarray]:
    """Name a subject's draws after the arrays they go into."""
    return {f"posterior/{name}": values for name, values in draws.posterior.items()} | {
        f"sample_stats/{name}": values for name, values in draws.statistics.items()
    }


def write_chunk(path: Path, name: str, row: int, values: np.ndarray) -> str:
    """Write one subject's part of an array through to the disk.

    Parameters
    ----------
    path : Path
        The store.
    name : str
        Of the array, as ``group/name``.
    row : int
        The subject's place in the array.
    values : ndarray
        Of the array's type and the shape of its chunks, without the first axis.

    Returns
    -------
    str
        Digest of what was written.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    content = Zstd(level=LEVEL).encode(np.ascontiguousarray(values, values.dtype.newbyteorder("<")))
    with _chunk(path, name, row, values.ndim).open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return digest(content)


class DrawsOnDisk(BackendArray):
    """One array of draws of some subjects, whose chunks are read when it is indexed.

    Parameters
    ----------
    path : Path
        The store.
    name : str
        Of the array, as ``group/name``.
    subjects : sequence of (int, Record)
        Whose draws, in the order of the first axis, each with its place in the store's arrays.
    shape : tuple of int
        Of one subject's part.
    dtype : dtype
        Of the draws.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        subjects: Sequence[tuple[int, Record]],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.path, self.name, self.subjects = path, name, subjects
        self.shape = (len(subjects), *shape)
        self.dtype = dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        rows = np.arange(self.shape[0])[key[0]]
        if rows.ndim == 0:
            return _part(self._subject(rows), key[1:])
        one = _part(np.empty(self.shape[1:], self.dtype), key[1:])  # for its shape
        found = np.empty((len(rows), *one.shape), self.dtype)
        for place, row in enumerate(rows):
            found[place] = _part(self._subject(row), key[1:])
        return found

    def _subject(self, place: int) -> np.ndarray:
        """Read one subject's part whole, and hold it against its digest."""
        row, record = self.subjects[place]
        file = _chunk(self.path, self.name, row, len(self.shape) - 1)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise damaged(self.path, row, record.subject, str(error)) from error
        if record.draws is None or digest(content) != record.draws.get(self.name):
            raise damaged(self.path, row, record.subject, f"{file} has other contents")
        values = np.frombuffer(Zstd().decode(content), self.dtype.newbyteorder("<"))
        return values.reshape(self.shape[1:]).astype(self.dtype)


def _chunk(path: Path, name: str, row: int, dims: int) -> Path:
    """Say where a chunk lies, by Zarr's rules for keys with dots."""
    return path / name / ".".join(["c", str(row), *["0"] * dims])


def _part(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values
