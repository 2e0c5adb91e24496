"""Compiled models: the log-density of a layout and outcomes, as nutpie samples it.

A layout is compiled once for the items of a battery; subjects that are fitted alone are data of the
compiled code.
"""

import hashlib
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ...common.cache import Recent, unwritable
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import SubjectData
from ...layouts import Layout
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name, root
from ...linking.interval import Interval
from ..distinct import distinct
from ..kernel import blocks
from ..kernel.domains import Domains
from ..kernel.emit import Machine, build, emit
from ..kernel.inputs import Inputs, Outcomes, log_ways
from ..kernel.plan import CONSTANT_TERM, plan
from ..kernel.tracing import UntraceableError
from ..model.cohort import Cohort, plate_feature
from ..model.density import (
    Degrees,
    LogDensity,
    Part,
    centring_feature,
    idle_feature,
)
from ..model.features import read_training_features
from ..model.pymc_model import (
    build_model,
    compile_key,
    few_outcomes,
    successes_name,
    trials_name,
)

_SUBJECTS = 16  # whose code is kept: the scan for maxima and attempts use it again


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a kernel: the cells, and rows without trials.

    There is a row without trials for each combination of levels of a latent's plates that no cell
    has.

    Attributes
    ----------
    features : dict of str to ndarray
        Values by meta-feature, covariate and hidden meta-feature, shape (rows,) or (rows, labels).
    codes : dict of str to ndarray of int
        By plate, the level of each row.
    """

    features: dict[str, np.ndarray]
    codes: dict[str, np.ndarray]

    @classmethod
    def of(cls, cohort: Cohort, centring: Degrees) -> "Rows":
        """Return the rows of a cohort."""
        layout = cohort.layout
        if not layout.joint:
            return cls(dict(cohort.features), {})
        subject, row, codes = _with_all_levels(cohort)
        features = {name: values[row] for name, values in cohort.features.items()}
        features |= {name: values[subject] for name, values in cohort.covariates.items()}
        for name, levels in codes.items():
            features[plate_feature(name)] = levels.astype(float)
            last = len(cohort.levels[name]) - 1
            features[idle_feature(name)] = (levels == last).astype(float)
        for latent in layout.latents:
            degrees = centring.get(latent.name)
            if degrees is not None:
                at = tuple(codes[plate_name(plate)] for plate in latent.plates)
                features[centring_feature(latent.name)] = degrees[at]
        return cls(features, codes)


def _with_all_levels(cohort: Cohort) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return subjects, rows and levels of the cells, and of more until all combinations occur.

    The item of a further row has all of its levels if there is such an item.
    """
    plates = {plate_name(plate): plate for plate in cohort.layout.plates}
    subject, row = [cohort.subject], [cohort.row]
    codes = {name: [cohort.codes(plate)] for name, plate in plates.items()}
    for latent in cohort.layout.latents:
        if len(latent.plates) < 2:
            continue
        lacking = np.ones(cohort.size(latent.plates), dtype=bool)
        lacking[tuple(cohort.codes(plate) for plate in latent.plates)] = False
        missing = np.argwhere(lacking)
        sides = {
            side: _with_most_levels(cohort, side, latent.plates, missing)
            for side in (SUBJECT, ITEM)
        }
        subject.append(sides[SUBJECT])
        row.append(cohort.first_row[sides[ITEM]])
        for name, plate in plates.items():
            finer = [at for at, fine in enumerate(latent.plates) if determines([fine], [plate])]
            codes[name].append(
                cohort.up(latent.plates[finer[0]], plate)[missing[:, finer[0]]]
                if finer
                else cohort.up(root(plate), plate)[sides[root(plate)]]
            )
    joined = {name: np.concatenate(levels) for name, levels in codes.items()}
    return np.concatenate(subject), np.concatenate(row), joined


def _with_most_levels(
    cohort: Cohort, side: str, plates: Sequence[Plate], levels: np.ndarray
) -> np.ndarray:
    """Find for each row of levels a subject, or an item, that has as many of them as any."""
    of_side = [at for at, plate in enumerate(plates) if root(plate) == side]
    if not of_side:
        return np.zeros(len(levels), dtype=int)
    members = np.stack([cohort.up(side, plates[at]) for at in of_side], axis=1)
    wanted, which = np.unique(levels[:, of_side], axis=0, return_inverse=True)
    chosen = np.array([(members == one).sum(axis=1).argmax() for one in wanted], dtype=int)
    return chosen[which.ravel()]


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
        self.domains = self._domains(np.arange(self._count))
        self.density.on(self.domains)  # an operation without a quantity is an error now
        self._codes: dict[Outcomes, Code] = {}
        self._averaged = Recent[object, tuple[Code, list[np.ndarray]]](_SUBJECTS)
        self._compiling = threading.Lock()

    def _domains(self, rows: np.ndarray, apart: bool = False) -> Domains:
        features = {name: values[rows] for name, values in self.rows.features.items()}
        return Domains(self._labels, features, len(rows), self.density.used, apart, self._tabled)

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
        brought = np.array([numbers[name] for name in code.inputs.names])
        addresses = code.inputs.subject(outcomes, brought)
        return self._as_nutpie(
            code.machine, addresses, [*code.inputs.arrays.values(), *outcomes, brought]
        )

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
        given = [np.asarray(part, dtype=float) for part in form.arrays(successes, trials)]
        with self._compiling:
            if form not in self._codes:
                first = np.unique(self.domains.collapsed, return_index=True)[1]
                self._codes[form] = self._compile(self.domains, form, first)
            return self._codes[form], given

    def _average(
        self, successes: np.ndarray, trials: np.ndarray, unseen: str
    ) -> tuple[Code, list[np.ndarray]]:
        """Compile for rows of cells with equal values of everything, and equal outcomes."""
        first, kind = distinct([trials, successes, self.domains.collapsed])
        hits, attempts = successes[first], trials[first]
        form = Outcomes.averaged(attempts, unseen)
        given = [*form.arrays(hits, attempts), np.bincount(kind), form.best(hits, attempts)]
        code = self._compile(self._domains(first, apart=True), form, first)
        return code, [np.asarray(part, dtype=float) for part in given]

    def _compile(self, domains: Domains, form: Outcomes, first: np.ndarray) -> Code:
        joint = self.layout.joint
        in_blocks = joint and domains.rows.size > blocks.WHOLE
        text, inputs = emit(plan(self.density.on(domains), form), blocks=in_blocks, apart=joint)
        return Code(build(text, gathers=not joint), inputs, domains, first)

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
            compiled_logp_func=Function(machine.density),
            compiled_expand_func=Function(machine.profile),
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


