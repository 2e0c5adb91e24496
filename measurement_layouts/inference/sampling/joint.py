"""A joint layout that is compiled for a cohort, as the log-density of all subjects together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ...common.cache import Recent
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name, root
from ..kernel import blocks
from ..kernel.domains import Domains
from ..kernel.emit import build, emit
from ..kernel.inputs import Outcomes, log_ways
from ..kernel.plan import CONSTANT_TERM, plan
from ..kernel.terms import LogDensity
from ..model.cohort import Cohort, plate_feature
from ..model.joint_model import joint_model
from ..model.joint_terms import (
    Part,
    centring_feature,
    idle_feature,
    joint_density,
)
from ..model.pymc_model import compile_key
from .engine import SubjectCode, as_nutpie

_translated = Recent[object, tuple[LogDensity, np.ndarray, list[Part]]](32)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a joint kernel: the attempted cells, and rows without trials.

    There is a row without trials for each combination of levels of a latent's plates that no cell
    has.

    Attributes
    ----------
    features : dict of str to ndarray
        Values by meta-feature, covariate and hidden meta-feature, shape (rows,) or (rows, labels).
    codes : dict of str to ndarray of int
        By plate, the level of each row.
    successes, trials : ndarray of int, shape (rows,)
        Outcomes of the rows.
    """

    features: dict[str, np.ndarray]
    codes: dict[str, np.ndarray]
    successes: np.ndarray
    trials: np.ndarray

    @classmethod
    def of(cls, cohort: Cohort) -> "Rows":
        """Return the rows of a cohort."""
        subject, item, codes = _with_all_levels(cohort)
        empty = np.zeros(len(subject) - len(cohort.subject), dtype=int)
        features = {name: values[item] for name, values in cohort.features.items()}
        features |= {name: values[subject] for name, values in cohort.covariates.items()}
        for plate, levels in codes.items():
            features[plate_feature(plate)] = levels.astype(float)
            last = len(cohort.levels[plate]) - 1
            features[idle_feature(plate)] = (levels == last).astype(float)
        return cls(
            features,
            codes,
            np.concatenate([cohort.successes, empty]),
            np.concatenate([cohort.trials, empty]),
        )


