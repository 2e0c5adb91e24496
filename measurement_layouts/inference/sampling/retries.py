"""Repetition of a subject's sampling, with other options, until it has converged."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from ...layouts.elements import elements
from ..model.bands import find_bands
from .convergence import convergence, faults
from .draws import MODES_SEARCHED, Draws, Sampled, SamplingOptions, with_more_care
from .engine import Battery
from .grid import Unresolved, integrate
from .nuts import alone, sample
from .scan import scan
from .stopping import awaited_at_exit


@awaited_at_exit()
def sample_subject(
    battery: Battery,
    subject: str,
    data: SubjectData,
    options: SamplingOptions,
    seed: int,
    cores: int,
    reruns: int,
    method: Literal["nuts", "grid"] = "nuts",
) -> Sampled:
    """Sample one subject, and repeat it with longer chains and smaller steps if it has faults.

    Parameters
    ----------
    battery : Battery
        Layout and items; compiled at most once in a process.
    subject : str
        Name of the subject.
    data : SubjectData
        Outcomes and constants of the subject.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    seed : int
        Seed of the fit; see `attempt_seed` for those of attempts.
    cores : int
        Number of chains at a time.
    reruns : int
        Largest number of repetitions with NUTS; a grid is not repeated.
    method : {"nuts", "grid"}
        Method that produces draws; NUTS if the grid cannot resolve the subject's posterior.

    Returns
    -------
    Sampled
        The first attempt without faults, or else the last one with draws and its faults.
    """
    names = [element.name for element in elements(battery.layout)]
    banded = bool(find_bands(battery.layout))

    def wrong(draws: Draws, number: int) -> list[str]:
        used = with_more_care(options, number)
        tune = 0 if np.isnan(draws.statistics.get("energy", np.nan)).all() else used.tune
        measured = convergence(draws, names, tune=tune, target_accept=used.target_accept)
        return faults(measured, options.chains)

    def noted(draws: Draws, complete: bool) -> Draws:
        if banded:
            shape = draws.statistics["diverging"].shape
            draws.statistics[MODES_SEARCHED] = np.full(shape, complete)
        return draws

    if method == "grid":
        try:
            draws = integrate(battery, data, options, attempt_seed(seed, subject, 1))
            return first_clean(lambda _: noted(draws, True), subject, wrong, 1)
        except Unresolved:
            pass
        except Exception as error:
            return Sampled(subject, None, reason=in_one_line(error))

    def attempt(number: int) -> Draws:
        careful = with_more_care(options, number)
        own_seed = attempt_seed(seed, subject, number)
        maxima = scan(battery, data) if banded else None
        starts = maxima.starts[: options.chains] if maxima else []
        draws = sample(alone(battery, data), careful, own_seed, cores, starts)
        entered = maxima is None or maxima.entered(draws)
        return thinned(noted(draws, entered), careful.draws // options.draws)

    return first_clean(attempt, subject, wrong, 1 + reruns)


def first_clean(
    attempt: Callable[[int], Draws],
    subject: str,
    wrong: Callable[[Draws, int], list[str]],
    attempts: int,
) -> Sampled:
    """Repeat attempts until one has no faults.

    Parameters
    ----------
    attempt : callable
        Function that returns draws, given the number of the attempt, from 1.
    subject : str
        Name of the subject.
    wrong : callable
        Function that returns the faults of draws, given these and the number of the attempt.
    attempts : int
        Largest number of attempts.

    Returns
    -------
    Sampled
        The first attempt without faults; or else the last one with draws and its faults; or else
        the last error. Errors of an attempt are not raised, so that other subjects are sampled.
    """
    kept, reason = None, ""
    for number in range(1, attempts + 1):
        try:
            draws = attempt(number)
            found = wrong(draws, number)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of nutpie is not an Exception
            reason = reason if kept else in_one_line(error)
            continue
        kept, reason = draws, "; ".join(found)
        if not found:
            break
    return Sampled(subject, kept, number, reason)


def in_one_line(error: BaseException) -> str:
    """Format an error as one line, without nutpie's stack trace."""
    text = " ".join(str(error).partition("Stack backtrace:")[0].split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def thinned(draws: Draws, every: int) -> Draws:
    """Keep the last one of each group of consecutive draws.

    Parameters
    ----------
    draws : Draws
        Draws, whose number in each chain is a multiple of `every`.
    every : int
        Number of draws in a group.

    Returns
    -------
    Draws
        The kept draws; one counts as diverging if any draw of its group diverged.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = Draws({"noise": np.array([[0.1, 0.2, 0.3, 0.4]])},
    ...               {"diverging": np.array([[True, False, False, False]])})
    >>> kept = thinned(drawn, 2)
    >>> kept.posterior["noise"].tolist(), kept.statistics["diverging"].tolist()
    ([[0.2, 0.4]], [[True, False]])
    """
    if every == 1:
        return draws
    last = slice(every - 1, None, every)
    statistics = {name: values[:, last] for name, values in draws.statistics.items()}
    diverging = draws.statistics["diverging"]
    statistics["diverging"] = diverging.reshape(len(diverging), -1, every).any(axis=-1)
    return Draws({name: values[:, last] for name, values in draws.posterior.items()}, statistics)


def attempt_seed(seed: int, subject: str, attempt: int) -> int:
    """Return a seed that depends on the seed, the subject's name and the attempt only.

    Examples
    --------
    >>> attempt_seed(1, "Ann", 1) == subject_seed(1, "Ann") != attempt_seed(1, "Ann", 2)
    True
    """
    first = subject_seed(seed, subject)
    return first if attempt == 1 else subject_seed(first, f"attempt {attempt}")
