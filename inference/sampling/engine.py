"""A layout compiled once for a battery; subjects are swapped in as data."""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pymc as pm
from scipy.special import gammaln

from ...common.cache import Recent, unwritable
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ...linking.interval import Interval
from ..distinct import distinct
from ..kernel.domains import Domains
from ..kernel.emit import Machine, build, emit
from ..kernel.inputs import Inputs, Outcomes
from ..kernel.plan import CONSTANT_TERM, plan
from ..kernel.terms import LogDensity, UnsupportedError
from ..model.density_terms import log_density
from ..model.features import training_features
from ..model.prior import noncentred
from ..model.pymc_model import (
    build_model,
    compile_key,
    successes_name,
    trials_name,
)

_translated = Recent[object, tuple[LogDensity, np.ndarray]](64)


@dataclass(frozen=True, eq=False)
class Code:
    """Functions in memory, and what they read but for the subject's part."""

    machine: Machine
    inputs: Inputs


@dataclass(frozen=True, eq=False)
class SubjectCode:
    """Functions in memory for one subject.

    Attributes
    ----------
    machine : Machine
        The functions.
    inputs : ndarray of int
        What they take as their inputs.
    kept : list of ndarray
        What must be kept as long as that is used.
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
        By meta-feature, shape (items,) or (items, labels).
    items : int
        How many.

    Attributes
    ----------
    domains : Domains
        Items alike in all that the layout uses are one row; parts of the layout have domains of
        their own.
    start : ndarray
        Where the sampler starts, without jitter.

    Raises
    ------
    UnsupportedError
        When the layout uses an operation that has no machine code here.
    LayoutError
        When PyMC does not take a prior.
    """

    def __init__(self, layout: Layout, features: Mapping[str, np.ndarray], items: int) -> None:
        self.density, self.start = _terms(layout, noncentred(layout, items))
        unseen = layout.outcome.unseen
        self._unseen = None if unseen is None else unseen.dim
        self._used = self.density.used
        labels = {feature.name: feature.label_dims for feature in layout.row_features}
        self.domains = Domains(labels, features, items, self._used)
        self._labels, self._features = labels, features
        self._codes: dict[Outcomes, Code] = {}
        self._compiling = threading.Lock()

    def code(self, outcomes: Outcomes) -> Code:
        """Compile for outcomes of one form, once."""
        with self._compiling:
            if outcomes not in self._codes:
                text, inputs = emit(plan(self.density, self.domains, outcomes))
                self._codes[outcomes] = Code(build(text), inputs)
            return self._codes[outcomes]

    def on(
        self, successes: np.ndarray, trials: np.ndarray, constants: Mapping[str, float]
    ) -> SubjectCode:
        """Lay out one subject's data.

        Parameters
        ----------
        successes, trials : ndarray of int, shape (items,)
            Outcomes.
        constants : mapping of str to float
            The subject's.
        """
        if self._unseen is None:
            hits, attempts = self._collapse(successes), self._collapse(trials)
            form = Outcomes.of(hits, attempts)
            code, outcomes = self.code(form), form.arrays(hits, attempts)
        else:
            code, outcomes = self._apart(successes, trials, self._unseen)
        coefficients = (
            gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
        )
        numbers = {**constants, CONSTANT_TERM: float(coefficients.sum())}
        own = np.array([numbers[name] for name in code.inputs.names])
        kept = [*code.inputs.arrays.values(), *outcomes, own]
        return SubjectCode(code.machine, code.inputs.subject(outcomes, own), kept)

    def _apart(
        self, successes: np.ndarray, trials: np.ndarray, unseen: str
    ) -> tuple[Code, list[np.ndarray]]:
        """Compile for items that are one row only where their outcomes are alike, too."""
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
        """Add the counts of items that are one row."""
        rows = self.domains.rows.size
        return np.bincount(self.domains.collapsed, weights=counts, minlength=rows)


def _terms(layout: Layout, deviations: frozenset[str]) -> tuple[LogDensity, np.ndarray]:
    """Translate a layout, once in this process."""
    key = compile_key(layout), deviations
    return _translated.find(key, lambda: log_density(layout, deviations))


_compiled: dict[object, Any] = {}


@dataclass(frozen=True)
class PlainSampler:
    """Samples with PyTensor's compiled log-density.

    Attributes
    ----------
    layout : Layout
        What was compiled.
    compiled : object
        Its compiled form, nutpie's.
    features : dict of str to ndarray
        The battery's meta-features.
    """

    layout: Layout
    compiled: Any
    features: Mapping[str, np.ndarray]

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""
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
    """Compile a layout once in this process, whatever the subjects and the items' features.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    FitError
        When there is no folder to compile in.
    """
    import nutpie

    deviations = noncentred(layout, items)
    key = compile_key(layout), deviations
    if key not in _compiled:
        try:
            compiled = nutpie.compile_pymc_model(_example(layout, deviations))
        except OSError as error:  # Numba's part of it
            raise unwritable(error) from error
        one_at_a_time = _Locked(compiled.initial_point_func)
        _compiled[key] = replace(compiled, initial_point_func=one_at_a_time)
    return PlainSampler(layout, _compiled[key], dict(features))


