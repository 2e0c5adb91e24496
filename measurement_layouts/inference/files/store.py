"""A store: the draws of a fit in memory, or in a folder with one file for each block of chains."""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from xarray.core import indexing

from ...common.errors import FitError, StoreError
from ...common.memory import return_free_memory
from ...common.messages import many
from ...layouts import Layout
from ...layouts.plates import SUBJECT
from ...linking import LinkingFunction
from ..posterior.assembly import assemble, marks, take_subjects
from ..posterior.posterior import GROUPS, Posterior
from ..sampling.draws import Draws, SamplingOptions, Unit
from . import archives, refusals, trees
from .refusals import HEAD, LOCK

_UNIT = re.compile(r"unit-(\d+)-(\d+)-(\d+)\.npz")  # problem, attempt and block
_TRIMMED = 8  # units after which free memory is returned; each leaves about 0.2 MiB
_CALL = "call"  # attribute with the arguments of the fit and a description of its data
_DRAWS = ("posterior", "statistics")
_ANEW = "fit again into another store"
_GROUPS = tuple(name for name in GROUPS if name != "sample_stats")  # of a fit without draws


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
    """Draws of a fit, in memory or in a folder; `open` makes one.

    A folder has ``head.nc`` (the fit without its draws: layout, options, seed, data), and a file
    for each unit, which is written beside and then renamed, so that a killed process loses at most
    the units that were being sampled. A store holds the fit of one call.

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
    >>> from measurement_layouts.inference.posterior.assembly import data_alone
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> tosses = pd.DataFrame([[1, 0], [1, 1]], index=["Ann", "Bob"], columns=["a", "b"])
    >>> evaluation = Evaluation.from_wide(tosses, pd.DataFrame(index=["a", "b"]))
    >>> call = coin, data_alone(coin, {}, evaluation), SamplingOptions(draws=4, chains=1)
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
        data: xr.DataTree,
        call: Mapping[str, Any],
        mark: str = "",
    ) -> None:
        self.path, self.layout, self.seed = path, layout, int(call["seed"])
        self._data, self._call = data, call
        self._blocks = call["chains"] if layout.joint else 1
        names = data["posterior"].indexes[SUBJECT]
        self._names = ["all subjects"] if layout.joint else list(map(str, names))
        self._attempts = 1 + call["reruns"]
        self._mark = mark  # checksum of the head, which its units repeat
        self._kept: dict[Unit, archives.Arrays] = {}  # draws of a store in memory
        self.records: dict[Unit, Record] = {}
        for file in () if path is None else path.iterdir():
            if file.name != HEAD and not file.name.startswith("."):
                match = _UNIT.fullmatch(file.name)
                if match is None:
                    raise FitError(f"{file} is not a file of a store; remove it")
                unit = Unit(*map(int, match.groups()))
                self.records[unit] = _read_unit(file.parent, mark, unit)[0]

    @classmethod
    @contextmanager
    def open(
        cls,
        path: str | Path | None,
        layout: Layout,
        data: xr.DataTree,
        options: SamplingOptions,
        seed: int | None,
        reruns: int,
        method: str = "nuts",
    ) -> Iterator[Self]:
        """Make a store, or open a folder to continue it, which is locked until the block ends.

        The operating system releases the lock when the process ends or is killed. On a network file
        system without locks, a file ``.lock`` replaces it; if a killed process has left this file,
        it must be deleted by hand.

        Parameters
        ----------
        path : str, Path or None
            The folder, a new one, an empty one or a store; None for a store in memory.
        layout : Layout
            The layout to fit.
        data : DataTree
            The fit without draws; that of the store, if it exists.
        options : SamplingOptions
            Numbers of draws and chains, and the target acceptance rate.
        seed : int, optional
            Seed of the draws (default: that of the store, or a random one for a new store).
        reruns : int
            How often an attempt may be repeated.
        method : {"nuts", "grid", "numpyro"}
            The method of `fit`, or its sampler.

        Raises
        ------
        FitError
            When the folder contains something else; when its fit has another layout, other options,
            another seed or other data; or when it is damaged, in use, or cannot be written.
        """
        new = secrets.randbits(31) if seed is None else seed
        options_of = {**asdict(options), "reruns": reruns, "method": method, "seed": new}
        call: dict[str, Any] = {"layout": layout.fingerprint, **options_of}
        data = data.copy()
        data.attrs = marks(layout, options, new, method)
        if path is None:
            yield cls(None, layout, data, call)
            return
        folder = Path(path)
        refusals.files_of(folder)
        with refusals.locked(folder):
            if (folder / HEAD).exists():
                store = cls.read(folder, functions=layout.functions)
                same = {} if seed is not None else {"seed": store.seed}
                stored = {**store._call, "data": store._data}
                refusals.refuse_other(folder, stored, {**call, **same, "data": data})
                store.layout = layout
                store._begin_failed_again()
            else:
                head = data.copy()
                head.attrs = {**data.attrs, _CALL: json.dumps(call)}
                mark = trees.write_tree(folder / HEAD, head, _GROUPS)
                store = cls(folder, layout, data, call, mark)
            yield store

    @classmethod
    def read(
        cls,
        path: Path,
        layout: Layout | None = None,
        functions: Sequence[LinkingFunction] = (),
    ) -> Self:
        """Read a folder, also while a fit writes to it; it cannot be written to.

        Parameters
        ----------
        path : Path
            The folder.
        layout, functions
            As in `fit.load`.

        Raises
        ------
        FitError
            When the folder is not a store, is damaged, or has the format of another version.
        """
        if not (path / HEAD).is_file():
            raise FitError(
                f"there is no store in the folder {path}; give a folder used as store= of fit"
            )
        saved, data, mark = trees.read_tree(path / HEAD, layout, functions, _ANEW)
        return cls(path, saved, data, json.loads(data.attrs.pop(_CALL)), mark)

    def block_units(self, unit: Unit) -> list[Unit]:
        """Return the units of all blocks in the same attempt at a problem."""
        return [unit._replace(block=block) for block in range(self._blocks)]

    def next_units(self, problem: int) -> list[Unit]:
        """Return the units that a problem needs next; none if it is finished."""
        for attempt in range(1, 1 + self._attempts):
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
        arrays = {} if draws is None else archives.flat(vars(draws))
        if self.path is None:
            self._kept[unit] = arrays
        else:
            note = {"fit": self._mark, "unit": unit, "arrays": [*arrays], **record._asdict()}
            text = np.frombuffer(json.dumps(note).encode(), np.uint8)
            try:
                archives.write_archive(_file(self.path, unit), {"record": text, **arrays})
            except OSError as error:
                raise StoreError(
                    f"could not write {self._names[unit.problem]} into {self.path}: "
                    f"{error.__cause__ or error}; kept in it: {self.done}",
                    "make room, and fit again with the same store",
                ) from (error.__cause__ or error)
            if len(self.records) % _TRIMMED == 0:
                return_free_memory()
        self.records[unit] = record
        if self._last(unit.problem) == unit.attempt:  # draws of earlier attempts are not needed
            for earlier in range(1, unit.attempt):
                for block in self.block_units(unit._replace(attempt=earlier)):
                    self._kept.pop(block, None)

    def draws(self, unit: Unit) -> Draws:
        """Return the draws of a unit."""
        if self.path is None:
            arrays = self._kept[unit]
        else:
            arrays = _read_unit(self.path, self._mark, unit, _DRAWS)[1]
        return Draws(*(archives.grouped(arrays, group) for group in _DRAWS))

    @property
    def failures(self) -> dict[str, str]:
        """Reasons of the problems that have failed so far, by name."""
        return {
            self._names[unit.problem]: record.reason
            for unit, record in sorted(self.records.items())
            if not (record.drawn or self._last(unit.problem))
        }

    @property
    def done(self) -> str:
        """How much has draws, in words."""
        drawn = {
            (unit.problem, unit.block) for unit, record in self.records.items() if record.drawn
        }
        total = many(len(self._names) * self._blocks, "chain" if self.layout.joint else "subject")
        return f"{len(drawn)} of {total}"

    def posterior(self) -> Posterior:
        """Return the posterior of the problems that have draws.

        Draws of subjects that were fitted alone stay in the folder. A store in memory hands its
        draws over, so that no copy of them remains.

        Raises
        ------
        FitError
            When no problem has draws.
        """
        layout, data, failures = self.layout, self._data, self.failures
        lasts = {unit.problem: self._last(unit.problem) for unit in sorted(self.records)}
        units = [Unit(problem, attempt, 0) for problem, attempt in lasts.items() if attempt]
        if not units:
            failed = [f"; {name}: {reason}" for name, reason in failures.items()]
            raise FitError(
                f"{self.path} has no draws{''.join(failed[:1])}; fit with this store to sample "
                + ("all chains" if layout.joint else "its subjects")
            )
        attempts = {
            self._names[unit.problem]: unit.attempt
            for unit in sorted(self.records)
            if unit.attempt > 1
        }
        if layout.joint:
            units = self.block_units(units[0])
            names = map(str, data["posterior"].indexes[SUBJECT])
            attempts = dict.fromkeys(names, attempts.popitem()[1]) if attempts else {}
        else:
            data = take_subjects(data, [unit.problem for unit in units])
        like = archives.flat(vars(self.draws(units[0])))
        arrays = {name: self._joined(name, units, array) for name, array in like.items()}
        posterior, statistics = (archives.grouped(arrays, group) for group in _DRAWS)
        return assemble(layout, data, posterior, statistics, failures, attempts)

    def _joined(self, name: str, units: Sequence[Unit], like: np.ndarray) -> Any:
        """Join an array of several units: chains, or subjects as third axis, read on access."""
        if self.path is not None:
            read = partial(_read_array, self.path, self._mark, name)
            if not self.layout.joint:
                return indexing.LazilyIndexedArray(archives.Stacked(units, read, like))
            return np.concatenate(list(map(read, units)))
        arrays = [self._kept[unit].pop(name) for unit in units]
        if self.layout.joint:
            return np.concatenate(arrays)
        return np.moveaxis(np.stack(arrays), 0, 2)

    def _last(self, problem: int) -> int:
        """Return the last attempt in which all blocks of a problem have draws; 0 if none has."""
        for attempt in range(self._attempts, 0, -1):
            units = self.block_units(Unit(problem, attempt, 0))
            if all(unit in self.records and self.records[unit].drawn for unit in units):
                return attempt
        return 0

    def _begin_failed_again(self) -> None:
        """Remove the failures of problems without draws, so that these are sampled again."""
        for unit in [unit for unit, record in self.records.items() if not record.drawn]:
            if self.path is not None and not self._last(unit.problem):
                _file(self.path, unit).unlink()
                del self.records[unit]


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
        refusals.files_of(path)
        with refusals.locked(path):
            for file in refusals.files_of(path):
                if file.name != LOCK:
                    file.unlink()


def _file(path: Path, unit: Unit) -> Path:
    return path / f"unit-{unit.problem}-{unit.attempt}-{unit.block}.npz"


def _read_unit(
    path: Path, mark: str, unit: Unit, start: tuple[str, ...] = ()
) -> tuple[Record, archives.Arrays]:
    """Read the record of a unit, and the arrays whose names start with one of some texts."""
    file = _file(path, unit)
    try:
        with file.open("rb") as opened, np.load(opened) as archive:
            note = json.loads(archive["record"].tobytes())
            names = [name for name in note.pop("arrays") if name.startswith(start)]
            arrays = {name: archive[name] for name in names}
        if note.pop("fit") != mark or note.pop("unit") != list(unit):
            raise ValueError("it is a copy of another file")
        return Record(**note), arrays
    except Exception as error:  # NumPy raises many kinds
        raise FitError(
            f"{file} is damaged ({type(error).__name__}: {error}); restore a copy, or delete it "
            "and fit again with this store, which samples it again with the same result"
        ) from error


def _read_array(path: Path, mark: str, name: str, unit: Unit) -> np.ndarray:
    """Read one array of a unit."""
    return _read_unit(path, mark, unit, (name,))[1][name]
