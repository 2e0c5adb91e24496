"""A compiled log-density with its gradient: evaluated, and timed without Python in between.

Every contestant is one C function, of nutpie's signature::

    int64 f(uint64 size, double *point, double *gradient, double *value, void *data)

It fills `gradient` (of `size` numbers) and `value` for an unconstrained point and returns 0. The
elements of a point are those of `ml.to_pymc(...)` in the order of its free variables, each
transformed as PyMC does. Values count up to a constant, so that one may leave out what does not
depend on the point.
"""

import ctypes
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

import measurement_layouts as ml

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_size_t] * 4)


@dataclass(frozen=True, eq=False)
class LogDensity:
    """A log-density of one subject as a C function.

    Attributes
    ----------
    address, data : int
        Where the function is, and what it is given as `data`.
    size : int
        Elements of a point.
    owner : object
        Whatever must stay alive as long as the two addresses are used.
    """

    address: int
    data: int
    size: int
    owner: object = field(repr=False)

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate at an unconstrained point: the log-density and its gradient."""
        point = np.ascontiguousarray(point, dtype=float)
        if point.shape != (self.size,):
            raise ValueError(f"a point of shape {point.shape}; it takes shape ({self.size},)")
        gradient, value = np.zeros(self.size), np.zeros(1)
        status = C_FUNCTION(self.address)(
            self.size, point.ctypes.data, gradient.ctypes.data, value.ctypes.data, self.data
        )
        if status:
            raise ValueError(f"the log-density has status {status} at {point}")
        return float(value[0]), gradient

    def loop(self, points: np.ndarray) -> Callable[[int], int]:
        """Compile a loop that calls the function so often, over the points in turn.

        Parameters
        ----------
        points : ndarray, shape (points, size)
            Where to evaluate.

        Returns
        -------
        callable
            Takes a number of calls; returns 0 when every call did.
        """
        import numba

        function, size, data = C_FUNCTION(self.address), self.size, self.data

        @numba.njit
        def calls(count, points, gradient, value):
            status = 0
            for number in range(count):
                point = points[number % len(points)]
                status |= function(
                    size, point.ctypes.data, gradient.ctypes.data, value.ctypes.data, data
                )
            return status

        points = np.array(points, dtype=float, order="C")
        gradient, value = np.zeros(size), np.zeros(1)
        return lambda count: calls(count, points, gradient, value)


def ours(layout: ml.Layout, evaluation: ml.Evaluation, subject: str) -> LogDensity:
    """Compile as `ml.fit` does."""
    from measurement_layouts.evaluations.subject_data import SubjectData
    from measurement_layouts.inference.sampling.engine import Battery, compile_sampler

    sampler = compile_sampler(Battery.of(layout, evaluation))
    return of_nutpie(sampler.on(SubjectData.of(evaluation, subject)))


def plain(layout: ml.Layout, evaluation: ml.Evaluation, subject: str) -> LogDensity:
    """Compile the plain model by nutpie."""
    import nutpie

    return of_nutpie(nutpie.compile_pymc_model(ml.to_pymc(layout, evaluation, subject)))


def of_nutpie(compiled) -> LogDensity:
    """Take the log-density out of nutpie's compiled PyMC model."""
    return LogDensity(
        compiled.compiled_logp_func.address,
        compiled.user_data.ctypes.data,
        compiled.n_dim,
        owner=compiled,
    )


def points(size: int, count: int = 8, seed: int = 5) -> np.ndarray:
    """Unconstrained points about the middle of the prior, shape (count, size)."""
    return np.random.default_rng(seed).normal(size=(count, size))


def microseconds(
    contestants: Sequence[LogDensity], *, rounds: int = 9, seconds: float = 0.1
) -> np.ndarray:
    """Time one call of each, in a compiled loop; they take turns.

    Parameters
    ----------
    contestants : sequence of LogDensity
        Of the same size.
    rounds : int
        Turns of each.
    seconds : float
        How long a turn takes, at least.

    Returns
    -------
    ndarray, shape (rounds, contestants)
        Microseconds per call of value and gradient.
    """
    where = points(contestants[0].size)
    loops = [contestant.loop(where) for contestant in contestants]
    counts = []
    for loop in loops:
        if status := loop(len(where)):  # compiles, and warms up
            raise ValueError(f"the log-density has status {status} at one of the points")
        count = 1
        while (taken := _seconds(loop, count)) < seconds / 10:
            count *= 4
        counts.append(max(1, round(count * seconds / taken)))
    return np.array(
        [
            [1e6 * _seconds(loop, count) / count for loop, count in zip(loops, counts, strict=True)]
            for _ in range(rounds)
        ]
    )


def ratio(times: np.ndarray) -> float:
    """Second contestant's time over the first's: the median of the rounds' ratios."""
    return statistics.median(times[:, 1] / times[:, 0])


def _seconds(loop: Callable[[int], int], count: int) -> float:
    start = time.perf_counter()
    loop(count)
    return time.perf_counter() - start