def _example(layout: Layout, deviations: frozenset[str]) -> pm.Model:
    """Write the model over two items that stand for any."""
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
    """A function that threads take turns in: PyTensor functions share their storage."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        with self.lock:
            return self.function(*args)


@dataclass(frozen=True, eq=False)
class Battery:
    """A layout and the meta-features of the items that subjects are fitted on.

    Attributes
    ----------
    layout : Layout
        The layout to fit.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        How many.
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
        return cls(layout, training_features(layout, evaluation), len(evaluation.items))

    def tried(self, trials: np.ndarray) -> "Battery":
        """Take the form of the layout for so many trials of each item."""
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
        """Meta-features of the items that differ, and for every item its row in them."""
        columns = [one for own in self.features.values() for one in own.reshape(self.items, -1).T]
        first, kind = distinct(columns[::-1] or [np.zeros(self.items)])
        return {name: values[first] for name, values in self.features.items()}, kind


class Sampler(Protocol):
    """A layout compiled for a battery, safe to use from several threads."""

    @property
    def layout(self) -> Layout:
        """What was compiled."""

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""


@dataclass(frozen=True)
class FusedSampler:
    """Samples with machine code of the project's own.

    Attributes
    ----------
    layout : Layout
        What was compiled.
    kernel : Kernel
        Its compiled form.
    """

    layout: Layout
    kernel: Kernel

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""
        latents = self.layout.latents
        code = self.kernel.on(subject.successes, subject.trials, subject.constants)
        names = [latent.name for latent in latents]
        shapes = [tuple(map(len, latent.dims.values())) for latent in latents]
        return as_nutpie(code, names, shapes, self._start, len(self.kernel.start))

    def _start(self, seed: int) -> np.ndarray:
        jitter = np.random.default_rng(seed).uniform(-1, 1, len(self.kernel.start))
        return np.asarray(self.kernel.start + jitter)


@dataclass(frozen=True)
class _Function:
    """A compiled function, by its address."""

    address: int


def as_nutpie(
    code: SubjectCode,
    names: list[str],
    shapes: list[tuple[int, ...]],
    start: Callable[[int], np.ndarray],
    length: int,
) -> Any:
    """Make nutpie's compiled model of functions in memory.

    Parameters
    ----------
    code : SubjectCode
        The functions and their inputs.
    names : list of str
        Of the latents, in the order in which they are written.
    shapes : list of tuple of int
        Of their values.
    start : callable
        From a chain's seed to where it starts.
    length : int
        Of the sampler's point.
    """
    from nutpie.compile_pymc import CompiledPyMCModel

    ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])
    places = [slice(end - np.prod(s, dtype=int), end) for end, s in zip(ends, shapes, strict=True)]
    return CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        compiled_logp_func=_Function(code.machine.density),
        compiled_expand_func=_Function(code.machine.profile),
        initial_point_func=start,
        shared_data={str(place): array for place, array in enumerate(code.kept)},
        shared_var_keys={},
        user_data=code.inputs,
        n_expanded=int(ends[-1]),
        shape_info=(names, places, shapes),
        logp_func=code,  # holds the machine code
        expand_func=None,
        _n_dim=length,
        _shapes=dict(zip(names, shapes, strict=True)),
        _coords={},
    )


_samplers = Recent[object, Sampler](16)  # batteries


def compile_sampler(battery: Battery) -> Sampler:
    """Compile a layout for a battery, once in this process.

    Each derived quantity is computed on the distinct combinations of its meta-features where that
    is cheaper, and items alike in all that matters are one row with summed counts. A layout with
    an operation that has no machine code here is compiled by PyTensor, in its plain form.

    Parameters
    ----------
    battery : Battery
        Layouts that compute the same share one compilation.

    Returns
    -------
    Sampler
        Safe to use from several threads.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    """
    key = compile_key(battery.layout), battery.digest
    return _samplers.find(key, lambda: _compile(battery))


@dataclass(frozen=True)
class MeasuredSampler:
    """Samples subjects with one trial of each item, and those with several, in a form of its own.

    Attributes
    ----------
    battery : Battery
        Of a layout with measured demands.
    alone : Sampler
        Compiled for one trial of each item.
    """

    battery: Battery
    alone: Sampler

    @property
    def layout(self) -> Layout:
        """What was compiled."""
        return self.battery.layout

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data."""
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
