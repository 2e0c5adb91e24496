"""Compiled log-densities: machine code for a layout and outcomes, in the form that nutpie samples.

A layout is compiled once for the items of a battery; subjects that are fitted alone are data of the
compiled code.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import xlogy

from ...common.cache import Recent
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import Plate, plate_name
from ..kernel.domains import Domains
from ..kernel.emit import emit
from ..kernel.inputs import Inputs
from ..kernel.machine import Machine, build
from ..kernel.outcomes import CONSTANT_TERM, Outcomes, log_ways
from ..kernel.tracing import UntraceableError
from ..model.cohort import Cohort, plate_feature
from ..model.density import Degrees, LogDensity, Part
from ..model.features import read_training_features
from ..model.pymc_model import compile_key, few_outcomes
from .plain import Plain
from .rows import Rows

_FORMS = 16  # whose code is kept: the scan for maxima and attempts use that of a subject again


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code for a form of outcomes, and its inputs except those of the subject.

    Attributes
    ----------
    machine : Machine
        The machine code.
    inputs : Inputs
        Its inputs.
    domains : Domains
        Rows on which parts of the layout are computed.
    first : ndarray of int
        A row of the kernel for each row of the domains.
    """

    machine: Machine
    inputs: Inputs
    domains: Domains
    first: np.ndarray


class Kernel:
    """A layout's log-density on a cohort, in machine code.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes. For a layout under which subjects share no values, the outcomes
        are not used.
    centring : mapping of str to ndarray or None
        By latent, the degree of centring of each value, shape (levels...), or None for 0.

    Attributes
    ----------
    parts : list of Part
        The latents' parts of the sampler's point.
    start : ndarray
        The point at which PyMC would start the sampler.
    domains : Domains
        Rows on which parts of the layout are computed. Cells with equal values of everything that
        the outcome uses are one row.

    Raises
    ------
    UntraceableError
        When the layout uses an operation that the kernel does not support.
    LayoutError
        When PyMC does not accept a prior.
    """

    def __init__(self, cohort: Cohort, centring: Degrees = MappingProxyType({})) -> None:
        layout = cohort.layout
        self.cohort, self.layout = cohort, layout
        self.density = LogDensity(cohort, centring)
        self.start, self.parts = self.density.start, self.density.parts
        self.rows = Rows.of(cohort, centring)
        nodes = (*layout.row_features, *layout.covariates)
        self._labels = {node.name: node.label_dims for node in nodes}
        self._tabled = set(self.rows.features) - set(cohort.features)
        self._count = len(next(iter(self.rows.features.values()), cohort.trials))
        self.domains = self._domains({})
        self.density.on(self.domains)  # an operation without a quantity is an error now
        self._codes = Recent[Outcomes, Code](_FORMS)
        self._averaged = Recent[object, tuple[Code, list[np.ndarray]]](_FORMS)

    def _domains(self, outcomes: dict[str, np.ndarray]) -> Domains:
        features, used = {**self.rows.features, **outcomes}, self.density.used | set(outcomes)
        return Domains(self._labels, features, self._count, used, self._tabled)

    def on(self, cohort: Cohort | None = None) -> Any:
        """Return nutpie's compiled model with the outcomes of a cohort on the same rows.

        By default, these are the outcomes of the cohort that it was compiled for.
        """
        cohort = self.cohort if cohort is None else cohort
        code, outcomes = self._with_outcomes(cohort)
        successes, trials = cohort.successes, cohort.trials
        numbers = {CONSTANT_TERM: float(log_ways(successes, trials).sum())}
        if not self.layout.joint:
            numbers |= {name: float(values[0]) for name, values in cohort.covariates.items()}
        table = code.inputs.table(outcomes, numbers)
        return self._as_nutpie(code.machine, table, [*code.inputs.arrays.values(), *outcomes])

    def _with_outcomes(self, cohort: Cohort) -> tuple[Code, list[np.ndarray]]:
        """Return the code for a cohort's outcomes, and these by row."""
        won, tried = (
            np.pad(counts, (0, self._count - len(counts)))
            for counts in (cohort.successes, cohort.trials)
        )
        unseen = self.layout.outcome.unseen
        if unseen is not None:
            key = won.tobytes(), tried.tobytes()
            return self._averaged.find(key, lambda: self._average(won, tried, unseen.dim))
        successes, trials = (
            np.bincount(self.domains.collapsed, counts, self.domains.rows.size)
            for counts in (won, tried)
        )
        form = Outcomes.of(successes, trials)
        code = self._codes.find(form, lambda: self._compile(self.domains, form))
        return code, form.arrays(successes, trials)

    def _average(
        self, successes: np.ndarray, trials: np.ndarray, unseen: str
    ) -> tuple[Code, list[np.ndarray]]:
        """Compile for rows of cells with equal values of everything, and equal outcomes."""
        outcomes = {f"{MARK}successes": successes, f"{MARK}trials": trials}
        domains, form = self._domains(outcomes), Outcomes.averaged(trials, unseen)
        code = self._compile(domains, form)
        hits, tried = successes[code.first], trials[code.first]
        times, misses = np.bincount(domains.collapsed).astype(float), tried - hits
        best = xlogy(hits, hits) + xlogy(misses, misses) - xlogy(tried, tried)
        return code, [*form.arrays(hits, tried), times, best]

    def _compile(self, domains: Domains, form: Outcomes) -> Code:
        text, inputs = emit(self.density.on(domains).plan(form))
        first = np.unique(domains.collapsed, return_index=True)[1]
        return Code(build(text), inputs, domains, first)

    def order(self, plates: Sequence[Plate]) -> np.ndarray:
        """Return the position of each level in the kernel's order; shape (levels...)."""
        names = [plate_name(plate) for plate in plates]
        sizes, (code, _) = self.cohort.size(plates), self._with_outcomes(self.cohort)
        varying = [name for name, count in zip(names, sizes, strict=True) if count > 1]
        domain = code.domains.of(frozenset(map(plate_feature, varying)), ())
        if domain is None:
            return np.zeros(sizes, dtype=int)
        at = tuple(self.rows.codes[name][code.first][domain.origin] for name in names)
        positions = np.empty(sizes, dtype=int)
        positions[at] = np.arange(domain.size)
        return positions

    def _as_nutpie(self, machine: Machine, inputs: np.ndarray, arrays: list[np.ndarray]) -> Any:
        """Return machine code as nutpie's compiled model, which keeps the arrays in memory."""
        from nutpie.compile_pymc import CompiledPyMCModel

        names = [part.latent.name for part in self.parts]
        shapes = [shape_of(part) for part in self.parts]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        pairs = zip(ends, shapes, strict=True)
        return CompiledPyMCModel(
            dims={},
            reparameterized_names=[],
            compiled_logp_func=SimpleNamespace(address=machine.density),
            compiled_expand_func=SimpleNamespace(address=machine.profile),
            initial_point_func=self._start,
            shared_data={str(place): array for place, array in enumerate(arrays)},
            shared_var_keys={},
            user_data=inputs,
            n_expanded=int(ends[-1]),
            shape_info=(names, [slice(end - math.prod(s), end) for end, s in pairs], shapes),
            logp_func=machine,  # keeps the machine code in memory
            expand_func=None,
            _n_dim=len(self.start),
            _shapes=dict(zip(names, shapes, strict=True)),
            _coords={},
        )

    def _start(self, seed: int) -> np.ndarray:
        jitter = np.random.default_rng(seed).uniform(-1, 1, len(self.start))
        return np.asarray(self.start + jitter)


