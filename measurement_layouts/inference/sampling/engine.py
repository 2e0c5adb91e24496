"""A layout that is compiled once for a battery; the subjects are data of the compiled code."""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pymc as pm

from ...common.cache import Recent, unwritable
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ...linking.interval import Interval
from ..distinct import distinct
from ..kernel.domains import Domains
from ..kernel.emit import Machine, build, emit
from ..kernel.inputs import Inputs, Outcomes, log_ways
from ..kernel.plan import CONSTANT_TERM, plan
from ..kernel.terms import LogDensity, UnsupportedError
from ..model.density_terms import log_density
from ..model.features import read_training_features
from ..model.prior import noncentred
from ..model.pymc_model import (
    build_model,
    compile_key,
    successes_name,
    trials_name,
)

_translated = Recent[object, tuple[LogDensity, np.ndarray]](64)
_SUBJECTS = 16  # whose code is kept: the scan for maxima and attempts use it again


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code, and its inputs except those of the subject."""

    machine: Machine
    inputs: Inputs


@dataclass(frozen=True, eq=False)
class SubjectCode:
    """Machine code with the inputs of one subject.

    Attributes
    ----------
    machine : Machine
        The machine code.
    inputs : ndarray of int
        Addresses of the inputs.
    kept : list of ndarray
        Arrays at these addresses, which must exist as long as the code is used.
    """

    machine: Machine
    inputs: np.ndarray
    kept: list[np.ndarray]


class Kernel:
    """A layout's log-density on a battery.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.

    Attributes
    ----------
    domains : Domains
        Rows on which parts of the layout are computed. Items with equal values of all meta-features
        that the layout uses are one row.
    start : ndarray
        The point at which the sampler starts, without jitter.

    Raises
    ------
    UnsupportedError
        When the layout uses an operation that the kernel does not support.
    LayoutError
        When PyMC does not accept a prior.
    """

    def __init__(self, layout: Layout, features: Mapping[str, np.ndarray], items: int) -> None:
        deviations = noncentred(layout, items)
        self.density, self.start = _translated.find(
            (compile_key(layout), deviations), lambda: log_density(layout, deviations)
        )
        unseen = layout.outcome.unseen
        self._unseen = None if unseen is None else unseen.dim
        self._used = self.density.used
        labels = {feature.name: feature.label_dims for feature in layout.row_features}
        self.domains = Domains(labels, features, items, self._used)
        self._labels, self._features = labels, features
        self._codes: dict[Outcomes, Code] = {}
        self._apart = Recent[tuple[bytes, bytes], tuple[Code, list[np.ndarray]]](_SUBJECTS)
        self._compiling = threading.Lock()

    def code(self, outcomes: Outcomes) -> Code:
        """Compile for one form of outcomes, once."""
        with self._compiling:
            if outcomes not in self._codes:
                text, inputs = emit(plan(self.density, self.domains, outcomes))
                self._codes[outcomes] = Code(build(text), inputs)
            return self._codes[outcomes]

    def on(
        self, successes: np.ndarray, trials: np.ndarray, constants: Mapping[str, float]
    ) -> SubjectCode:
        """Return the code with one subject's data.

        Parameters
        ----------
        successes, trials : ndarray of int, shape (items,)
            Outcomes of the subject.
        constants : mapping of str to float
            Constants of the subject.
        """
        if self._unseen is None:
            hits, attempts = self._collapse(successes), self._collapse(trials)
            form = Outcomes.of(hits, attempts)
            code, outcomes = self.code(form), form.arrays(hits, attempts)
        else:
            unseen, counts = self._unseen, (successes.tobytes(), trials.tobytes())
            code, outcomes = self._apart.find(
                counts, lambda: self._told_apart(successes, trials, unseen)
            )
        numbers = {**constants, CONSTANT_TERM: float(log_ways(successes, trials).sum())}
        own = np.array([numbers[name] for name in code.inputs.names])
        kept = [*code.inputs.arrays.values(), *outcomes, own]
        return SubjectCode(code.machine, code.inputs.subject(outcomes, own), kept)

    def _told_apart(
        self, successes: np.ndarray, trials: np.ndarray, unseen: str
    ) -> tuple[Code, list[np.ndarray]]:
        """Compile for rows of items with equal meta-features and equal outcomes."""
        first, kind = distinct([trials, successes, self.domains.collapsed])
        times = np.bincount(kind)
        features = {name: values[first] for name, values in self._features.items()}
        domains = Domains(self._labels, features, len(first), self._used, apart=True)
        hits, attempts = successes[first], trials[first]
        form = Outcomes.averaged(attempts, unseen)
        text, inputs = emit(plan(self.density, domains, form))
        outcomes = [*form.arrays(hits, attempts), times, form.best(hits, attempts)]
        return Code(build(text), inputs), [np.asarray(part, dtype=float) for part in outcomes]

    def _collapse(self, counts: np.ndarray) -> np.ndarray:
        """Return the sums of counts by row."""
        rows = self.domains.rows.size
        return np.bincount(self.domains.collapsed, weights=counts, minlength=rows)


_compiled: dict[object, Any] = {}


@dataclass(frozen=True)
class PlainSampler:
    """Sampler with the log-density that nutpie compiles from the PyMC model.

    Attributes
    ----------
    layout : Layout
        The compiled layout.
    compiled : object
        Nutpie's compiled model.
    features : dict of str to ndarray
        Values of the battery by meta-feature.
    """

    layout: Layout
    compiled: Any
    features: Mapping[str, np.ndarray]

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data; nothing is compiled."""
        return self.compiled.with_data(
            **self.features,
            **{
                constant.name: np.asarray(subject.constants[constant.name])
                for constant in self.layout.constants
            },
            **{
                trials_name(self.layout): subject.trials,
                successes_name(self.layout): subject.successes,
            },
        )


