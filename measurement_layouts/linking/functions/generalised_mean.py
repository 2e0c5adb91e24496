"""Generalised mean: from the minimum through the arithmetic mean to the maximum."""

import functools
import math
from typing import Any

import numpy as np

from .. import arrays, units
from ..arrays import Array
from ..errors import check
from ..expression import Expr, merge_dims
from ..function import LinkingFunction
from ..interval import Interval
from ..notation import latex_number, latex_text
from ..real import holds_numbers, real

_NAME = "generalised_mean"
_A_POWER = "give a number (inf for the maximum, -inf for the minimum), or a node to estimate it"
_TINY = 1e-300  # a smaller part is treated as zero, so that every gradient is finite
_FLAT = 1e-6  # powers closer to 0 use the series, whose next term is below rounding there
_STEEPEST = 1e9  # largest ratio of two weights; beyond it the smaller one is lost in rounding


def _range(*parts: Interval, **_options: object) -> Interval:
    """Range of a call."""
    return Interval(min(span.low for span in parts), max(span.high for span in parts))


def _latex(
    *parts: str, power: str | float, weights: tuple[float, ...] | None, over: str | None
) -> str:
    """Write a call as LaTeX."""
    along = "" if over is None else rf"_{{{latex_text(over)}}}"
    shares = "" if weights is None else rf";\; {', '.join(map(latex_number, weights))}"
    exponent = power if isinstance(power, str) else latex_number(power)
    return rf"M^{{{exponent}}}{along}\left({', '.join(parts)}{shares}\right)"


def _check(
    *parts: Expr, power: Expr | float, weights: tuple[float, ...] | None, over: str | None
) -> None:
    """Refuse operands or options that cannot be meant."""
    labels = None if over is None else merge_dims(parts).get(over, ())
    if isinstance(power, Expr):
        problem = f"the power {power} has a value for each label of {over!r}, which is averaged"
        check(_NAME, over not in power.dims, problem, "give one value for all labels")
        problem = f"the power {power} has {units.text(power.unit)}"
        check(_NAME, units.is_pure(power.unit), problem, "declare it without a unit")
    else:
        check(_NAME, real(power) is not None, f"power={power!r}", _A_POWER)
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
    check(_NAME, number is None or not math.isnan(number), f"power={power!r}", _A_POWER)
    problem = (
        f"over={over!r} averages the labels of one operand, but {operands} operands were given"
    )
    check(_NAME, over is None or operands == 1, problem, "average them first, or leave out over=")
    if weights is None:
        return
    count = labels if over is not None else operands
    values = np.asarray(weights, dtype=float)
    fitting = values.ndim == 1 and (count is None or len(values) == count)
    fitting = fitting and bool((values > 0).all()) and values.max() <= _STEEPEST * values.min()
    owner = "operand" if over is None else f"label of {over!r}"
    how_many = "" if count is None else f" ({count})"
    advice = f"give one per {owner}{how_many}, positive and none over {_STEEPEST:g} times another"
    check(_NAME, fitting, f"weights={weights}", advice)


