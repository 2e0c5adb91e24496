"""Total: a sum, in which one part can compensate for another."""

import functools
import operator
from typing import Any

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from ..interval import Interval


def _range(*parts: Interval, over: object) -> Interval:
    """Range of a call."""
    return functools.reduce(operator.add, parts)


@linking_function(range=_range, same_unit=("x",), keeps_unit=True)
def total(*x: Array, over: Any = None) -> Array:
    r"""Compensatory sum: one part can compensate for another.

    .. math:: \sum_j x_j

    Parameters
    ----------
    *x : expressions or arrays
        Values of one unit; any real values.
    over : str, optional
        Label dimension to sum over (for plain arrays: the axis, which is kept with length one).

    Returns
    -------
    expression or array
        Sum in the unit of the parts. The gradient is 1 with respect to every part.

    Raises
    ------
    LayoutError
        When `over` is given with more than one operand, or the parts differ in unit.

    References
    ----------
    Burden et al. (2023), section 3; Reckase (2009), Multidimensional Item Response Theory,
    chapter 4.

    Examples
    --------
    A level of ease minus a weighted sum of labelled demands:

    >>> import numpy as np
    >>> from measurement_layouts import Bias, MetaFeature, Slope
    >>> from measurement_layouts.linking import evaluate
    >>> demand = MetaFeature("demand", low=0, high=5, labels=("reading", "reasoning"))
    >>> weight = Slope("weight", labels=("reading", "reasoning"))
    >>> margin = Bias("ease") - total(weight * demand, over="dimension")
    >>> known = {"ease": 2, "weight": np.array([[0.5, 1]]), "demand": np.array([[1, 2], [3, 0]])}
    >>> evaluate(margin, known, dims=("dimension",)).ravel()
    array([-0.5,  0.5])
    """
    if over is not None:
        return arrays.sum(x[0], axis=over, keepdims=True)
    return functools.reduce(operator.add, x)
