"""A store: the draws of a fit in memory, or in a folder with one file for each block of chains."""

import ctypes
import functools
import hashlib
import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from filelock import BaseFileLock, FileLock, Timeout
from xarray.backends import BackendArray
from xarray.core import indexing

from ...common.errors import FitError, StoreError
from ...common.messages import many, some
from ...layouts import Layout
from ..posterior.assembly import Training, Tried, assemble, join_chains, marks
from ..posterior.posterior import Posterior
from ..sampling.draws import Draws, SamplingOptions, Unit

HEAD, LOCK = "head.json", ".lock"
FORMAT = 1
"""Format of stores; other versions' formats are not read."""

_DATA = "data.npz"
_UNIT = re.compile(r"unit-(\d+)-(\d+)-(\d+)\.npz")  # problem, attempt and block
_TRIMMED = 8  # units after which free memory is returned; each leaves about 0.2 MiB
_CELLS = ("subject", "item", "successes", "trials")
_FEATURES = {"features": "item", "constants": "subject", "categories": "", "covariates": "subject"}


class Record(NamedTuple):
    """What is noted of a unit.

    Attributes
    ----------
    drawn : bool
        Whether there are draws; otherwise the reason says why sampling failed.
    reason : str
        Why the attempt must be repeated; empty if it has no faults, or other blocks are missing.
    """

    drawn: bool
    reason: str


