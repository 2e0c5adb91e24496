"""The log-density with its gradient that a fit samples, at unconstrained points."""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_size_t] * 4)


@dataclass(frozen=True, eq=False)
class LogDensity:
    """A log-density of one subject as a C function; points have `size` elements."""

    address: int
    data: int
    size: int
    owner: object = field(repr=False)  # must stay alive as long as the two addresses are used

    def __call__(self, point):
        """Value and gradient; values count up to a constant."""
        point = np.ascontiguousarray(point, dtype=float)
        gradient, value = np.zeros(self.size), np.zeros(1)
        status = C_FUNCTION(self.address)(
            self.size, point.ctypes.data, gradient.ctypes.data, value.ctypes.data, self.data
        )
        assert not status
        return float(value[0]), gradient


def ours(layout, evaluation, subject):
    """Compile as `ml.fit` does."""
    sampler = compile_sampler(Battery.of(layout, evaluation))
    compiled = sampler.on(SubjectData.of(evaluation, subject))
    address = compiled.compiled_logp_func.address
    return LogDensity(address, compiled.user_data.ctypes.data, compiled.n_dim, owner=compiled)


def points(size, count=8):
    """Unconstrained points about the middle of the prior, shape (count, size)."""
    return np.random.default_rng(5).normal(size=(count, size))
