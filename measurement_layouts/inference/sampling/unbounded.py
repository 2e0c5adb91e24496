"""Transformation of profiles to and from PyMC's unbounded scale, on which samplers move."""

import ctypes
import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph

from ...layouts import Layout
from ..model.prior import free_values, outward, profile_variables
from .grid import finite
from .stopping import stop_if_told

_POINTERS = [ctypes.c_void_p] * 4  # position, gradient, value and data
_DENSITY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, *_POINTERS)

_transforming = threading.Lock()


class LogDensity:
    """Compiled log-density of one subject's profile on PyMC's unbounded scale.

    Parameters
    ----------
    model : CompiledPyMCModel
        Nutpie's compiled model, from `Kernel.on`.
    """

    def __init__(self, model: Any) -> None:
        self.size = int(model.n_dim)
        self._call = _DENSITY(model.compiled_logp_func.address)
        self._model = model  # keeps the function and its data in memory

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
        data, row = self._model.user_data.ctypes.data, points.strides[0]
        places, slopes, levels = (each.ctypes.data for each in (points, gradients, values))
        failed = [
            self._call(self.size, places + k * row, slopes + k * row, levels + k * 8, data)
            for k in range(len(points))
        ]
        good = np.isfinite(values) & np.isfinite(gradients).all(axis=1) & ~np.array(failed, bool)
        values[~good], gradients[~good] = float(finite(np.array(np.nan))), 0.0
        return values, gradients


def points(
    layout: Layout, deviations: frozenset[str], profile: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Transform profiles to PyMC's unbounded scale; shape (profiles, elements).

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `prior.noncentred`.
    profile : dict of str to ndarray
        Values by latent, shape (profiles,) or (profiles, labels).
    """
    with _transforming:  # threads share the storage of PyTensor's functions
        found = _transform(layout, deviations)(*free_values(layout, profile))
    return np.concatenate([part.reshape(len(part), -1) for part in found], axis=1)


@functools.lru_cache(maxsize=32)
def _transform(layout: Layout, deviations: frozenset[str]) -> Callable[..., list[np.ndarray]]:
    """Compile the transformation of many profiles to PyMC's unbounded scale."""
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
        profile_variables(layout, deviations)
    one = model.free_RVs
    many = [pt.tensor(dtype=own.dtype, shape=(None, *own.type.shape)) for own in one]
    outputs = vectorize_graph(outward(model), dict(zip(one, many, strict=True)))
    function: Callable[..., list[np.ndarray]] = pytensor.function(
        many, outputs, mode="FAST_COMPILE", on_unused_input="ignore"
    )
    return function
