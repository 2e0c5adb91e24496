"""Parts of a store for each subject: a chunk of every array of draws, and a record."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs.zstd import Zstd  # type: ignore[import-untyped]
from xarray.backends import BackendArray
from xarray.core import indexing

from ...common.errors import FitError
from ..posterior.assembly import Training, Tried
from ..sampling.draws import Draws

RECORDS = "records"
"""Folder of the records in a store."""


@dataclass(frozen=True)
class Record:
    """Record of one subject. Without a record, a subject counts as not sampled.

    Attributes
    ----------
    subject : str
        Name of the subject.
    attempts : int
        Number of times that the subject was sampled.
    reason : str
        The reason why it failed or did not converge; empty if sampling had no faults.
    outcomes : str
        Digest of the outcomes that it was fitted to, see `outcomes_digest`.
    draws : mapping of str to str, or None
        Digest of its part of each array, named ``group/name``; None if sampling failed.
    """

    subject: str
    attempts: int
    reason: str
    outcomes: str
    draws: Mapping[str, str] | None

    @property
    def tried(self) -> Tried:
        """Attempts at sampling the subject, and the failure if there was one."""
        return Tried(self.attempts, self.reason if self.draws is None else None)


def write_record(path: Path, row: int, record: Record) -> None:
    """Write a record into a store atomically, and sync it to the disk.

    Parameters
    ----------
    path : Path
        The store.
    row : int
        The subject's position in the store's arrays.
    record : Record
        The record.

    Raises
    ------
    OSError
        When it cannot be written; an existing record is then unchanged.
    """
    place = record_file(path, row)
    place.parent.mkdir(exist_ok=True)
    beside = place.with_suffix(".partial")
    with beside.open("w", encoding="utf-8") as file:
        json.dump({**vars(record), "digest": _own_digest(vars(record))}, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(place)


def read_records(path: Path) -> dict[int, Record]:
    """Read all records of a store.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    dict of int to Record
        By the subject's position in the store's arrays; subjects without a record are unfinished.

    Raises
    ------
    FitError
        When a record is damaged.
    """
    found = {}
    for place in (path / RECORDS).glob("*.json"):
        try:
            said = json.loads(place.read_text(encoding="utf-8"))
            if said.pop("digest") != _own_digest(said):
                raise ValueError("it does not match its digest")
            found[int(place.stem)] = Record(**said)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FitError(
                f"{place} is damaged ({type(error).__name__}: {error}): restore a copy, or delete "
                "it and fit again with this store, which samples its subject again"
            ) from error
    return found


def record_file(path: Path, row: int) -> Path:
    """Return the path of a subject's record in a store."""
    return path / RECORDS / f"{row}.json"


def damaged(path: Path, row: int, subject: str, what: str) -> FitError:
    """Make an error for damaged data of one subject, with the remedy."""
    return FitError(
        f"{what}: the data of {subject} in the store {path} are damaged; restore a copy, or delete "
        f"{record_file(path, row)} and fit again with this store, which samples {subject} again"
    )


def digest(*contents: bytes) -> str:
    """Hash bytes, to detect damage."""
    found = hashlib.blake2b(digest_size=8)
    for content in contents:
        found.update(content)
    return found.hexdigest()


def _own_digest(said: Mapping[str, object]) -> str:
    return digest(json.dumps(said).encode())


def outcomes_digest(training: Training, row: int) -> str:
    """Hash the data that one subject was fitted to, except for the items."""
    constants = (values[row] for _, values in sorted(training.constants.items()))
    cells, chosen = training.cells, training.cells.of_subject(row)
    counts = (values[chosen] for values in (cells.item, cells.successes, cells.trials))
    return digest(*(values.tobytes() for values in (*counts, *constants)))


LEVEL = 0
"""Zstandard's default level: 87 kB instead of 114 kB for 2 x 1000 draws of 4 latents and 4
statistics, in 1 ms. Reordered bytes and higher levels save another 5 % but take several times as
long."""


def by_array(draws: Draws) -> dict[str, np.ndarray]:
    """Return a subject's draws by the names of the store's arrays."""
    return {f"posterior/{name}": values for name, values in draws.posterior.items()} | {
        f"sample_stats/{name}": values for name, values in draws.statistics.items()
    }


def write_chunk(path: Path, name: str, row: int, values: np.ndarray) -> str:
    """Write one subject's part of an array, and sync it to the disk.

    Parameters
    ----------
    path : Path
        The store.
    name : str
        Name of the array, as ``group/name``.
    row : int
        The subject's position in the array.
    values : ndarray
        Values with the array's type and the shape of its chunks, without the first axis.

    Returns
    -------
    str
        Digest of the written bytes.

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
        Name of the array, as ``group/name``.
    subjects : sequence of (int, Record)
        Positions in the store's arrays and records of the subjects, in the order of the first axis.
    shape : tuple of int
        Shape of one subject's part.
    dtype : dtype
        Type of the draws.
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
        """Read one subject's part completely, and check it against its digest."""
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
    """Return the path of a chunk, by Zarr's rules for keys with dots."""
    return path / name / ".".join(["c", str(row), *["0"] * dims])


def _part(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values
