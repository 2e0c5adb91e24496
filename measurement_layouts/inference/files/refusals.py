"""What the folder of a store refuses: foreign files, a second writer, damage and other fits."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...common.errors import FitError, StoreError
from ...common.messages import many, some
from ..posterior.assembly import Training

HEAD, DATA, LOCK = "head.json", "data.npz", ".lock"
CELLS = ("subject", "item", "successes", "trials")
FEATURES = ("features", "constants", "categories", "covariates")


def refuse_foreign(path: Path) -> None:
    """Raise an error if a folder is no store, empty or half made, or has a link in it."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    half = {LOCK, DATA, f".{DATA}", f".{HEAD}"}
    if path.exists() and (
        not path.is_dir() or (names and HEAD not in names and (LOCK not in names or names - half))
    ):
        raise FitError(f"{path} exists and is not a store of fits; give another folder")
    for name in names:
        if (path / name).is_symlink():
            raise FitError(
                f"{path / name} is a link, but a store must not contain links; replace it by a "
                "copy of its target, or give another store"
            )


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


@contextmanager
def undamaged(path: Path, remedy: str) -> Iterator[None]:
    """Raise all errors in a block, for which NumPy has many classes, as damage of a file."""
    try:
        yield
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise FitError(f"{path} is damaged ({what}); restore a copy, or {remedy}") from error


def other_format(
    path: Path, written: int, reads: int, attributes: Mapping[Any, Any], remedy: str
) -> FitError:
    """Make the error for a fit that another version wrote."""
    return FitError(
        f"{path} has format {written}, and this version of measurement-layouts reads format "
        f"{reads}; read it with version {attributes.get('measurement_layouts')}, or {remedy}"
    )


def refuse_other_fit(
    path: Path, stored: Mapping[str, Any], now: Mapping[str, Any], seed: int | None
) -> None:
    """Raise an error if the head of a store has another layout, other options or another seed."""
    before, after = (head["attributes"] | head["options"] for head in (stored, now))
    if before["fingerprint"] != after["fingerprint"]:
        raise StoreError(
            f"{path} has a layout with fingerprint {before['fingerprint']}, but that of this call "
            f"has {after['fingerprint']}",
            "give another store, or the same layout",
        )
    names = [*now["options"], *(["seed"] if seed is not None else [])]
    other = [name for name in names if before.get(name) != after[name]]
    if other:
        theirs, ours = (
            ", ".join(f"{name}={values.get(name)}" for name in other) for values in (before, after)
        )
        raise StoreError(
            f"{path} was created with {theirs}, but now it is {ours}",
            "give another store, or the same options",
        )


def refuse_other_data(path: Path, stored: Training, now: Training) -> None:
    """Raise an error if a store holds the fit of other subjects, items or outcomes."""
    difference = next(_differences(stored, now), None)
    if difference is not None:
        raise StoreError(
            f"{path} holds a fit with {difference}", "give another store, or the same evaluation"
        )


def _differences(stored: Training, now: Training) -> Iterator[str]:
    """Say in which data two fits differ."""
    for plate, names in now.levels.items():
        former = stored.levels[plate]
        if former != names:
            pairs = zip(former, names, strict=False)
            first = next((f"{one} and {other}" for one, other in pairs if one != other), "the last")
            yield (
                f"{many(len(former), plate)}, but now there are {len(names)}; the first different "
                f"ones are {first}"
            )
    both = [[getattr(training.cells, name) for name in CELLS] for training in (stored, now)]
    if not all(map(np.array_equal, *both)):
        before, after = ({*zip(*map(np.ndarray.tolist, cells), strict=True)} for cells in both)
        rows = sorted({cell[0] for cell in before ^ after})
        who = some([now.subjects[row] for row in rows])
        yield f"other outcomes of {many(len(rows), 'subject')}: {who}"
    for group in FEATURES:
        for name, values in getattr(now, group).items():
            if not np.array_equal(getattr(stored, group)[name], values):
                yield f"other values of {name}"
