"""The scale of unbounded numbers on which PyMC samples: log-densities and profiles."""

import ctypes
from typing import Any

import numpy as np

from .stopping import stop_if_told

UNDEFINED = -1e10  # nats: stands for a log-density that is not finite

_LENGTH, _ADDRESS = ctypes.c_size_t, ctypes.c_void_p
_DENSITY = ctypes.CFUNCTYPE(ctypes.c_int, _LENGTH, *[_ADDRESS] * 4)
_PROFILE = ctypes.CFUNCTYPE(ctypes.c_int, _LENGTH, _LENGTH, *[_ADDRESS] * 3)


class LogDensity:
    """Compiled log-density of one cohort, as a function of the sampler's point.

    Parameters
    ----------
    model : CompiledPyMCModel
        Nutpie's compiled model, from `Kernel.on`.
    """

    def __init__(self, model: Any) -> None:
        self.size = int(model.n_dim)
        self._density = _DENSITY(model.compiled_logp_func.address)
        self._profile = _PROFILE(model.compiled_expand_func.address)
        self._model = model  # keeps the functions and their data in memory

    def with_gradient(self, at: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute value and gradient; where undefined, a very low value and a zero gradient."""
        values, gradients = self.at_all(np.asarray(at)[None])
        return float(values[0]), gradients[0]

    def __call__(self, at: np.ndarray) -> float:
        """Compute the value."""
        return self.with_gradient(at)[0]

    def at_all(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute values, (points,), and gradients, (points, elements); see `with_gradient`."""
        stop_if_told()
        points = np.ascontiguousarray(points, dtype=float)
        gradients, values = np.zeros(points.shape), np.zeros(len(points))
        inputs, row = self._model.user_data.ctypes.data, points.strides[0]
        point, gradient, value = (array.ctypes.data for array in (points, gradients, values))
        failed = [
            self._density(self.size, point + k * row, gradient + k * row, value + k * 8, inputs)
            for k in range(len(points))
        ]
        good = np.isfinite(values) & np.isfinite(gradients).all(axis=1) & ~np.array(failed, bool)
        values[~good], gradients[~good] = UNDEFINED, 0.0
        return values, gradients

    def profiles(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Compute profiles: values by latent, shape (points, levels..., labels...)."""
        points = np.ascontiguousarray(points, dtype=float)
        length, inputs = self._model.n_expanded, self._model.user_data.ctypes.data
        rows = np.zeros((len(points), length))
        point, row = points.ctypes.data, rows.ctypes.data
        for k in range(len(points)):
            self._profile(
                self.size, length, point + k * 8 * self.size, row + k * 8 * length, inputs
            )
        names, slices, shapes = self._model.shape_info
        return {
            name: rows[:, columns].reshape(len(rows), *shape)
            for name, columns, shape in zip(names, slices, shapes, strict=True)
        }
