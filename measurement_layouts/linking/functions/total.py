"""Total: a sum, in which one part can compensate for another."""

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import arrays
from ..arrays import Array
from ..errors import check
from ..expression import Expr
from ..function import Call, LinkingFunction
from ..interval import Interval
from ..notation import bracketed, latex_text


@dataclass(frozen=True, eq=False, repr=False)
class _Sum(Call):
    """The sum of some expressions: its range grows with the number of labels."""

    @cached_property
    def range(self) -> Interval:
        if self.over is None:
            return super().range
        count = len(self.arguments[0].dims[self.over])
        return self.arguments[0].range * Interval(count, count)


class Total(LinkingFunction):
    """The sum, which counts the labels over which it is taken, for its range."""

    def build(
        self, names: Sequence[str], operands: Sequence[Expr], options: Mapping[str, Any]
    ) -> Call:
        call = super().build(names, operands, options)
        return _Sum(call.function, call.arguments, call.options, call.names)


def _range(*parts: Interval, over: str | None) -> Interval:
    """Range of a call."""
    return functools.reduce(operator.add, parts)


def _latex(*parts: str, over: str | None) -> str:
    """Write a call as LaTeX."""
    if over is not None:
        return rf"\sum_{{{latex_text(over)}}} {bracketed(parts[0])}"
    first, *rest = parts
    return " + ".join([first, *(bracketed(term, 2 if term[0] == "-" else 1) for term in rest)])


def _check(*parts: object, over: object) -> None:
    """Refuse operands or options that cannot be meant."""
    problem = (
        f"over={over!r} adds up the labels of one operand, but {len(parts)} operands were given"
    )
    advice = "add the operands first (a + b), or call total for each"
    check("total", over is None or len(parts) == 1, problem, advice)


@functools.partial(
    Total, range=_range, latex=_latex, same_unit=("x",), keeps_unit=True, check=_check
)
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
    _check(*x, over=over)
    if over is not None:
        return arrays.sum(x[0], axis=over, keepdims=True)
    return functools.reduce(operator.add, x)
