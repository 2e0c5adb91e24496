"""Jobs side by side, one per name, whoever works and whoever dies.

Each job is a future of its own: no more are under way than are worked on, finished ones are handed
out one by one, and a job whose worker died is told apart from the others.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from .crew import Crew


@dataclass(frozen=True)
class WorkerDied:
    """The worker of a job died, also when it worked on nothing else.

    Attributes
    ----------
    reason : str
        How, in one line.
    """

    reason: str


def work_off[T](
    crew: Crew,
    function: Callable[..., T],
    names: Iterable[str],
    arguments: Callable[[str], tuple[object, ...]],
) -> Generator[tuple[str, T | WorkerDied], None, None]:
    """Do one job per name, side by side, and hand out each once, as it finishes.

    A job whose worker died is tried again after all others, for another job may have killed the
    worker; if it dies again, once more with nothing beside it.

    Parameters
    ----------
    crew : Crew
        Who works.
    function : callable
        The job. What it raises ends all jobs.
    names : iterable of str
        A job each.
    arguments : callable
        From a name to the function's arguments; called when the job is handed over.

    Yields
    ------
    (str, object)
        A name and what the function returned, or why there is nothing.

    Examples
    --------
    >>> from measurement_layouts.inference.crew import Threads
    >>> sorted(work_off(Threads(2), len, ["a", "b"], lambda name: (name * 3,)))
    [('a', 3), ('b', 3)]
    """
    died: dict[str, WorkerDied] = {}
    waiting = list(names)
    for together in (True, True, False):
        died = {}
        for name, outcome in _side_by_side(crew, function, waiting, arguments, together):
            if isinstance(outcome, WorkerDied):
                died[name] = outcome
            else:
                yield name, outcome
        waiting = list(died)
    yield from died.items()


def _side_by_side[T](
    crew: Crew,
    function: Callable[..., T],
    names: Iterable[str],
    arguments: Callable[[str], tuple[object, ...]],
    together: bool,
) -> Generator[tuple[str, T | WorkerDied], None, None]:
    waiting, running = deque(names), dict[str, Any]()
    done: SimpleQueue[str] = SimpleQueue()

    def hand_over() -> None:
        while waiting and len(running) < (crew.room if together else 1):
            name = waiting.popleft()
            running[name] = crew.submit(function, *arguments(name))
            running[name].add_done_callback(lambda _, name=name: done.put(name))

    try:
        hand_over()
        while running:
            name = _next(done)
            future = running.pop(name)
            outcome: T | WorkerDied
            try:
                outcome = future.result()
            except crew.deaths as death:
                reason = " ".join(f"{type(death).__name__}: {death}".split())
                outcome = WorkerDied(f"worker died each time: {reason}")
            del future
            hand_over()
            yield name, outcome
    except BaseException:  # Ctrl-C, too, and nobody who takes the rest
        crew.abandon(list(running.values()))
        raise


def _next(done: SimpleQueue[str]) -> str:
    """Wait in slices: on Windows Ctrl-C is heard between them only."""
    while True:
        with suppress(Empty):
            return done.get(timeout=1)