@dataclass(frozen=True)
class Function:
    """Address of a compiled function."""

    address: int


def shape_of(part: Part) -> tuple[int, ...]:
    """Return the shape of a latent's values, with all levels along one axis."""
    return ((math.prod(part.plates),) if part.plates else ()) + part.labels


_plain = Recent[object, Any](16)


class Plain:
    """PyMC's model, compiled by nutpie, for layouts with an operation that the kernel lacks.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes. A layout under which subjects share no values is compiled once
        in a process, for all subjects and batteries.

    Attributes
    ----------
    parts : list of Part
        The latents, with their levels in order.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    FitError
        When there is no folder to compile in.
    """

    def __init__(self, cohort: Cohort) -> None:
        layout, joint = cohort.layout, cohort.layout.joint
        self.cohort, self.layout, deviations = cohort, layout, few_outcomes(cohort)
        self.parts = [
            Part(
                latent,
                0,
                cohort.size(latent.plates) if joint else (),
                tuple(map(len, latent.dims.values())),
            )
            for latent in layout.latents
        ]
        key = compile_key(layout), deviations, cohort.digest if joint else ""
        example = cohort if joint else _example(layout)
        self.compiled = _plain.find(key, lambda: _compile_plain(example, deviations))

    def order(self, plates: Sequence[Plate]) -> np.ndarray:
        """Return the position of each level of some plates; shape (levels...)."""
        sizes = next(part.plates for part in self.parts if part.latent.plates == tuple(plates))
        return np.arange(math.prod(sizes)).reshape(sizes)

    def on(self, cohort: Cohort | None = None) -> Any:
        """Return nutpie's compiled model with a cohort's data; nothing is compiled."""
        layout, cohort = self.layout, self.cohort if cohort is None else cohort
        if layout.joint:
            return self.compiled
        return self.compiled.with_data(
            **cohort.features,
            **{name: np.asarray(values[0]) for name, values in cohort.covariates.items()},
            **{trials_name(layout): cohort.trials, successes_name(layout): cohort.successes},
        )


def _compile_plain(cohort: Cohort, deviations: frozenset[str]) -> Any:
    import nutpie

    try:
        compiled = nutpie.compile_pymc_model(build_model(cohort, deviations))
    except OSError as error:  # Numba cannot write its cache
        raise unwritable(error) from error
    one_at_a_time = _Locked(compiled.initial_point_func)
    return replace(compiled, initial_point_func=one_at_a_time)


def _example(layout: Layout) -> Cohort:
    """Make a cohort of one subject and two arbitrary items."""
    features = {
        feature.name: np.full((2, *map(len, feature.dims.values())), _inside(feature.range))
        for feature in layout.row_features
    }
    ones, constants = np.ones(2, dtype="int64"), {one.name: 0.5 for one in layout.constants}
    return Cohort.alone(layout, features, range(2), SubjectData(ones, ones, constants))


def _inside(interval: Interval) -> float:
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


_samplers = Recent[object, Compiled](16)


@dataclass(frozen=True)
class Sampler:
    """A layout that is compiled for a battery; threads may use it together."""

    battery: Battery

    @property
    def layout(self) -> Layout:
        """The layout to fit."""
        return self.battery.layout

    def compiled(self, cohort: Cohort) -> Compiled:
        """Return the compiled layout of a subject of the battery."""
        key = compile_key(cohort.layout), self.battery.digest
        return _samplers.find(key, lambda: compiled(cohort))

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model with one subject's data."""
        cohort = self.battery.alone(subject)
        return self.compiled(cohort).on(cohort)


def compile_sampler(battery: Battery) -> Sampler:
    """Compile a layout for a battery, once in a process; see `compiled`.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """
    sampler, once = Sampler(battery), np.ones(battery.items, dtype="int64")
    constants = {constant.name: 0.5 for constant in battery.layout.constants}
    sampler.compiled(battery.alone(SubjectData(once, once, constants)))
    return sampler
