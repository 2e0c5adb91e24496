"""The loop over the problems of a fit: subjects alone, or all jointly, in parallel jobs.

Any executor of `concurrent.futures` runs the jobs. This module adds that few jobs are submitted at
a time, that threads are stopped when their results are no longer needed, and that attempts with
faults are repeated. What is compiled for a problem is kept by the process that samples.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..common.cache import Recent
from ..common.errors import FitError
from ..common.memory import return_free_memory
from ..common.messages import some
from ..common.seeds import subject_seed
from ..evaluations.subject_data import SubjectData
from ..layouts.elements import elements
from .files.store import Store
from .model.bands import find_bands
from .model.cohort import Cohort
from .sampling.convergence import (
    UNTRUSTED,
    Convergence,
    RhatEss,
    convergence,
    faults,
    rhat_ess,
    status,
    worst,
)
from .sampling.draws import MODES_SEARCHED, Draws, SamplingOptions, Unit, with_more_care
from .sampling.engine import Battery, compile_sampler
from .sampling.grid import MOST, Unresolved, integrate
from .sampling.joint_nuts import joint_form
from .sampling.numpyro_nuts import refuse_no_numpyro, sample_numpyro
from .sampling.nuts import alone, sample
from .sampling.scan import scan
from .sampling.stopping import DaemonThreads, stopped_by
from .sampling.unbounded import LogDensity

_TOGETHER = 256  # values whose chains are judged together, so that they are not all copied
_FAR = 0.25  # sds by which means of chains differ from exact ones that they have not reached


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
        draws = sample(form, self.options, stream, unit.attempt, self.cores, maxima)
        if maxima and self.method == "nuts" and len(elements(self.battery.layout)) <= MOST:
            with suppress(Unresolved, FitError):
                exact = integrate(self.battery, data, self.options, stream).posterior
                draws.statistics[MODES_SEARCHED] &= _agree(draws.posterior, exact)
        return draws

    def faults(self, blocks: Sequence[Draws], attempt: int) -> list[str]:
        """Return the faults of a subject's draws; a grid is not repeated."""
        (draws,) = blocks
        if np.isnan(draws.statistics.get("energy", np.nan)).all():
            return []
        used = with_more_care(self.options, attempt)
        names = [element.name for element in elements(self.battery.layout)]
        measured = convergence(draws, names, tune=used.tune, target_accept=used.target_accept)
        return faults(measured, self.options.chains)


def _agree(draws: Mapping[str, np.ndarray], exact: Mapping[str, np.ndarray]) -> bool:
    """Whether means and sds of draws are those of exact ones, within a quarter of an sd."""
    for name, values in exact.items():
        sd, drawn = values.std(axis=(0, 1)), draws[name]
        apart = [drawn.mean(axis=(0, 1)) - values.mean(axis=(0, 1)), drawn.std(axis=(0, 1)) - sd]
        if np.any(np.abs(apart) > _FAR * sd):
            return False
    return True


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


@dataclass(frozen=True, eq=False)
class Vectorised(Jointly):
    """A cohort whose chains NumPyro draws at once; the first block that is asked for draws all."""

    chains: Recent[object, Draws] = field(default_factory=lambda: Recent(1))

    def prepare(self) -> None:
        """Check that NumPyro is installed; JAX compiles when it samples."""
        refuse_no_numpyro()

    def sample(self, name: str, data: None, unit: Unit, seed: int) -> Draws:
        """Draw all chains, and return one."""
        stream = attempt_seed(seed, "numpyro", unit.attempt)
        draws = self.chains.find(
            unit.attempt,
            lambda: sample_numpyro(self.cohort, self.options, stream, unit.attempt),
        )
        chain = slice(unit.block, unit.block + 1)
        return Draws(
            *({key: array[chain] for key, array in group.items()} for group in vars(draws).values())
        )


@dataclass(frozen=True, eq=False)
class Problems:
    """The posteriors of a fit.

    Attributes
    ----------
    model : Alone or Jointly
        What they have in common: it draws a block of chains of a problem, and finds faults of the
        draws of all blocks.
    names : list of str
        Names of the problems.
    data : callable
        Function that returns the data of a problem, given its name.
    blocks : int
        Number of blocks of chains of each problem.
    """

    model: Alone | Jointly
    names: list[str]
    data: Callable[[str], Any]
    blocks: int = 1

    def name(self, unit: Unit) -> str:
        """Name a unit in messages."""
        return self.names[unit.problem] if self.blocks == 1 else f"chain {unit.block + 1}"


