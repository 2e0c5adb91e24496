"""What fits on disk refuse: other formats and fits, damage, a second writer, other files."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...common.errors import FitError, StoreError
from ...common.messages import some
from ...layouts import Layout
from ...linking import LayoutError, LinkingFunction
from ..posterior.assembly import FORMAT, Training
from .archives import digest

HEAD, DATA, LOCK = "head.json", "data.npz", ".lock"


def checked_layout(
    path: Path,
    head: Mapping[Any, Any],
    missing: Sequence[str],
    mark: Callable[[], str],
    layout: Layout | None,
    functions: Sequence[LinkingFunction],
    remedy: str,
) -> Layout:
    """Check a saved fit by its head, and return its layout.

    Parameters
    ----------
    path : Path
        The file or folder.
    head : mapping
        Format, checksum, layout and its fingerprint.
    missing : sequence of str
        What a fit must have, and this one has not.
    mark : callable
        Function that computes the checksum of the contents.
    layout, functions
        As in `fit.load`.
    remedy : str
        What to do if the fit cannot be read.

    Raises
    ------
    FitError
        With the first problem.
    """
    written, functions = head.get("format"), [*functions, *(layout.functions if layout else ())]
    _refuse(
        path,
        (
            isinstance(written, int | np.integer) and written != FORMAT,
            f"has format {written}, and this version of measurement-layouts reads format {FORMAT}; "
            f"read it with version {head.get('measurement_layouts')}, or {remedy}",
        ),
        (bool(missing), f"is not a saved fit: it lacks {', '.join(missing)}; {remedy}"),
    )
    damaged = "is damaged: its contents do not match its checksum; restore a copy, or"
    _refuse(path, (mark() != head["checksum"], f"{damaged} {remedy}"))
    try:
        saved = Layout.from_dict(json.loads(head["layout"]), functions)
    except LayoutError as error:
        raise FitError(f"{path}: its layout cannot be read ({error})") from error
    _refuse(
        path,
        (
            saved.fingerprint != head["fingerprint"],
            f"has a layout with fingerprint {saved.fingerprint}, but it was fitted with "
            f"{head['fingerprint']}; the file or the library was changed, fit again",
        ),
        (
            layout is not None and layout.fingerprint != saved.fingerprint,
            f"is a fit of the layout {saved.name!r} ({saved.fingerprint}), not of "
            f"{layout and layout.name!r} ({layout and layout.fingerprint}); load it without "
            "layout=, or fit again",
        ),
    )
    return saved


def _refuse(path: Path, *table: tuple[bool, str]) -> None:
    """Raise an error with the first text of a table whose condition holds."""
    for holds, text in table:
        if holds:
            raise FitError(f"{path} {text}")


def refuse_foreign(path: Path) -> None:
    """Raise an error if a folder is no store, empty or half made, or has a link in it."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    half = LOCK in names and names <= {LOCK, DATA, f".{DATA}", f".{HEAD}"}
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
def written(path: Path, name: str, kept: str, remedy: str) -> Iterator[None]:
    """Raise errors of the disk in a block as errors that state what is kept."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"could not write {name}into {path}: {error}; {kept}", remedy) from error


def described(training: Training) -> dict[str, str]:
    """Describe data in a few words each, with checksums, by which `refuse_other` compares them."""
    cells = training.cells
    texts = {
        f"{plate}s": f"{len(names)} from {names[0]} to {names[-1]} {_short(names)}"
        for plate, names in training.levels.items()
    }
    starts = np.searchsorted(cells.subject, np.arange(1, len(training.subjects)))
    columns = (np.split(counts, starts) for counts in (cells.item, cells.successes, cells.trials))
    for subject, *counts in zip(training.subjects, *columns, strict=True):
        rate = f"{counts[1].sum()} of {counts[2].sum()}"
        texts[f"outcomes of {subject}"] = f"{rate} {_short(np.concatenate(counts))}"
    return texts | {
        f"values of {name}": _short(training.properties[name]) for name in training.properties
    }


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
