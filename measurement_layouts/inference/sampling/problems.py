"""The posteriors of a fit, and how draws of each are made: subjects alone, or a cohort jointly."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from ...common.memory import return_free_memory
from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from ...layouts.elements import elements
from ..model.bands import find_bands
from ..model.cohort import Cohort
from .convergence import (
    UNTRUSTED,
    Convergence,
    RhatEss,
    convergence,
    faults,
    rhat_ess,
    status,
    worst,
)
from .draws import Draws, SamplingOptions, Unit, with_more_care
from .engine import Battery, compile_sampler
from .grid import Unresolved, integrate
from .joint_nuts import joint_form
from .nuts import alone, sample
from .scan import scan
from .unbounded import LogDensity

_TOGETHER = 256  # values whose chains are judged together, so that they are not all copied


class Model[D](Protocol):
    """What all problems of a fit have in common; a process that samples keeps it.

    `D` is the type of the data of a problem.
    """

    def prepare(self) -> None:
        """Compile what all problems use, once in a process."""

    def sample(self, name: str, data: D, unit: Unit, seed: int) -> Draws:
        """Draw a block of chains of a problem, given the seed of the fit.

        Any error is a failure of this attempt, and does not stop other problems.
        """

    def faults(self, blocks: Sequence[Draws], attempt: int) -> list[str]:
        """Return why an attempt must be repeated, given the draws of all blocks."""


@dataclass(frozen=True, eq=False)
class Problems[D]:
    """A list of problems.

    Attributes
    ----------
    model : Model
        What they have in common.
    names : list of str
        Names of the problems.
    data : callable
        Function that returns the data of a problem, given its name.
    blocks : int
        Number of blocks of chains of each problem.
    """

    model: Model[D]
    names: list[str]
    data: Callable[[str], D]
    blocks: int = 1

    def name(self, unit: Unit) -> str:
        """Name a unit in messages."""
        return self.names[unit.problem] if self.blocks == 1 else f"chain {unit.block + 1}"


@dataclass(frozen=True, eq=False)
class Alone:
    """Subjects that are fitted one by one; a block has all chains of a subject.

    Attributes
    ----------
    battery : Battery
        Layout and items; compiled at most once in a process.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    method : {"nuts", "grid"}
        Method that produces draws; NUTS if the grid cannot resolve a subject's posterior.
    cores : int
        Number of chains at a time; the draws do not depend on it.
    """

    battery: Battery
    options: SamplingOptions
    method: Literal["nuts", "grid"] = "nuts"
    cores: int = 1

    def prepare(self) -> None:
        """Compile the layout."""
        compile_sampler(self.battery)

    def sample(self, name: str, data: SubjectData, unit: Unit, seed: int) -> Draws:
        """Draw all chains of a subject."""
        stream = attempt_seed(seed, name, unit.attempt)
        if self.method == "grid":
            with suppress(Unresolved):
                return integrate(self.battery, data, self.options, stream)
        form = alone(self.battery, data)
        maxima = None
        if find_bands(self.battery.layout):
            maxima = scan(self.battery, LogDensity(form.compiled()))
        return sample(form, self.options, stream, unit.attempt, self.cores, maxima)

    def faults(self, blocks: Sequence[Draws], attempt: int) -> list[str]:
        """Return the faults of a subject's draws; a grid is not repeated."""
        (draws,) = blocks
        if np.isnan(draws.statistics.get("energy", np.nan)).all():
            return []
        used = with_more_care(self.options, attempt)
        names = [element.name for element in elements(self.battery.layout)]
        measured = convergence(draws, names, tune=used.tune, target_accept=used.target_accept)
        return faults(measured, self.options.chains)


@dataclass(frozen=True, eq=False)
class Jointly:
    """A cohort of subjects that share values; a block has one chain.

    Attributes
    ----------
    cohort : Cohort
        Layout and data; compiled at most once in a process.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    """

    cohort: Cohort
    options: SamplingOptions

    def prepare(self) -> None:
        """Choose the form in which the cohort is sampled, and compile it."""
        joint_form(self.cohort)

    def sample(self, name: str, data: None, unit: Unit, seed: int) -> Draws:
        """Draw one chain."""
        options, stream = replace(self.options, chains=1), f"chain {unit.block}"
        if unit.attempt > 1:
            stream += f", attempt {unit.attempt}"
        own_seed = subject_seed(seed, stream)
        draws = sample(joint_form(self.cohort), options, own_seed, unit.attempt)
        return_free_memory()  # the sampler's own copy of the chain
        return draws

    def faults(self, blocks: Sequence[Draws], attempt: int) -> list[str]:
        """Return faults if chains do not agree on all values, or often diverge."""
        measures = []
        for name, first in blocks[0].posterior.items():
            chains = [chain.posterior[name].reshape(first.shape[1], -1) for chain in blocks]
            for start in range(0, chains[0].shape[1], _TOGETHER):
                values = np.stack([chain[:, start : start + _TOGETHER] for chain in chains])
                measures.append(rhat_ess(np.moveaxis(values, 2, 0)))
        rhat, ess = worst(RhatEss(*map(np.concatenate, zip(*measures, strict=True))))
        diverging = np.concatenate([chain.statistics["diverging"] for chain in blocks])
        count, length = int(diverging.sum()), diverging.shape[1]
        reasons = faults(Convergence(count, float(rhat), float(ess), "", length), len(blocks))
        return reasons if status(reasons) in UNTRUSTED else []


def attempt_seed(seed: int, subject: str, attempt: int) -> int:
    """Return a seed that depends on the seed, the subject's name and the attempt only.

    Examples
    --------
    >>> attempt_seed(1, "Ann", 1) == subject_seed(1, "Ann") != attempt_seed(1, "Ann", 2)
    True
    """
    first = subject_seed(seed, subject)
    return first if attempt == 1 else subject_seed(first, f"attempt {attempt}")
