"""Linking functions of one's own, tried at random points before a layout takes them."""

from collections.abc import Iterable

import numpy as np

from ...linking import Expr, LayoutError, evaluate
from ...linking.expression import Dims, merge_dims
from ...linking.function import Call
from ...linking.interval import Interval
from ...linking.real import holds_numbers
from ..reading import OURS
from .undefined import random_values

_POINTS = 50


def check_own_functions(parts: Iterable[Expr]) -> None:
    """Refuse a function that gives no numbers, another shape, or values out of its range."""
    found = list(parts)
    calls = [part for part in found if isinstance(part, Call)]
    calls = [call for call in calls if OURS.get(call.function.name) is not call.function]
    if not calls:
        return
    dims = merge_dims(tuple(found))
    known = random_values(found, dims, _POINTS)
    for call in calls:
        with np.errstate(all="ignore"):
            _check(call, evaluate(call, known, tuple(dims)), dims)


def _check(call: Call, value: object, dims: Dims) -> None:
    """Refuse a value that is no array of numbers, of another shape or out of range."""
    function = call.function
    if not holds_numbers(value):
        raise LayoutError(
            f"{call}: the formula of {function.name} gives {value!r} ({type(value).__name__}), and "
            "must give an array of numbers; write it with the operations of linking.arrays"
        )
    values = np.asarray(value, dtype=float)
    shape = (_POINTS, *(len(names) if dim in call.dims else 1 for dim, names in dims.items()))
    try:
        fits = np.broadcast_shapes(values.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise LayoutError(
            f"{call}: the formula of {function.name} gives an array of shape {values.shape} where "
            f"its operands have {shape}; compute element by element, and keep an axis that is "
            "reduced with length one"
        )
    span = call.range
    low, high = span.low - _slack(span), span.high + _slack(span)
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise LayoutError(
            f"{call}: {function.name} declares the range {span} and gives {outside[0]:g} at values "
            "that its operands can take; correct the formula, or its range="
        )


def _slack(span: Interval) -> float:
    """Allow for rounding at the ends of a range."""
    ends = [abs(end) for end in (span.low, span.high) if np.isfinite(end)]
    return 1e-9 * max([1.0, *ends])
