"""Generalised mean: from the minimum through the arithmetic mean to the maximum."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import arrays
from ..arrays import Array
from ..errors import LayoutError
from ..expression import Expr, merge_dims
from ..function import Call, LinkingFunction
from ..interval import Interval
from ..notation import latex_number, latex_text
from ..real import real

_TINY = 1e-300  # a smaller part is treated as zero, so that every gradient is finite
_STEEPEST = 1e9  # largest ratio of two weights; beyond it the smaller one is lost in rounding


def _range(*parts: Interval, **_options: object) -> Interval:
    """Range of a call."""
    return Interval(min(part.low for part in parts), max(part.high for part in parts))


def _latex(*parts: str, power: float, weights: tuple[float, ...] | None, over: str | None) -> str:
    """Write a call as LaTeX."""
    along = "" if over is None else rf"_{{{latex_text(over)}}}"
    shares = "" if weights is None else rf";\; {', '.join(map(latex_number, weights))}"
    return rf"M^{{{latex_number(power)}}}{along}\left({', '.join(parts)}{shares}\right)"


def _check(*parts: Expr, power: float, weights: tuple[float, ...] | None, over: str | None) -> None:
    """Refuse operands or options that cannot be meant."""
    labels = None if over is None else merge_dims(parts)[over]
    _check_options(power, weights, over, len(parts), None if labels is None else len(labels))


def _check_options(
    power: object,
    weights: tuple[float, ...] | None,
    over: object,
    operands: int,
    labels: int | None,
) -> None:
    """Refuse a power, weights or label dimension that do not fit."""
    number = real(power)
    if number is None or math.isnan(number):
        raise LayoutError(
            f"generalised_mean: power={power!r}; give a number, or inf for the maximum and -inf "
            "for the minimum"
        )
    if over is not None and operands > 1:
        raise LayoutError(
            f"generalised_mean: over={over!r} averages the labels of one operand, but {operands} "
            "operands were given; average them first, or leave out over="
        )
    if weights is None:
        return
    count = labels if over is not None else operands
    values = np.asarray(weights, dtype=float)
    fitting = values.ndim == 1 and (count is None or len(values) == count)
    if not (fitting and (values > 0).all() and values.max() <= _STEEPEST * values.min()):
        each = "operand" if over is None else f"label of {over!r}"
        raise LayoutError(
            f"generalised_mean: weights={weights}; give one per {each}"
            f"{'' if count is None else f' ({count})'}, positive and none over {_STEEPEST:g} times "
            "another (leave out a part instead of giving it the weight 0)"
        )


class GeneralisedMean(LinkingFunction):
    """The generalised mean, with an error that refers to `power_mean` when the power is a node."""

    def build(
        self, names: Sequence[str], operands: Sequence[Expr], options: Mapping[str, Any]
    ) -> Call:
        if isinstance(power := options.get("power"), Expr):
            raise LayoutError(
                f"generalised_mean: power={power} is a node, but the power is an option, fixed "
                f"when the layout is declared; give a number, or write power_mean(p, {power}, "
                "over=...) to have it estimated"
            )
        return super().build(names, operands, options)


@functools.partial(
    GeneralisedMean,
    range=_range,
    latex=_latex,
    domain={"p": (0, math.inf)},
    same_unit=("p",),
    keeps_unit=True,
    check=_check,
)
def generalised_mean(
    *p: Array, power: float, weights: tuple[float, ...] | None = None, over: Any = None
) -> Array:
    r"""Mean of a given power, which sets how far one part compensates for another.

    .. math:: M_k(p) = \left(\sum_j w_j \, p_j^k\right)^{1/k}, \quad
       M_0 = \prod_j p_j^{w_j}, \quad M_{-\infty} = \min_j p_j, \quad M_\infty = \max_j p_j

    Parameters
    ----------
    *p : expressions or arrays
        Values of one unit, at least 0.
    power : float
        Power `k`: 1 is the arithmetic mean (compensatory), 0 the geometric mean, -1 the harmonic
        mean, ``-inf`` the minimum (non-compensatory) and ``inf`` the maximum.
    weights : sequence of float, optional
        One positive weight per operand, or per label with `over`; they are scaled to sum to one.
        The default is equal weights. Weights have no effect when the power is infinite.
    over : str, optional
        Label dimension to average over (for plain arrays: the axis, which is kept with length one).

    Returns
    -------
    expression or array
        Value between the smallest and the largest part, in their unit. Gradients are finite
        everywhere. The gradient with respect to a part that is exactly 0 is 0, except for power 1.

    Raises
    ------
    LayoutError
        When the power is not a number, or the weights are not positive or not one per part.

    See Also
    --------
    power_mean : For a power that is itself a node and is estimated.

    References
    ----------
    Burden et al. (2023), section 3 and appendix A; Hardy, Littlewood and Polya, Inequalities, 2.2.

    Examples
    --------
    >>> round(float(generalised_mean(0.2, 0.8, power=0)), 3)
    0.4
    >>> float(generalised_mean(0.2, 0.8, power=float("-inf")))
    0.2
    """
    _check_options(power, weights, over, len(p), None)
    parts, axis = (p[0], over) if over is not None else (arrays.stack(p), 0)
    keep = over is not None
    least, most = (
        functools.partial(pick, parts, axis=axis, keepdims=keep)
        for pick in (arrays.min, arrays.max)
    )
    if math.isinf(power):
        return most() if power > 0 else least()
    share = _shares(weights, parts, axis)
    if power == 1:  # exact, and so is its gradient where a part is 0
        return arrays.sum(share * parts, axis=axis, keepdims=keep)
    logs = arrays.log(arrays.maximum(parts, _TINY))
    if power == 0:  # exactly 0 when a part is 0
        logs = arrays.where(parts <= 0, -math.inf, logs)
        return arrays.exp(arrays.sum(share * logs, axis=axis, keepdims=keep))
    # computed relative to the dominating part, so that nothing overflows or cancels
    anchor = (arrays.max if power > 0 else arrays.min)(logs, axis=axis, keepdims=True)
    excess = arrays.sum(share * arrays.expm1(power * (logs - anchor)), axis=axis, keepdims=keep)
    base = anchor if keep else arrays.sum(anchor, axis=axis)
    mean = arrays.exp(base + arrays.log1p(excess) / power)
    return arrays.where((most() if power > 0 else least()) <= 0, 0.0, mean)


def _shares(weights: tuple[float, ...] | None, parts: Array, axis: int) -> Array:
    """Weights that sum to one, shaped to lie along the axis."""
    if weights is None:
        return 1 / parts.shape[axis]
    values = np.asarray(weights, dtype=float)
    behind = parts.ndim - 1 - (axis % parts.ndim)
    return (values / values.sum()).reshape((len(values), *[1] * behind))