def _with_all_levels(cohort: Cohort) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return subjects, items and levels of the cells, and of more until all combinations occur.

    The item of a further row has all of its levels if there is such an item.
    """
    plates = {plate_name(plate): plate for plate in cohort.layout.plates}
    subject, item = [cohort.subject], [cohort.item]
    codes = {name: [cohort.codes(plate)] for name, plate in plates.items()}
    for latent in cohort.layout.latents:
        if len(latent.plates) < 2:
            continue
        attempted = np.zeros(cohort.size(latent.plates), dtype=bool)
        attempted[tuple(cohort.codes(plate) for plate in latent.plates)] = True
        missing = np.argwhere(~attempted)
        sides = {
            side: _with_most_levels(cohort, side, latent.plates, missing)
            for side in (SUBJECT, ITEM)
        }
        subject.append(sides[SUBJECT])
        item.append(sides[ITEM])
        for name, plate in plates.items():
            finer = [at for at, own in enumerate(latent.plates) if determines([own], [plate])]
            codes[name].append(
                cohort.up(latent.plates[finer[0]], plate)[missing[:, finer[0]]]
                if finer
                else cohort.up(root(plate), plate)[sides[root(plate)]]
            )
    joined = {name: np.concatenate(parts) for name, parts in codes.items()}
    return np.concatenate(subject), np.concatenate(item), joined


def _with_most_levels(
    cohort: Cohort, side: str, plates: Sequence[Plate], levels: np.ndarray
) -> np.ndarray:
    """Find for each row of levels a subject, or an item, that has as many of them as any."""
    own = [at for at, plate in enumerate(plates) if root(plate) == side]
    each = np.stack([cohort.up(side, plates[at]) for at in own], axis=1) if own else None
    if each is None:
        return np.zeros(len(levels), dtype=int)
    wanted, which = np.unique(levels[:, own], axis=0, return_inverse=True)
    chosen = np.array([(each == one).sum(axis=1).argmax() for one in wanted], dtype=int)
    return chosen[which.ravel()]


class JointKernel:
    """A joint layout's log-density on a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.
    centring : mapping of str to ndarray
        By latent, the degree of centring of each value, shape (levels...).

    Attributes
    ----------
    parts : list of Part
        The latents' parts of the sampler's point.
    start : ndarray
        The point at which PyMC would start the sampler.

    Raises
    ------
    UnsupportedError
        When the layout uses an operation that the kernel does not support.
    LayoutError
        When PyMC does not accept a prior.
    """

    def __init__(
        self,
        cohort: Cohort,
        centring: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        layout = cohort.layout
        self.layout, self.cohort = layout, cohort
        self.density, self.start, self.parts = _translated.find(
            (
                compile_key(layout),
                *((name, len(levels)) for name, levels in sorted(cohort.levels.items())),
                frozenset(centring),
            ),
            lambda: joint_density(cohort, centring),
        )
        self.rows = Rows.of(cohort)
        for latent in layout.latents:
            if latent.name in centring:
                at = tuple(self.rows.codes[plate_name(plate)] for plate in latent.plates)
                self.rows.features[centring_feature(latent.name)] = centring[latent.name][at]
        nodes = (*layout.row_features, *layout.covariates)
        labels = {node.name: node.label_dims for node in nodes}
        used = frozenset().union(*(term.features for term in self.density.terms.listed))
        tabled = set(self.rows.features) - set(cohort.features)
        self.domains = Domains(
            labels,
            self.rows.features,
            len(self.rows.trials),
            used,
            tabled=tabled,
        )

    @cached_property
    def code(self) -> SubjectCode:
        """Machine code with the outcomes."""
        successes, trials = self.rows.successes, self.rows.trials
        hits, attempts = self._collapse(successes), self._collapse(trials)
        form = Outcomes.of(hits, attempts)
        given = form.arrays(hits, attempts)
        planned = plan(self.density, self.domains, form)
        text, inputs = emit(planned, blocks=self.domains.rows.size > blocks.WHOLE, apart=True)
        outcomes = [np.asarray(part, dtype=float) for part in given]
        ways = log_ways(self.cohort.successes, self.cohort.trials)
        numbers = {CONSTANT_TERM: float(ways.sum())}
        own = np.array([numbers[name] for name in inputs.names])
        machine = build(text, gathers=False)
        return SubjectCode(
            machine, inputs.subject(outcomes, own), [*inputs.arrays.values(), *outcomes, own]
        )

    def _collapse(self, counts: np.ndarray) -> np.ndarray:
        return np.bincount(self.domains.collapsed, weights=counts, minlength=self.domains.rows.size)

    def order(self, plates: Sequence[Plate]) -> np.ndarray:
        """Return the position of each level in the kernel's order; shape (levels...)."""
        names = [plate_name(plate) for plate in plates]
        sizes = self.cohort.size(plates)
        varying = [name for name, count in zip(names, sizes, strict=True) if count > 1]
        domain = self.domains.of(frozenset(map(plate_feature, varying)), ())
        if domain is None:
            return np.zeros(sizes, dtype=int)
        first = np.unique(self.domains.collapsed, return_index=True)[1]
        at = tuple(self.rows.codes[name][first][domain.origin] for name in names)
        found = np.empty(sizes, dtype=int)
        found[at] = np.arange(domain.size)
        return found

    def shape(self, part: Part) -> tuple[int, ...]:
        """Return the shape of a latent's values in the kernel's order."""
        levels = (int(np.prod(part.plates)),) if part.plates else ()
        return levels + part.labels

    def compiled(self) -> Any:
        """Return nutpie's compiled model."""
        names = [part.latent.name for part in self.parts]
        shapes = [self.shape(part) for part in self.parts]
        return as_nutpie(self.code, names, shapes, self._start, len(self.start))

    def _start(self, seed: int) -> np.ndarray:
        jitter = np.random.default_rng(seed).uniform(-1, 1, len(self.start))
        return np.asarray(self.start + jitter)


class PlainJoint:
    """PyMC model of a joint layout, compiled by nutpie, for layouts that the kernel cannot compute.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.

    Attributes
    ----------
    parts : list of Part
        The latents, with their levels in order.
    """

    def __init__(self, cohort: Cohort) -> None:
        import nutpie

        latents = cohort.layout.latents
        self.parts = [
            Part(one, 0, cohort.size(one.plates), tuple(map(len, one.dims.values())))
            for one in latents
        ]
        self._compiled = nutpie.compile_pymc_model(joint_model(cohort))

    def order(self, plates: Sequence[Plate]) -> np.ndarray:
        """Return the position of each level of some plates; shape (levels...)."""
        sizes = next(part.plates for part in self.parts if part.latent.plates == tuple(plates))
        return np.arange(math.prod(sizes)).reshape(sizes)

    def shape(self, part: Part) -> tuple[int, ...]:
        """Return the shape of a latent's values, with all levels along one axis."""
        levels = (math.prod(part.plates),) if part.plates else ()
        return levels + part.labels

    def compiled(self) -> Any:
        """Return nutpie's compiled model."""
        return self._compiled
