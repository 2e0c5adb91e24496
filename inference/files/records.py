"""What a store knows about each subject: one small file, written last and as a whole."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...common.errors import FitError
from ..posterior.assembly import Training, Tried

RECORDS = "records"
"""Where they lie in a store."""


@dataclass(frozen=True)
class Record:
    """What came of one subject. Without it there are no draws, whatever else was written.

    Attributes
    ----------
    subject : str
        Who.
    attempts : int
        How often it was sampled.
    reason : str
        Why it did not converge, or failed; empty when nothing is wrong with its sampling.
    outcomes : str
        Digest of what it was fitted to, see `outcomes_digest`.
    draws : mapping of str to str, or None
        Digest of its part of each array, named ``group/name``; None when sampling failed.
    """

    subject: str
    attempts: int
    reason: str
    outcomes: str
    draws: Mapping[str, str] | None

    @property
    def tried(self) -> Tried:
        """How sampling went."""
        return Tried(self.attempts, self.reason if self.draws is None else None)


def write_record(path: Path, row: int, record: Record) -> None:
    """Write a record into a store, whole or not at all, through to the disk.

    Parameters
    ----------
    path : Path
        The store.
    row : int
        The subject's place in the store's arrays.
    record : Record
        What came of it.

    Raises
    ------
    OSError
        When it cannot be written; one that was there stays.
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
        By the subject's place in the store's arrays; subjects without one are not finished.

    Raises
    ------
    FitError
        When one is damaged.
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
                "it and fit again with this store, which samples its subject anew"
            ) from error
    return found


def record_file(path: Path, row: int) -> Path:
    """Say where a subject's record lies in a store."""
    return path / RECORDS / f"{row}.json"


def damaged(path: Path, row: int, subject: str, what: str) -> FitError:
    """Say that something of one subject is not what was written, and what to do."""
    return FitError(
        f"{what}: what the store {path} holds of {subject} is damaged; restore a copy, or delete "
        f"{record_file(path, row)} and fit again with this store, which samples {subject} anew"
    )


def digest(*contents: bytes) -> str:
    """Hash bytes, to find damage."""
    found = hashlib.blake2b(digest_size=8)
    for content in contents:
        found.update(content)
    return found.hexdigest()


def _own_digest(said: Mapping[str, object]) -> str:
    return digest(json.dumps(said).encode())


def outcomes_digest(training: Training, row: int) -> str:
    """Hash what one subject was fitted to, the items aside."""
    constants = (values[row].tobytes() for _, values in sorted(training.constants.items()))
    return digest(training.successes[row].tobytes(), training.trials[row].tobytes(), *constants)