def solve(
    problems: Problems, store: Store, executor: Executor, most: int
) -> Generator[bool, None, None]:
    """Sample all problems that are not finished in a store, and add their draws to it.

    An attempt that failed or has faults is repeated with more care, as often as the store's
    ``reruns``. The first attempt without faults remains, or else the last one with draws. An error
    of one problem does not stop others.

    Parameters
    ----------
    problems : Problems
        The problems.
    store : Store
        Store of their draws.
    executor : Executor
        Executor of the jobs.
    most : int
        Largest number of jobs that are submitted at a time.

    Yields
    ------
    bool
        For each block of chains of each problem, whether it is the last one of a problem that did
        not converge.

    Raises
    ------
    FitError
        When the executor fails, as when a worker dies. What is finished is in the store.
    """
    waiting = deque(
        unit for problem in range(len(problems.names)) for unit in store.next_units(problem)
    )
    with closing(run_jobs(problems, store.seed, executor, most, waiting)) as jobs:
        for unit, result in jobs:
            draws, reason = (None, result) if isinstance(result, str) else (result, "")
            others = [other for other in store.block_units(unit) if other != unit]
            over = all(other in store.records for other in others)
            if draws is not None and over and all(store.records[other].drawn for other in others):
                blocks = {other: store.draws(other) for other in others} | {unit: draws}
                ordered = [blocks[one] for one in sorted(blocks)]
                try:
                    reason = "; ".join(problems.model.faults(ordered, unit.attempt))
                except Exception as error:
                    draws, reason = None, in_one_line(error)
            if draws is None and problems.blocks > 1:
                reason = f"{problems.name(unit)}: {reason}"
            store.add(unit, draws, reason)
            again = store.next_units(unit.problem) if over else []
            waiting.extendleft(reversed(again))
            if not again and (over or unit.attempt == 1):
                yield over and bool(reason) and status(reason.split("; ")) == "not converged"


def run_jobs(
    problems: Problems, seed: int, executor: Executor, most: int, waiting: deque[Unit]
) -> Generator[tuple[Unit, Draws | str], None, None]:
    """Run a job for each waiting unit, and yield results in the order in which they finish.

    A result is the draws of a unit, or the reason why there are none. Parameters are those of
    `solve`; units are taken from `waiting`, to which others may be added meanwhile.
    """
    stop = threading.Event()
    inside = isinstance(executor, DaemonThreads | ThreadPoolExecutor)
    running: dict[Future[Any], Unit] = {}

    def fill() -> None:
        while waiting and len(running) < most:
            unit = waiting.popleft()
            name = problems.names[unit.problem]
            job = problems.model, name, problems.data(name), unit, seed
            with _named(problems, [unit, *running.values()]):
                future = executor.submit(run, *job, stop if inside else None)
                running[future] = unit

    try:
        fill()
        while running:
            # in steps, between which Windows handles Ctrl-C
            done, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            while done:
                future = done.pop()
                with _named(problems, [running[future], *running.values()]):
                    result = future.result()
                unit = running.pop(future)
                try:
                    fill()
                finally:  # a result is not lost at Ctrl-C
                    yield unit, result
                del result, future
                fill()
    finally:  # also at Ctrl-C, and at the end of the caller's loop
        stop.set()
        for future in running:
            future.cancel()
        if inside:
            wait(running)


@contextmanager
def _named(problems: Problems, units: Sequence[Unit]) -> Iterator[None]:
    """Raise errors of an executor as errors that name the units that run at this time."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        names = list(dict.fromkeys(map(problems.name, units)))
        raise FitError(
            f"the executor failed while {some(names)} {'were' if names[1:] else 'was'} sampled "
            f"({in_one_line(error)}); run the same call again, with a new executor if its workers "
            "have died: what is in store= is not sampled again"
        ) from error


def run(
    model: Alone | Jointly,
    name: str,
    data: Any,
    unit: Unit,
    seed: int,
    stop: threading.Event | None,
) -> Draws | str:
    """Sample a unit of a problem until an event is set, and return draws or the reason for none.

    Without an event, which other processes do not see, it is sampled beside the main thread, in
    which Ctrl-C is raised.
    """
    if stop is None:
        stop = threading.Event()
        try:
            return DaemonThreads().submit(run, model, name, data, unit, seed, stop).result()
        finally:
            stop.set()
    try:
        with stopped_by(stop):
            return model.sample(name, data, unit, seed)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of nutpie is not an Exception
        return in_one_line(error)


def attempt_seed(seed: int, subject: str, attempt: int) -> int:
    """Return a seed that depends on the seed, the subject's name and the attempt only.

    Examples
    --------
    >>> attempt_seed(1, "Ann", 1) == subject_seed(1, "Ann") != attempt_seed(1, "Ann", 2)
    True
    """
    first = subject_seed(seed, subject)
    return first if attempt == 1 else subject_seed(first, f"attempt {attempt}")


def in_one_line(error: BaseException) -> str:
    """Format an error as one line, without nutpie's stack trace."""
    text = " ".join(str(error).partition("Stack backtrace:")[0].split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
