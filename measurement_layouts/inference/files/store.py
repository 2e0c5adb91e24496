"""A store: fits in a folder, written subject by subject, whose draws are read on access."""

import ctypes
import dataclasses
import functools
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from filelock import BaseFileLock, FileLock, Timeout

from ...common.errors import FitError, StoreError
from ...common.messages import many, some
from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ..files import hierarchy
from ..model.prior import draw_prior
from ..posterior.assembly import Training, marks
from ..posterior.posterior import Posterior
from ..sampling.draws import Draws, Sampled, SamplingOptions
from ..sampling.engine import Battery
from .hierarchy import Contents, check_records, stored_posterior
from .records import (
    Record,
    by_array,
    outcomes_digest,
    read_records,
    write_chunk,
    write_record,
)


def options_of(options: SamplingOptions, reruns: int, method: str) -> dict[str, Any]:
    """Return the options of sampling as a mapping to be stored."""
    return {**dataclasses.asdict(options), "reruns": reruns, "method": method}


def check_same(
    path: Path,
    contents: Contents,
    layout: Layout,
    options: Mapping[str, Any],
    seed: int | None,
) -> None:
    """Raise an error if a store has another layout or was created with other options.

    Parameters
    ----------
    path : Path
        The store, for the message.
    contents : Contents
        Contents of the store, without draws.
    layout : Layout
        The layout to fit now.
    options : mapping of str to object
        Options from `options_of`.
    seed : int, optional
        The seed to use now; None for the store's seed.

    Raises
    ------
    StoreError
        When layout, options or seed differ.
    """
    if contents.attributes["fingerprint"] != layout.fingerprint:
        raise StoreError(
            f"{path} has a layout with fingerprint {contents.attributes['fingerprint']}, but "
            f"{layout.name!r} has {layout.fingerprint}",
            "give another store, or the same layout",
        )
    asked = dict(options) | ({} if seed is None else {"seed": seed})
    has = contents.options | {"seed": contents.attributes["seed"]}
    other = [name for name in asked if has.get(name) != asked[name]]
    if other:
        theirs = ", ".join(f"{name}={has.get(name)}" for name in other)
        ours = ", ".join(f"{name}={asked[name]}" for name in other)
        raise StoreError(
            f"{path} was created with {theirs}, but now it is {ours}",
            "give another store, or the same options",
        )


def check_data(path: Path, stored: Training, now: Training) -> None:
    """Raise an error if a store holds the fit of other subjects, items or outcomes.

    Parameters
    ----------
    path : Path
        The store, for the message.
    stored, now : Training
        The data of the store's fit, and those of this call.

    Raises
    ------
    StoreError
        When they differ.
    """
    remedy = "give another store, or the same evaluation"
    kinds = (("subject", stored.subjects, now.subjects), ("item", stored.items, now.items))
    for what, before, after in kinds:
        if before != after:
            pairs = zip(before, after, strict=False)
            first = next((f"{one} and {other}" for one, other in pairs if one != other), "the last")
            raise StoreError(
                f"{path} holds a fit with {many(len(before), what)}, but now there are "
                f"{len(after)}; the first different ones are {first}",
                remedy,
            )
    for name, values in now.features.items():
        differ = (stored.features[name] != values).reshape(len(now.items), -1).any(axis=1)
        if differ.any():
            raise StoreError(
                f"{path} holds a fit with other values of {name} on "
                f"{many(int(differ.sum()), 'item')}: {some(np.array(now.items)[differ])}",
                remedy,
            )
    rows = range(len(now.subjects))
    differ = np.array([outcomes_digest(stored, row) != outcomes_digest(now, row) for row in rows])
    if differ.any():
        raise StoreError(
            f"{path} holds a fit with other outcomes of {many(int(differ.sum()), 'subject')}: "
            f"{some(np.array(now.subjects)[differ])}",
            remedy,
        )


_WRITERS = 8  # chunks written to the disk at a time, since each write waits for the disk
_TRIMMED = 8  # subjects after which free memory is returned; each leaves about 0.2 MiB