def shape_of(part: Part) -> tuple[int, ...]:
    """Return the shape of a latent's values, with all levels along one axis."""
    return ((math.prod(part.plates),) if part.plates else ()) + part.labels


type Compiled = Kernel | Plain
"""A compiled layout; threads may use it together."""


def compiled(cohort: Cohort, centring: Degrees | None = None) -> Compiled:
    """Compile a layout for a cohort.

    Cells with equal values of everything that the outcome uses are one row with summed counts, and
    each derived quantity is computed on the distinct combinations of what it depends on if that is
    faster. A layout with an operation that the kernel does not support is compiled by nutpie from
    the PyMC model.

    Parameters
    ----------
    cohort : Cohort
        Layout and data.
    centring : mapping of str to ndarray or None, optional
        See `Kernel` (default: deviations where there are few outcomes; see `variables.noncentred`).

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """
    if centring is None:
        centring = dict.fromkeys(few_outcomes(cohort))
    try:
        return Kernel(cohort, centring)
    except UntraceableError:
        return Plain(cohort)


_samplers = Recent[object, Compiled](16)


@dataclass(frozen=True, eq=False)
class Battery:
    """A layout and the meta-features of the rows to which subjects are fitted alone.

    Attributes
    ----------
    layout : Layout
        The layout to fit.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : int
        Number of rows.
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

    def alone(self, subject: SubjectData) -> Cohort:
        """Return the cohort of one subject; the meta-features are not copied."""
        return Cohort.alone(self.layout, dict(self.features), range(self.items), subject)

    def compiled(self, cohort: Cohort) -> Compiled:
        """Return the compiled layout of a subject, which subjects with the same form share.

        A layout with measured properties has another form where items have several trials.
        """
        key = compile_key(cohort.layout), self.digest
        return _samplers.find(key, lambda: compiled(cohort))

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data."""
        cohort = self.alone(subject)
        return self.compiled(cohort).on(cohort)

    @cached_property
    def digest(self) -> str:
        """Hash of the items' meta-features."""
        digest = hashlib.sha256(str(self.items).encode())
        for name, values in sorted(self.features.items()):
            digest.update(f"{name}{values.shape}\0".encode())
            digest.update(np.ascontiguousarray(values))
        return digest.hexdigest()


def compile_sampler(battery: Battery) -> Battery:
    """Compile a layout for a battery, once in a process; see `compiled`.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """
    once = np.ones(battery.items, dtype="int64")
    constants = {constant.name: 0.5 for constant in battery.layout.constants}
    battery.compiled(battery.alone(SubjectData(once, once, constants)))
    return battery
