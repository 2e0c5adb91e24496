"""What fits on disk refuse: other formats and fits, damage, a second writer, other files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...common.errors import FitError, StoreError
from ...common.messages import some
from ...layouts.plates import SUBJECT
from ..posterior.posterior import Posterior
from .archives import digest

HEAD, LOCK = "head.nc", ".lock"


def refuse_foreign(path: Path) -> None:
    """Raise an error if a folder is no store, empty or half made, or has a link in it."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    half = LOCK in names and all(name.startswith(f".{HEAD}.") for name in names - {LOCK})
    if path.exists() and not (path.is_dir() and (not names or HEAD in names or half)):
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
        problem = f"{type(error).__name__}: {error}"
        raise FitError(f"{path} is damaged ({problem}); restore a copy, or {remedy}") from error


@contextmanager
def written(path: Path, name: str, done: str) -> Iterator[None]:
    """Raise errors of the disk in a block as errors that state what is kept."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"could not write {name} into {path}: {error}; kept in it: {done}",
            "make room, and fit again with the same store",
        ) from error


def described(fit: Posterior) -> dict[str, str]:
    """Describe data in a few words each, with checksums, by which `refuse_other` compares them."""
    levels = {**fit.posterior.indexes, **fit.constants.indexes}
    texts = {
        f"{plate}s": f"{len(names)} from {names[0]} to {names[-1]} {_short(names)}"
        for plate, names in {SUBJECT: levels[SUBJECT], **levels}.items()
    }
    cells = fit.coded
    for row, subject in enumerate(fit.subjects):
        chosen = cells.of_subject(row)
        counts = [values[chosen] for values in (cells.item, cells.successes, cells.trials)]
        rate = f"{counts[1].sum()} of {counts[2].sum()}"
        texts[f"outcomes of {subject}"] = f"{rate} {_short(np.concatenate(counts))}"
    constants = fit.constants.data_vars.items()
    return texts | {f"values of {name}": _short(values) for name, values in constants}


def _short(values: object) -> str:
    return f"[{digest([('', values)])[:16]}]"


def refuse_other(path: Path, stored: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise an error if a store holds a fit of another layout, of other data or options."""
    other = [
        f"{name}: {stored.get(name)}, now {now.get(name)}"
        for name in {**now, **stored}
        if stored.get(name) != now.get(name)
    ]
    if other:
        raise StoreError(
            f"{path} holds another fit ({some(other, 2)})",
            "give another store, or the same layout, evaluation and options",
        )