class Store:
    """Fits in a folder, written subject by subject.

    `Store.open` makes a store, and a ``with`` block closes it. The folder is one Zarr hierarchy in
    ArviZ's layout, so that ``xarray.open_datatree(path, engine="zarr")`` opens it; the draws of
    unfinished subjects are missing there. A subject is finished when its record exists, which is
    written last and atomically, so that a killed process loses at most the subject that it was
    writing. A store holds the fit of one call: another evaluation is refused.

    Attributes
    ----------
    path : Path
        The folder.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.inference.sampling.draws import Draws
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> tosses = pd.DataFrame([[1, 0], [1, 1]], index=["Ann", "Bob"], columns=["a", "b"])
    >>> evaluation = Evaluation.from_wide(tosses, pd.DataFrame(index=["a", "b"]))
    >>> asked = layout, evaluation, Battery.of(layout, evaluation)
    >>> options = SamplingOptions(draws=4, chains=1)
    >>> draws = Draws({"p": np.full((1, 4), 0.5)}, {"diverging": np.zeros((1, 4), dtype=bool)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(folder, *asked, options, seed=1, reruns=1) as store:
    ...         store.add(Sampled("Bob", draws))
    ...     with Store.open(folder, *asked, options, seed=None, reruns=1) as store:
    ...         store.seed, store.finished, store.posterior()
    (1, {'Bob'}, <Posterior of 'coin': 1 subject, 1 chain of 4 draws, 0 failed>)
    """

    def __init__(
        self,
        path: Path,
        lock: BaseFileLock,
        layout: Layout,
        contents: Contents,
    ) -> None:
        self.path = path
        self.seed = int(contents.attributes["seed"])
        self._lock, self._layout, self._contents = lock, layout, contents
        self._rows = {subject: row for row, subject in enumerate(contents.training.subjects)}
        self._records = read_records(path)
        check_records(path, contents, self._records)
        self._writers = ThreadPoolExecutor(_WRITERS)

    @classmethod
    def open(
        cls,
        path: str | Path,
        layout: Layout,
        evaluation: Evaluation,
        battery: Battery,
        options: SamplingOptions,
        seed: int | None,
        reruns: int,
        method: str = "nuts",
    ) -> Self:
        """Create a store, or open one to continue it, and lock it until it is closed.

        The operating system provides the lock, on Windows too, and releases it when the process
        ends or is killed. On a network file system without locks, a file ``.lock`` in the folder
        replaces it; if a killed process has left this file, it must be deleted by hand.

        Parameters
        ----------
        path : str or Path
            The folder: a new one, an empty one or a store.
        layout : Layout
            The layout to fit.
        evaluation : Evaluation
            Items and outcomes; those of the store, if it exists.
        battery : Battery
            The items as the layout reads them.
        options : SamplingOptions
            Numbers of draws and chains, and the target acceptance rate.
        seed : int, optional
            Seed of the draws (default: that of the store, or a random one for a new store).
        reruns : int
            How often a subject may be sampled again.
        method : {"nuts", "grid"}
            The method of `fit`.

        Returns
        -------
        Store
            The store, open and locked.

        Raises
        ------
        FitError
            When the folder contains something else; when its fit has another layout, other options,
            another seed, or other subjects, items or outcomes; or when the store is damaged, in
            use, or cannot be written.
        """
        path = Path(path)
        if hierarchy.state(path) == "else":
            raise FitError(f"{path} exists and is not a store of fits; give another folder")
        _refuse_links(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path / hierarchy.LOCK, timeout=0, thread_local=False)
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
            asked = options_of(options, reruns, method)
            training = Training.of(layout, battery.features, evaluation)
            if hierarchy.state(path) == "store":
                stored = hierarchy.read(path)
                check_same(path, stored, layout, asked, seed)
                check_data(path, stored.training, training)
            else:
                seed = secrets.randbits(31) if seed is None else seed
                prior = {name: drawn[None] for name, drawn in draw_prior(layout).items()}
                said = marks(layout, options, seed, method)
                hierarchy.create(path, layout, Contents(said, asked, training, prior, {}))
            return cls(path, lock, layout, hierarchy.read(path))
        except OSError as error:
            lock.release()
            raise StoreError(
                f"could not write into {path}: {error}; nothing in it is lost",
                "make room, or give another folder",
            ) from error
        except BaseException:
            lock.release()
            raise

    @property
    def finished(self) -> set[str]:
        """Subjects that have draws; those that failed may be sampled again."""
        return {one.subject for one in self._records.values() if one.draws is not None}

    def add(self, sampled: Sampled) -> None:
        """Write the result of one subject: first its draws, then its record as a whole.

        Parameters
        ----------
        sampled : Sampled
            One of the store's subjects.

        Raises
        ------
        FitError
            When it cannot be written; the former contents are unchanged.
        """
        row = self._rows[sampled.subject]
        try:
            record = Record(
                sampled.subject,
                sampled.attempts,
                sampled.reason,
                outcomes_digest(self._contents.training, row),
                None if sampled.draws is None else self._write(row, sampled.draws),
            )
            write_record(self.path, row, record)
        except OSError as error:
            held = many(len(self.finished), "subject")
            raise StoreError(
                f"could not write {sampled.subject} into {self.path}: {error}; kept in it: {held}",
                "make room, and fit again with the same store",
            ) from error
        self._records[row] = record
        if len(self._records) % _TRIMMED == 0:
            _return_free_memory()

    def _write(self, row: int, draws: Draws) -> dict[str, str]:
        """Write a subject's draws to the disk with a sync; return digests by array."""
        arrays = by_array(draws)
        if not self._contents.draws:
            hierarchy.declare(self.path, self._layout, draws, len(self._rows))
            self._contents = hierarchy.read(self.path)

        def write(name: str) -> str:
            _, dtype = self._contents.draws[name]
            return write_chunk(self.path, name, row, arrays[name].astype(dtype, copy=False))

        return dict(zip(arrays, self._writers.map(write, arrays), strict=True))

    def posterior(self) -> Posterior:
        """Return the posterior of the finished subjects, whose draws stay on the disk.

        Returns
        -------
        Posterior
            Finished subjects in the evaluation's order; failed ones in its `failures`.

        Raises
        ------
        FitError
            When no subject has draws.
        """
        return stored_posterior(self.path, self._layout, self._contents, self._records)

    def close(self) -> None:
        """Close the store and release its lock."""
        self._writers.shutdown()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _refuse_links(path: Path) -> None:
    """Raise an error if a store contains a link; the store's own path may be a link."""
    for link in _links(path) if path.is_dir() else ():
        raise FitError(
            f"{link} is a link, but a store must not contain links; replace it by a copy of its "
            "target, or give another store"
        )


def _links(folder: str | Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield entry.path
            elif entry.is_dir():
                yield from _links(entry.path)


def _return_free_memory() -> None:
    """Return free memory of threads to the operating system, if the C library supports it."""
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """Find the C library's function for this, which exists in glibc."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