class Store:
    """Draws of a fit, in memory or in a folder; `open` makes one, and ``with`` closes it.

    A folder has ``head.json`` (layout, options, seed, versions), ``data.npz`` (the data), and a
    file for each unit, which is written beside and then renamed, so that a killed process loses at
    most the units that were being sampled. A store holds the fit of one call.

    Attributes
    ----------
    path : Path or None
        The folder; None for a store in memory.
    layout : Layout
        The layout that is fitted.
    seed : int
        Seed of the draws.
    records : dict of Unit to Record
        What is noted of the units.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Evaluation, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> tosses = pd.DataFrame([[1, 0], [1, 1]], index=["Ann", "Bob"], columns=["a", "b"])
    >>> evaluation = Evaluation.from_wide(tosses, pd.DataFrame(index=["a", "b"]))
    >>> call = coin, Training.alone(coin, {}, evaluation), SamplingOptions(draws=4, chains=1)
    >>> draws = Draws({"p": np.full((1, 4), 0.5)}, {"diverging": np.zeros((1, 4), dtype=bool)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(folder, *call, seed=1, reruns=0) as store:
    ...         store.add(Unit(problem=1, attempt=1, block=0), draws)
    ...     with Store.open(folder, *call, seed=None, reruns=0) as store:
    ...         store.seed, store.next_units(0), store.next_units(1), store.posterior()
    (1, [Unit(problem=0, attempt=1, block=0)], [], <Posterior of 'coin': 1 subject, ...>)
    """

    def __init__(
        self,
        path: Path | None,
        layout: Layout,
        training: Training,
        prior: Mapping[str, np.ndarray],
        head: Mapping[str, Any],
    ) -> None:
        self.path, self.layout = path, layout
        self.seed = int(head["attributes"]["seed"])
        self._training, self._prior, self._head = training, prior, head
        self._lock: BaseFileLock | None = None
        self._blocks = head["options"]["chains"] if layout.joint else 1
        self._names = ["all subjects"] if layout.joint else training.subjects
        self._mark = _checksum(head)  # which units are those of this fit
        self._draws: dict[Unit, Draws] = {}
        self.records = {} if path is None else self._read_records(path)

    @classmethod
    def open(
        cls,
        path: str | Path | None,
        layout: Layout,
        training: Training,
        options: SamplingOptions,
        seed: int | None,
        reruns: int,
        method: str = "nuts",
    ) -> Self:
        """Make a store, or open a folder to continue it, and lock it until it is closed.

        The operating system releases the lock when the process ends or is killed. On a network file
        system without locks, a file ``.lock`` replaces it; if a killed process has left this file,
        it must be deleted by hand.

        Parameters
        ----------
        path : str, Path or None
            The folder, a new one, an empty one or a store; None for a store in memory.
        layout : Layout
            The layout to fit.
        training : Training
            The data; those of the store, if it exists.
        options : SamplingOptions
            Numbers of draws and chains, and the target acceptance rate.
        seed : int, optional
            Seed of the draws (default: that of the store, or a random one for a new store).
        reruns : int
            How often an attempt may be repeated.
        method : {"nuts", "grid"}
            The method of `fit`.

        Raises
        ------
        FitError
            When the folder contains something else; when its fit has another layout, other options,
            another seed or other data; or when it is damaged, in use, or cannot be written.
        """
        new = secrets.randbits(31) if seed is None else seed
        chosen = {name: getattr(options, name) for name in SamplingOptions.__annotations__}
        head = {
            "format": FORMAT,
            "attributes": marks(layout, options, new, method),
            "options": {**chosen, "reruns": reruns, "method": method},
        }
        if path is None:
            return cls(None, layout, training, _prior(layout), head)
        folder = Path(path)
        _refuse_foreign(folder)
        lock = _locked(folder)
        try:
            if (folder / HEAD).exists():
                store = cls.read(folder, lambda stored: _same(folder, layout, stored, head, seed))
                _refuse_other_data(folder, store._training, training)
                store._begin_failed_again()
            else:
                prior = _prior(layout)
                arrays = _arrays(training, prior)
                head["data"] = _digest(arrays)
                head["checksum"] = _checksum(head)
                try:
                    _write(folder / _DATA, arrays)
                    _replace(folder / HEAD, lambda file: file.write(json.dumps(head).encode()))
                except BaseException:
                    (folder / _DATA).unlink(missing_ok=True)
                    raise
                store = cls(folder, layout, training, prior, head)
        except OSError as error:
            lock.release()
            raise StoreError(
                f"could not write into {folder}: {error}; nothing in it is lost",
                "make room, or give another folder",
            ) from error
        except BaseException:
            lock.release()
            raise
        store._lock = lock
        return store

    @classmethod
    def read(cls, path: Path, layout_of: Callable[[Mapping[str, Any]], Layout]) -> Self:
        """Read a folder, also while a fit writes to it; it cannot be written to.

        `layout_of` returns the layout, given the contents of ``head.json``.

        Raises
        ------
        FitError
            When the folder is not a store, is damaged, or has the format of another version.
        """
        if not (path / HEAD).is_file():
            raise FitError(
                f"there is no store in the folder {path}; give a folder used as store= of fit"
            )
        try:
            head = json.loads((path / HEAD).read_bytes())
            if head["format"] == FORMAT and head["checksum"] != _checksum(head):
                raise ValueError(f"{HEAD} does not match its checksum")
        except Exception as error:
            raise _damaged(path, error) from error
        if head["format"] != FORMAT:
            raise FitError(
                f"{path} has format {head['format']}, and this version of measurement-layouts "
                f"reads format {FORMAT}; read it with version "
                f"{head.get('attributes', {}).get('measurement_layouts')}, or fit again into "
                "another store"
            )
        layout = layout_of(head)
        try:
            with (path / _DATA).open("rb") as file, np.load(file) as archive:
                arrays = {name: archive[name] for name in archive.files}
            if _digest(arrays) != head["data"]:
                raise ValueError(f"{_DATA} is that of another store")
            groups: dict[str, dict[str, np.ndarray]] = {name: {} for name in ("prior", *_FEATURES)}
            for name, values in arrays.items():
                group, _, node = name.partition("/")
                groups.get(group, {})[node] = values
            prior = groups.pop("prior")
            cells = {name: arrays[f"cells/{name}"] for name in _CELLS}
            training = Training(json.loads(arrays["levels"].tobytes()), **groups, **cells)
        except Exception as error:
            raise _damaged(path, error) from error
        return cls(path, layout, training, prior, head)

    # --- units -----------------------------------------------------------------------------------

    def next_units(self, problem: int) -> list[Unit]:
        """Return the units that a problem needs next; none if it is finished."""
        for attempt in range(1, 2 + self._head["options"]["reruns"]):
            units = self.block_units(Unit(problem, attempt, 0))
            missing = [unit for unit in units if unit not in self.records]
            if missing or not any(self.records[unit].reason for unit in units):
                return missing
        return []

    def add(self, unit: Unit, draws: Draws | None, reason: str = "") -> None:
        """Add the draws of a unit, or the reason why there are none.

        Raises
        ------
        StoreError
            When it cannot be written; the former contents are unchanged.
        """
        record = Record(draws is not None, reason)
        if self.path is not None:
            try:
                note = {"fit": self._mark, "unit": unit, **record._asdict()}
                arrays = {} if draws is None else _by_array(draws)
                _write(_file(self.path, unit), {"record": _packed(note), **arrays})
            except OSError as error:
                raise StoreError(
                    f"could not write {self._names[unit.problem]} into {self.path}: {error}; "
                    f"kept in it: {self.done}",
                    "make room, and fit again with the same store",
                ) from error
            if len(self.records) % _TRIMMED == 0:
                _return_free_memory()
        elif draws is not None:
            self._draws[unit] = draws
        self.records[unit] = record
        if self._complete(unit.problem) == unit.attempt:
            for other in [other for other in self._draws if other.problem == unit.problem]:
                if other.attempt != unit.attempt:
                    del self._draws[other]

    def draws(self, unit: Unit) -> Draws:
        """Return the draws of a unit."""
        if self.path is None:
            return self._draws[unit]
        _, arrays = _read_unit(self.path, self._mark, unit, ("posterior/", "sample_stats/"))
        groups: dict[str, dict[str, np.ndarray]] = {"posterior": {}, "sample_stats": {}}
        for name, values in arrays.items():
            group, _, node = name.partition("/")
            groups[group][node] = values
        return Draws(groups["posterior"], groups["sample_stats"])

    @property
    def failures(self) -> dict[str, str]:
        """Reasons of the problems without draws that are not sampled again, by name."""
        return {
            self._names[problem]: record.reason
            for (problem, _, _), record in sorted(self.records.items())
            if not record.drawn and self._complete(problem) is None and not self.next_units(problem)
        }

    @property
    def done(self) -> str:
        """How much is finished, in words."""
        if not self.layout.joint:
            return f"{len(self._last())} of {many(len(self._names), 'subject')}"
        last = max((unit.attempt for unit in self.records), default=1)
        drawn = [unit for unit, record in self.records.items() if record.drawn]
        count = sum(unit.attempt == last for unit in drawn)
        return f"{count} of {many(self._blocks, 'chain')}"

    def posterior(self) -> Posterior:
        """Return the posterior of the problems that have draws.

        Draws of subjects that were fitted alone stay in the folder. A store in memory hands its
        draws over, so that no copy of them remains.

        Raises
        ------
        FitError
            When no problem has draws.
        """
        layout, training, last = self.layout, self._training, self._last()
        failures = self.failures
        if not last:
            failed = [f"; {name}: {reason}" for name, reason in failures.items()]
            raise FitError(
                f"{self.path} has no draws{''.join(failed[:1])}; fit with this store to sample "
                + ("all chains" if layout.joint else "its subjects")
            )
        attempts: dict[int, int] = {}
        for problem, attempt, _ in self.records:
            attempts[problem] = max(attempt, attempts.get(problem, 1))
        if layout.joint:
            chains = [self.draws(unit) for unit in self.block_units(Unit(0, last[0], 0))]
            posterior, statistics = join_chains(layout, chains, len(training.subjects))
            tried = dict.fromkeys(training.subjects, Tried(attempts[0], None))
        else:
            posterior, statistics = self._stacked([Unit(*pair, 0) for pair in last.items()])
            tried = {
                self._names[problem]: Tried(attempt, failures.get(self._names[problem]))
                for problem, attempt in sorted(attempts.items())
                if problem in last or self._names[problem] in failures
            }
            training = training.take(last)
        marks_of_fit = self._head["attributes"]
        return assemble(layout, training, self._prior, posterior, statistics, marks_of_fit, tried)

    def _stacked(self, units: list[Unit]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the draws of subjects with the subjects as first axis, in memory or lazily."""
        first = self.draws(units[0])
        if self.path is None:
            every = [self._draws.pop(unit) for unit in units]
            return (
                {
                    name: np.stack([one.posterior.pop(name) for one in every])
                    for name in list(first.posterior)
                },
                {
                    name: np.stack([one.statistics.pop(name) for one in every])
                    for name in list(first.statistics)
                },
            )
        groups: tuple[dict[str, Any], dict[str, Any]] = {}, {}
        for name, values in _by_array(first).items():
            group, _, node = name.partition("/")
            lazy = _OnDisk(self.path, self._mark, units, name, values.shape, values.dtype)
            groups[group == "sample_stats"][node] = indexing.LazilyIndexedArray(lazy)
        return groups

    def close(self) -> None:
        """Release the lock of the folder."""
        if self._lock is not None:
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

    def _last(self) -> dict[int, int]:
        """Return the last attempt with draws of each problem that has one, in order."""
        drawn = sorted({unit.problem for unit in self.records})
        complete = ((problem, self._complete(problem)) for problem in drawn)
        return {problem: attempt for problem, attempt in complete if attempt is not None}

    def _read_records(self, path: Path) -> dict[Unit, Record]:
        """Read what is noted of all units in a folder."""
        records = {}
        for file in path.iterdir():
            if file.name in (HEAD, _DATA) or file.name.startswith("."):
                continue
            match = _UNIT.fullmatch(file.name)
            if match is None:
                raise FitError(f"{file} is not a file of a store; remove it")
            unit = Unit(*map(int, match.groups()))
            records[unit], _ = _read_unit(path, self._mark, unit)
        return records

    def block_units(self, unit: Unit) -> list[Unit]:
        """Return the units of all blocks in the same attempt at a problem."""
        return [unit._replace(block=block) for block in range(self._blocks)]

    def _complete(self, problem: int) -> int | None:
        """Return the last attempt in which all blocks of a problem have draws."""
        for attempt in range(1 + self._head["options"]["reruns"], 0, -1):
            records = [
                self.records.get(unit) for unit in self.block_units(Unit(problem, attempt, 0))
            ]
            if all(record is not None and record.drawn for record in records):
                return attempt
        return None

    def _begin_failed_again(self) -> None:
        """Remove the failures of problems without draws, so that these are sampled again."""
        for unit in [unit for unit, record in self.records.items() if not record.drawn]:
            if self.path is not None and self._complete(unit.problem) is None:
                _file(self.path, unit).unlink()
                del self.records[unit]


class _OnDisk(BackendArray):
    """One array of the draws of subjects, which is read from their files when it is indexed.

    Parameters
    ----------
    path : Path
        The store.
    mark : str
        Checksum of the store's head.
    units : sequence of Unit
        Units in the order of the first axis.
    name : str
        Name of the array, as ``group/name``.
    shape : tuple of int
        Shape of one unit's array.
    dtype : dtype
        Type of the draws.
    """

    def __init__(
        self,
        path: Path,
        mark: str,
        units: Sequence[Unit],
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.path, self.mark, self.units, self.name = path, mark, units, name
        self.shape, self.dtype = (len(units), *shape), dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        rows = np.arange(len(self.units))[key[0]]
        if rows.ndim == 0:
            return _indexed(self._unit(rows), key[1:])
        like = _indexed(np.empty(self.shape[1:], self.dtype), key[1:])
        values = np.empty((len(rows), *like.shape), self.dtype)
        for position, row in enumerate(rows):
            values[position] = _indexed(self._unit(row), key[1:])
        return values

    def _unit(self, row: int) -> np.ndarray:
        """Read the array of one unit."""
        unit = self.units[row]
        _, arrays = _read_unit(self.path, self.mark, unit, (self.name,), self.shape[1:])
        return arrays[self.name].astype(self.dtype, copy=False)


def _indexed(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Index each axis on its own."""
    for axis in reversed(range(values.ndim)):
        values = values[(*[slice(None)] * axis, key[axis])]
    return values


# --- files ---------------------------------------------------------------------------------------


def clear(path: Path) -> None:
    """Empty a store.

    Raises
    ------
    StoreError
        When another process uses it.
    FitError
        When the folder contains something else.
    """
    if path.exists():
        _refuse_foreign(path)
        with _locked(path):
            for file in [file for file in path.iterdir() if file.name != LOCK]:
                file.unlink()


def _file(path: Path, unit: Unit) -> Path:
    return path / f"unit-{unit.problem}-{unit.attempt}-{unit.block}.npz"


def _read_unit(
    path: Path,
    mark: str,
    unit: Unit,
    groups: tuple[str, ...] = (),
    shape: tuple[int, ...] | None = None,
) -> tuple[Record, dict[str, np.ndarray]]:
    """Read the record of a unit and the arrays whose names start with one of `groups`.

    Raises
    ------
    FitError
        When the file is damaged, is that of another unit or fit, or an array has another shape.
    """
    file = _file(path, unit)
    try:
        with file.open("rb") as opened, np.load(opened) as archive:
            note = json.loads(archive["record"].tobytes())
            if note.pop("fit") != mark or note.pop("unit") != list(unit):
                raise ValueError("it is a copy of another file")
            names = [name for name in archive.files if name.startswith(groups)] if groups else []
            arrays = {name: archive[name] for name in names}
            if shape is not None and [values.shape for values in arrays.values()] != [shape]:
                raise ValueError(f"it lacks an array of {groups[0]} of shape {shape}")
            return Record(**note), arrays
    except Exception as error:  # NumPy and zipfile raise errors of many classes
        raise FitError(
            f"{file} is damaged ({type(error).__name__}: {error}); restore a copy, or delete it "
            "and fit again with this store, which samples it again with the same result"
        ) from error


def _write(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays into a file as a whole, through to the disk."""
    _replace(file, lambda opened: np.savez(opened, **arrays))


def _replace(file: Path, write: Callable[[Any], object]) -> None:
    beside = file.with_name(f".{file.name}")
    try:
        with beside.open("wb") as opened:
            write(opened)
            opened.flush()
            os.fsync(opened.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _arrays(training: Training, prior: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the data of a fit as arrays of numbers, by name."""
    arrays = {"levels": _packed(training.levels)}
    arrays |= {f"cells/{name}": getattr(training, name) for name in _CELLS}
    groups = {name: getattr(training, name) for name in _FEATURES} | {"prior": prior}
    for group, of_group in groups.items():
        arrays |= {f"{group}/{name}": np.asarray(values) for name, values in of_group.items()}
    return arrays


def _by_array(draws: Draws) -> dict[str, np.ndarray]:
    return {f"posterior/{name}": values for name, values in draws.posterior.items()} | {
        f"sample_stats/{name}": values for name, values in draws.statistics.items()
    }


def _packed(contents: object) -> np.ndarray:
    return np.frombuffer(json.dumps(contents).encode(), np.uint8)


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Hash arrays with their names, types and shapes."""
    found = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        found.update(f"{name}{values.dtype.str}{values.shape}\0".encode())
        found.update(np.ascontiguousarray(values))
    return found.hexdigest()


def _checksum(head: Mapping[str, Any]) -> str:
    contents = {name: value for name, value in head.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


def _prior(layout: Layout) -> dict[str, np.ndarray]:
    from ..model.prior import draw_prior  # PyMC is slow to import

    return {name: drawn[None] for name, drawn in draw_prior(layout).items()}


# --- refusals ------------------------------------------------------------------------------------


def _damaged(path: Path, error: Exception) -> FitError:
    return FitError(
        f"{path} is damaged ({type(error).__name__}: {error}); restore a copy, or fit again into "
        "another store"
    )


def _refuse_foreign(path: Path) -> None:
    """Raise an error if a folder is no store, empty or half made, or has a link in it."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    half = {LOCK, _DATA, f".{_DATA}", f".{HEAD}"}
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


def _locked(path: Path) -> BaseFileLock:
    """Make a folder if there is none, and lock it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK, timeout=0, thread_local=False)
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
    return lock


def _same(
    path: Path,
    layout: Layout,
    stored: Mapping[str, Any],
    head: Mapping[str, Any],
    seed: int | None,
) -> Layout:
    """Return the layout; raise an error if a store has another one, or other options."""
    theirs, ours = stored["attributes"]["fingerprint"], layout.fingerprint
    if theirs != ours:
        raise StoreError(
            f"{path} has a layout with fingerprint {theirs}, but {layout.name!r} has {ours}",
            "give another store, or the same layout",
        )
    now = head["options"] | ({} if seed is None else {"seed": seed})
    before = stored["options"] | {"seed": stored["attributes"]["seed"]}
    other = [name for name in now if before.get(name) != now[name]]
    if other:
        raise StoreError(
            f"{path} was created with "
            + ", ".join(f"{name}={before.get(name)}" for name in other)
            + ", but now it is "
            + ", ".join(f"{name}={now[name]}" for name in other),
            "give another store, or the same options",
        )
    return layout


def _refuse_other_data(path: Path, stored: Training, now: Training) -> None:
    """Raise an error if a store holds the fit of other subjects, items or outcomes."""
    difference = _difference(stored, now)
    if difference:
        raise StoreError(
            f"{path} holds a fit {difference}", "give another store, or the same evaluation"
        )


def _difference(stored: Training, now: Training) -> str:
    """Say in which data two fits differ first; empty if they do not."""
    for plate, names in now.levels.items():
        former = stored.levels.get(plate, [])
        if former != names:
            pairs = zip(former, names, strict=False)
            first = next((f"{one} and {other}" for one, other in pairs if one != other), "the last")
            return (
                f"with {many(len(former), plate)}, but now there are {len(names)}; the first "
                f"different ones are {first}"
            )
    both = [[getattr(training, name) for name in _CELLS] for training in (stored, now)]
    if not all(map(np.array_equal, *both)):
        before, after = (
            {*zip(*(column.tolist() for column in cells), strict=True)} for cells in both
        )
        rows = sorted({cell[0] for cell in before ^ after})
        who = some([now.subjects[row] for row in rows])
        return f"with other outcomes of {many(len(rows), 'subject')}: {who}"
    for group, plate in _FEATURES.items():
        for name, values in getattr(now, group).items():
            differ = getattr(stored, group)[name] != values
            if np.any(differ):
                rows = np.flatnonzero(differ.reshape(len(values), -1).any(axis=1))
                names = [now.levels[plate][row] for row in rows] if plate else []
                which = f" on {many(len(rows), plate)}: {some(names)}" if plate else ""
                return f"with other values of {name}{which}"
    return ""


def _return_free_memory() -> None:
    """Return free memory of threads to the operating system, if the C library supports it."""
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """Find the C library's function for this, which exists in glibc."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