def compile_plain(layout: Layout, features: Mapping[str, np.ndarray], items: int) -> PlainSampler:
    """Compile a layout's PyMC model once in a process, for all subjects and batteries.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    FitError
        When there is no folder to compile in.
    """
    import nutpie

    deviations = noncentred(layout, items)
    key = compile_key(layout), deviations
    if key not in _compiled:
        try:
            compiled = nutpie.compile_pymc_model(_example(layout, deviations))
        except OSError as error:  # Numba cannot write its cache
            raise unwritable(error) from error
        one_at_a_time = _Locked(compiled.initial_point_func)
        _compiled[key] = replace(compiled, initial_point_func=one_at_a_time)
    return PlainSampler(layout, _compiled[key], dict(features))


def _example(layout: Layout, deviations: frozenset[str]) -> pm.Model:
    """Build the model of two arbitrary items."""
    features = {
        feature.name: np.full((2, *map(len, feature.dims.values())), _some_value(feature.range))
        for feature in layout.row_features
    }
    ones = np.ones(2, dtype="int64")
    constants = {constant.name: 0.5 for constant in layout.constants}
    data = SubjectData(ones, ones, constants)
    return build_model(layout, features, pd.RangeIndex(2), data, deviations)


def _some_value(interval: Interval) -> float:
    finite = [end for end in (interval.low, interval.high) if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


class _Locked:
    """A function that one thread at a time calls, because PyTensor's functions share storage."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        with self.lock:
            return self.function(*args)


@dataclass(frozen=True, eq=False)
class Battery:
    """A layout and the meta-features of the items to which subjects are fitted.

    Attributes
    ----------
    layout : Layout
        The layout to fit.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.
    """

    layout: Layout
    features: Mapping[str, np.ndarray]
    items: int

    @classmethod
    def of(cls, layout: Layout, evaluation: Evaluation) -> "Battery":
        """Read and check the items of an evaluation.

        Raises
        ------
        DataError
            When the items do not fit the layout.
        """
        return cls(layout, read_training_features(layout, evaluation), len(evaluation.items))

    def tried(self, trials: np.ndarray) -> "Battery":
        """Return the battery with the form of the layout for these numbers of trials."""
        several = self.layout.several
        return replace(self, layout=several) if trials.max(initial=0) > 1 else self

    @cached_property
    def digest(self) -> str:
        """Hash of the items' meta-features."""
        found = hashlib.sha256(str(self.items).encode())
        for name, values in sorted(self.features.items()):
            found.update(f"{name}{values.shape}\0".encode())
            found.update(np.ascontiguousarray(values))
        return found.hexdigest()

    @cached_property
    def kinds(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Meta-features of the distinct items, and the row of each item among these."""
        columns = [one for own in self.features.values() for one in own.reshape(self.items, -1).T]
        first, kind = distinct(columns[::-1] or [np.zeros(self.items)])
        return {name: values[first] for name, values in self.features.items()}, kind


class Sampler(Protocol):
    """Protocol of a layout that is compiled for a battery; threads may use it together."""

    @property
    def layout(self) -> Layout:
        """The compiled layout."""

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data; nothing is compiled."""


@dataclass(frozen=True)
class FusedSampler:
    """Sampler with the library's own machine code.

    Attributes
    ----------
    layout : Layout
        The compiled layout.
    kernel : Kernel
        The compiled log-density.
    """

    layout: Layout
    kernel: Kernel

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data; nothing is compiled."""
        latents = self.layout.latents
        code = self.kernel.on(subject.successes, subject.trials, subject.constants)
        names = [latent.name for latent in latents]
        shapes = [tuple(map(len, latent.dims.values())) for latent in latents]
        return as_nutpie(code, names, shapes, self._start, len(self.kernel.start))

    def _start(self, seed: int) -> np.ndarray:
        jitter = np.random.default_rng(seed).uniform(-1, 1, len(self.kernel.start))
        return np.asarray(self.kernel.start + jitter)


@dataclass(frozen=True)
class Function:
    """Address of a compiled function."""

    address: int


def as_nutpie(
    code: SubjectCode,
    names: list[str],
    shapes: list[tuple[int, ...]],
    start: Callable[[int], np.ndarray],
    length: int,
) -> Any:
    """Return machine code as nutpie's compiled model.

    Parameters
    ----------
    code : SubjectCode
        Machine code and its inputs.
    names : list of str
        Names of the latents, in the order of the code's output.
    shapes : list of tuple of int
        Shapes of the latents' values.
    start : callable
        Function that returns the starting point of a chain, given its seed.
    length : int
        Length of the sampler's point.
    """
    from nutpie.compile_pymc import CompiledPyMCModel

    ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])
    places = [slice(end - np.prod(s, dtype=int), end) for end, s in zip(ends, shapes, strict=True)]
    return CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        compiled_logp_func=Function(code.machine.density),
        compiled_expand_func=Function(code.machine.profile),
        initial_point_func=start,
        shared_data={str(place): array for place, array in enumerate(code.kept)},
        shared_var_keys={},
        user_data=code.inputs,
        n_expanded=int(ends[-1]),
        shape_info=(names, places, shapes),
        logp_func=code,  # keeps the machine code in memory
        expand_func=None,
        _n_dim=length,
        _shapes=dict(zip(names, shapes, strict=True)),
        _coords={},
    )


_samplers = Recent[object, Sampler](16)  # batteries


def compile_sampler(battery: Battery) -> Sampler:
    """Compile a layout for a battery, once in a process.

    Items with equal values of all meta-features that the layout uses are one row with summed
    counts, and each derived quantity is computed on the distinct combinations of its meta-features
    if that is faster. A layout with an operation that the kernel does not support is compiled by
    nutpie from the PyMC model.

    Parameters
    ----------
    battery : Battery
        Layout and items. Layouts with the same `compile_key` are compiled once.

    Returns
    -------
    Sampler
        The compiled layout; threads may use it together.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """
    key = compile_key(battery.layout), battery.digest
    return _samplers.find(key, lambda: _compile(battery))


@dataclass(frozen=True)
class MeasuredSampler:
    """Sampler of a layout that has another form for items with several trials.

    Attributes
    ----------
    battery : Battery
        Items and the layout, which has measured demands.
    alone : Sampler
        Sampler of subjects with one trial of each item.
    """

    battery: Battery
    alone: Sampler

    @property
    def layout(self) -> Layout:
        """The compiled layout."""
        return self.battery.layout

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data."""
        battery = self.battery.tried(subject.trials)
        alone = battery is self.battery
        return (self.alone if alone else compile_sampler(battery)).on(subject)


def _compile(battery: Battery) -> Sampler:
    alone = _compile_alone(battery)
    return alone if battery.layout.several is battery.layout else MeasuredSampler(battery, alone)


def _compile_alone(battery: Battery) -> Sampler:
    try:
        kernel = Kernel(battery.layout, battery.features, battery.items)
    except UnsupportedError:
        return compile_plain(battery.layout, battery.features, battery.items)
    return FusedSampler(battery.layout, kernel)