class GeneralisedMean(LinkingFunction):
    """The generalised mean, whose power is a number or a node."""

    nodes = ("power",)


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
    *p: Array, power: Array, weights: tuple[float, ...] | None = None, over: Any = None
) -> Array:
    r"""Mean of a given power, which sets how far one part compensates for another.

    .. math:: M_k(p) = \left(\sum_j w_j \, p_j^k\right)^{1/k}, \quad
       M_0 = \prod_j p_j^{w_j}, \quad M_{-\infty} = \min_j p_j, \quad M_\infty = \max_j p_j

    Parameters
    ----------
    *p : expressions or arrays
        Values of one unit, at least 0.
    power : float, array or expression
        Power `k`, a pure number: 1 is the arithmetic mean (compensatory), 0 the geometric mean, -1
        the harmonic mean, ``-inf`` the minimum (non-compensatory) and ``inf`` the maximum. To
        estimate it, give a latent whose prior is a few units wide, such as
        ``Bias("exponent", prior=Prior("Normal", mu=0, sigma=2))``.
    weights : sequence of float, optional
        One positive weight per operand, or per label with `over`; they are scaled to sum to one.
        The default is equal weights. Weights have no effect when the power is infinite.
    over : str, optional
        Label dimension to average over (for plain arrays: the axis, which is kept with length one).

    Returns
    -------
    expression or array
        Value between the smallest and the largest part, in their unit. Gradients are finite
        everywhere. The gradient with respect to a part that is exactly 0 is 0, except for the
        number 1 as power. If the power is an array or expression, the value is a smooth function of
        it, also at 0, and a part below 1e-300 is replaced by that number.

    Raises
    ------
    LayoutError
        When the power is neither numbers nor a node, or has a unit or the dimension `over`, or the
        weights are not positive or not one per part.

    Notes
    -----
    With :math:`l_j = \log p_j`, the mean is computed for estimated powers within 1e-6 of 0 from the
    series of cumulants :math:`\log M_k = \overline{l} + k \kappa_2(l) / 2 + k^2 \kappa_3(l) / 6`.

    References
    ----------
    Burden et al. (2023), section 3 and appendix A; Hardy, Littlewood and Polya, Inequalities, 2.2
    and 2.3.

    Examples
    --------
    >>> round(float(generalised_mean(0.2, 0.8, power=0)), 3)
    0.4
    >>> float(generalised_mean(0.2, 0.8, power=float("-inf")))
    0.2
    >>> import numpy as np
    >>> generalised_mean(0.2, 0.8, power=np.array([-20.0, 0.0, 1.0, 20.0])).round(3)
    array([0.207, 0.4  , 0.5  , 0.773])
    """
    check(_NAME, holds_numbers(power), f"power={power!r}", _A_POWER)
    _check_options(power, weights, over, len(p), None)
    values, axis = (p[0], over) if over is not None else (arrays.stack(p), 0)
    keep = over is not None
    if real(power) is None:
        if not keep:  # operands and powers have one shape
            stacked = arrays.stack((*p, power))
            values, power = stacked[:-1], stacked[-1]
        mean = _of_any_power(values, arrays.as_float(power), _shares(weights, values, axis), axis)
        return mean if keep else arrays.sum(mean, axis=axis)
    least, most = (
        functools.partial(pick, values, axis=axis, keepdims=keep)
        for pick in (arrays.min, arrays.max)
    )
    if math.isinf(power):
        return most() if power > 0 else least()
    share = _shares(weights, values, axis)
    if power == 1:  # exact, and so is its gradient where a part is 0
        return arrays.sum(share * values, axis=axis, keepdims=keep)
    logs = arrays.log(arrays.maximum(values, _TINY))
    if power == 0:  # exactly 0 when a part is 0
        logs = arrays.where(values <= 0, -math.inf, logs)
        return arrays.exp(arrays.sum(share * logs, axis=axis, keepdims=keep))
    # computed relative to the dominating part, so that nothing overflows or cancels
    anchor = (arrays.max if power > 0 else arrays.min)(logs, axis=axis, keepdims=True)
    excess = arrays.sum(share * arrays.expm1(power * (logs - anchor)), axis=axis, keepdims=keep)
    base = anchor if keep else arrays.sum(anchor, axis=axis)
    mean = arrays.exp(base + arrays.log1p(excess) / power)
    return arrays.where((most() if power > 0 else least()) <= 0, 0.0, mean)


def _of_any_power(values: Array, power: Array, share: Array, axis: int) -> Array:
    """Mean of each power of an array, with the averaged axis kept; from the series near 0."""
    logs = arrays.log(arrays.maximum(values, _TINY))
    flat = arrays.absolute(power) < _FLAT
    steep = _log_mean(logs, arrays.where(flat, 1.0, power), share, axis)
    return arrays.exp(arrays.where(flat, _series(logs, power, share, axis), steep))


def _log_mean(logs: Array, power: Array, share: Array, axis: int) -> Array:
    """Logarithm of the mean, computed relative to the dominating part to avoid overflow."""
    raised = power * logs
    anchor = arrays.max(raised, axis=axis, keepdims=True)
    return (anchor + arrays.log1p(_mean(arrays.expm1(raised - anchor), share, axis))) / power


def _series(logs: Array, power: Array, share: Array, axis: int) -> Array:
    """Series of the logarithm of the mean about a power of 0, from the moments of the values."""
    squares = logs * logs
    first, second, third = (_mean(of, share, axis) for of in (logs, squares, logs * squares))
    variance = second - first * first
    skew = third - first * (3 * variance + first * first)
    return first + power * (variance / 2 + power * skew / 6)


def _mean(values: Array, share: Array, axis: int) -> Array:
    """Weighted mean along an axis, kept with length one."""
    if np.ndim(share) == 0:  # equal weights: one product after the sum
        return arrays.sum(values, axis=axis, keepdims=True) * share
    return arrays.sum(share * values, axis=axis, keepdims=True)


def _shares(weights: tuple[float, ...] | None, parts: Array, axis: int) -> Array:
    """Weights that sum to one, shaped to lie along the axis."""
    if weights is None:
        return 1 / parts.shape[axis]
    values = np.asarray(weights, dtype=float)
    behind = parts.ndim - 1 - (axis % parts.ndim)
    return (values / values.sum()).reshape((len(values), *[1] * behind))
