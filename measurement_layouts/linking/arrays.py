"""Array operations under one name for NumPy and PyTensor.

A linking function is written once with these operations. An operation uses PyTensor when one of its
arguments is a PyTensor variable, and NumPy otherwise. PyTensor is never imported here: the code
that made the variable has already imported it.
"""

import sys
from typing import Any

import numpy as np

type Array = Any
"""A number, a NumPy array or a PyTensor variable."""


def _pytensor(*values: Array) -> Any:
    """PyTensor's tensor module when a value belongs to it, else None."""
    graph = sys.modules.get("pytensor.graph.basic")
    if graph is None or not any(isinstance(value, graph.Variable) for value in values):
        return None
    return sys.modules["pytensor.tensor"]


def _module(*values: Array) -> Any:
    """PyTensor's tensor module when a value belongs to it, else NumPy."""
    return _pytensor(*values) or np


def as_float(x: Array) -> Array:
    """Turn integers and truth values of an array or variable into floats."""
    is_whole = str(getattr(x, "dtype", "")).startswith(("bool", "int", "uint"))
    return x.astype("float64") if is_whole else x


def exp(x: Array) -> Array:
    """Elementwise e**x."""
    return _module(x).exp(x)


def expm1(x: Array) -> Array:
    """Elementwise e**x - 1, accurate near 0."""
    return _module(x).expm1(x)


def log(x: Array) -> Array:
    """Elementwise natural logarithm."""
    return _module(x).log(x)


def log1p(x: Array) -> Array:
    """Elementwise log(1 + x), accurate near 0."""
    return _module(x).log1p(x)


def sigmoid(x: Array) -> Array:
    """Elementwise 1 / (1 + exp(-x)), without overflow."""
    tensor = _pytensor(x)
    if tensor is not None:
        return tensor.sigmoid(x)
    if getattr(x, "dtype", None) == np.float32:  # NumPy's exponential is six times as quick there
        with np.errstate(over="ignore"):
            return np.float32(1) / (np.float32(1) + np.exp(-x))
    from scipy.special import expit  # here, since declaring and drawing a layout never needs it

    return expit(x)


def softplus(x: Array) -> Array:
    """Elementwise log(1 + exp(x)), without overflow."""
    tensor = _pytensor(x)
    return np.logaddexp(0.0, x) if tensor is None else tensor.softplus(x)


def where(condition: Array, yes: Array, no: Array) -> Array:
    """Elementwise choice of `yes` where the condition is true, else `no`."""
    tensor = _pytensor(condition, yes, no)
    return np.where(condition, yes, no) if tensor is None else tensor.switch(condition, yes, no)


def isinf(x: Array) -> Array:
    """Elementwise test for either infinity."""
    return _module(x).isinf(x)


def equal(x: Array, y: Array) -> Array:
    """Elementwise test for equality."""
    tensor = _pytensor(x, y)
    return np.equal(x, y) if tensor is None else tensor.eq(x, y)


def absolute(x: Array) -> Array:
    """Elementwise absolute value."""
    return _module(x).abs(x)


def maximum(x: Array, y: Array) -> Array:
    """Elementwise larger of two."""
    return _module(x, y).maximum(x, y)


def minimum(x: Array, y: Array) -> Array:
    """Elementwise smaller of two."""
    return _module(x, y).minimum(x, y)


def sum(x: Array, axis: int, keepdims: bool = False) -> Array:
    """Sum along one axis."""
    return _module(x).sum(x, axis=axis, keepdims=keepdims)


def prod(x: Array, axis: int, keepdims: bool = False) -> Array:
    """Product along one axis; gradients are finite also where a factor is exactly 0."""
    return _module(x).prod(x, axis=axis, keepdims=keepdims)


def max(x: Array, axis: int, keepdims: bool = False) -> Array:
    """Largest element along one axis."""
    return _module(x).max(x, axis=axis, keepdims=keepdims)


def min(x: Array, axis: int, keepdims: bool = False) -> Array:
    """Smallest element along one axis."""
    return _module(x).min(x, axis=axis, keepdims=keepdims)


def stack(values: tuple[Array, ...]) -> Array:
    """Broadcast the values to one shape and stack them along a new first axis."""
    tensor = _pytensor(*values)
    if tensor is None:
        return np.stack(np.broadcast_arrays(*values))
    return tensor.stack(tensor.broadcast_arrays(*values), axis=0)
