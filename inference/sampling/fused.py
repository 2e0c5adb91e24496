"""A layout's log-density on a battery, as functions in memory."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ...common.cache import Recent
from ...layouts import Layout
from ..kernel.domains import Domains
from ..kernel.emit import emit
from ..kernel.inputs import Inputs
from ..kernel.machine import Machine, build
from ..kernel.outcomes import Outcomes
from ..kernel.plan import CONSTANT_TERM, plan
from ..kernel.terms import LogDensity
from ..model.density_terms import log_density
from ..model.identity import compile_key
from ..model.prior import noncentred

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
        What joins items and profile.
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
        self.domains = Domains(layout, features, items, self._used)
        self._layout, self._features = layout, features
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
        told_apart = np.stack([self.domains.collapsed, successes, trials], axis=1)
        _, first, times = np.unique(told_apart, axis=0, return_index=True, return_counts=True)
        features = {name: values[first] for name, values in self._features.items()}
        domains = Domains(self._layout, features, len(first), self._used, apart=True)
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
