"""The loop over the problems of a fit: parallel jobs, and the repetition of attempts with faults.

Any executor of `concurrent.futures` runs the jobs. This module adds that few jobs are submitted at
a time, that threads are stopped when their results are no longer needed, and that what all problems
have in common is not sent with each job.
"""

import secrets
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from ..common.errors import FitError
from ..common.messages import some
from .files.store import Store
from .sampling.convergence import status
from .sampling.draws import Draws, Unit
from .sampling.problems import Model, Problems
from .sampling.stopping import DaemonThreads, stopped_by

_models: dict[str, Any] = {}  # the model that this process got last, by its key


def solve[D](
    problems: Problems[D], store: Store, executor: Executor, most: int
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


def run_jobs[D](
    problems: Problems[D], seed: int, executor: Executor, most: int, waiting: deque[Unit]
) -> Generator[tuple[Unit, Draws | str], None, None]:
    """Run a job for each waiting unit, and yield results in the order in which they finish.

    Parameters
    ----------
    problems : Problems
        The problems.
    seed : int
        Seed of the fit.
    executor : Executor
        Executor of the jobs.
    most : int
        Largest number of jobs that are submitted at a time.
    waiting : deque of Unit
        Units to sample, which are taken from it; others may be added meanwhile.

    Yields
    ------
    (Unit, Draws or str)
        A unit with its draws, or the reason why there are none.

    Raises
    ------
    FitError
        When the executor fails.
    """
    key, stop = secrets.token_hex(8), threading.Event()
    inside = isinstance(executor, DaemonThreads | ThreadPoolExecutor)
    running: dict[Future[Any], Unit] = {}

    def submit(unit: Unit, model: Model[D] | None = None) -> None:
        job: Callable[[], Draws | str | None]
        name = problems.names[unit.problem]
        data = problems.data(name)
        if inside:
            job = partial(sample, problems.model, name, data, unit, seed, stop)
        else:
            job = partial(sample_elsewhere, key, model, name, data, unit, seed)
        with _named(problems, [unit, *running.values()]):
            running[executor.submit(job)] = unit

    def fill() -> None:
        while waiting and len(running) < most:
            submit(waiting.popleft())

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
                if result is None:
                    submit(unit, problems.model)
                    continue
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
def _named(problems: Problems[Any], units: Sequence[Unit]) -> Iterator[None]:
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


def sample[D](
    model: Model[D], name: str, data: D, unit: Unit, seed: int, stop: threading.Event
) -> Draws | str:
    """Sample a unit of a problem in a thread, until an event is set.

    Returns
    -------
    Draws or str
        Draws, or the reason why there are none.
    """
    try:
        with stopped_by(stop):
            return model.sample(name, data, unit, seed)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of nutpie is not an Exception
        return in_one_line(error)


def sample_elsewhere[D](
    key: str, model: Model[D] | None, name: str, data: D, unit: Unit, seed: int
) -> Draws | str | None:
    """Sample a unit in another process, beside its main thread, in which Ctrl-C is raised.

    Returns
    -------
    Draws, str or None
        As `sample`; None if the model is not given, and this process has none with this key.
    """
    if model is not None:
        _models.clear()
        _models[key] = model
    elif key not in _models:
        return None
    stop = threading.Event()
    try:
        return DaemonThreads().submit(sample, _models[key], name, data, unit, seed, stop).result()
    finally:
        stop.set()


def in_one_line(error: BaseException) -> str:
    """Format an error as one line, without nutpie's stack trace."""
    text = " ".join(str(error).partition("Stack backtrace:")[0].split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
