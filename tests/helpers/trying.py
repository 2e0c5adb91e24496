"""Trying many random inputs: what each may raise, how long it may take, what must hold of it."""

import random
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

SECONDS = 20.0  # for one input; the slowest takes a hundredth on an idle machine
_SHOWN = 12


class TookTooLong(BaseException):
    """An input that does not come to an end; no `except Exception` swallows it."""


@dataclass
class Tried:
    """What came of the inputs."""

    accepted: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def hold(self, *, accepted: float, refused: float) -> None:
        """Fail with all that went wrong, and when too few inputs were of either kind."""
        assert not self.wrong, f"{len(self.wrong)} went wrong:\n" + "\n".join(self.wrong[:_SHOWN])
        tried = self.accepted + self.refused
        assert self.accepted >= accepted * tried, f"only {self.accepted} of {tried} accepted"
        assert self.refused >= refused * tried, f"only {self.refused} of {tried} refused"


def try_many(
    attempt: Callable[[random.Random], None],
    count: int,
    refusals: type[Exception] | tuple[type[Exception], ...],
    *,
    seconds: float = SECONDS,
) -> Tried:
    """Give `attempt` so many random streams; it makes an input, hands it in and checks the answer.

    Whatever is raised beside the refusals is kept with the number of the stream, which is enough to
    see it again: ``attempt(stream(attempt, number))``.
    """
    tried = Tried()
    for number in range(count):
        try:
            with _at_most(seconds):
                attempt(stream(attempt, number))
        except refusals as error:
            tried.refused += 1
            if not str(error).strip():
                tried.wrong.append(f"{attempt.__name__} {number}: refused without a word")
        except (Exception, TookTooLong) as error:
            if "names that differ in blanks or Unicode composition" in str(error):
                tried.refused += 1  # a warning that a name was changed
                continue
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            tried.wrong.append(
                f"{attempt.__name__} {number}: {type(error).__name__} at {place}: {error}"[:600]
            )
        else:
            tried.accepted += 1
    return tried


def stream(attempt: Callable[[random.Random], None], number: int) -> random.Random:
    """Give the random stream of one input, by its number."""
    return random.Random(f"{attempt.__name__} {number}")


def counts(**how_many: tuple[int, int]) -> list[object]:
    """Parametrise a test by attempt and count: a few in the fast suite, many under `slow`.

    The option ``--inputs 2``, which `scripts/nightly.sh` gives, tries twice as many.
    """
    fast = [pytest.param(name, few, id=name) for name, (few, _) in how_many.items()]
    slow = [
        pytest.param(name, many, id=f"{name}-many", marks=pytest.mark.slow)
        for name, (_, many) in how_many.items()
    ]
    return fast + slow


def need(true: bool, what: str) -> None:
    """Say that an accepted input gave a wrong answer."""
    if not true:
        raise AssertionError(what)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TookTooLong(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
