"""Generalised mean: from the minimum through the arithmetic mean to the maximum."""

import math
from typing import Any

import numpy as np

from .. import arrays, units
from ..arrays import Array
from ..errors import check
from ..expression import Expr, merge_dims
from ..function import linking_function
from ..interval import Interval
from ..real import holds_numbers, real

_NAME = "generalised_mean"
_A_POWER = "give a number (inf for the maximum, -inf for the minimum), or a node to estimate it"
_TINY = 1e-300  # a smaller part is treated as zero, so that every gradient is finite
_FLAT = 1e-6  # powers closer to 0 use the series, whose next term is below rounding there
_STEEPEST = 1e9  # largest ratio of two weights; beyond it the smaller one is lost in rounding


def _range(*parts: Interval, **_options: object) -> Interval:
    """Range of a call."""
    return Interval(min(span.low for span in parts), max(span.high for span in parts))


def _check(
    *parts: Expr, power: Expr | float, weights: tuple[float, ...] | None, over: str | None
) -> None:
    """Refuse operands or options that cannot be meant."""
    if isinstance(power, Expr):
        problem = f"the power {power} has a value for each label of {over!r}, which is averaged"
        check(_NAME, over not in power.dims, problem, "give one value for all labels")
        problem = f"the power {power} has {units.text(power.unit)}"
        check(_NAME, units.is_pure(power.unit), problem, "declare it without a unit")
    else:
        fixed = real(power)
        usable = fixed is not None and not math.isnan(fixed)
        check(_NAME, usable, f"power={power!r}", _A_POWER)
    count = len(parts) if over is None else len(merge_dims(parts)[over])
    _check_weights(weights, over, count)


def _check_weights(weights: tuple[float, ...] | None, over: object, count: int | None) -> None:
    """Refuse weights that are not positive, or not as many as they must be where this is known."""
    if weights is None:
        return
    values = np.asarray(weights, dtype=float)
    fitting = values.ndim == 1 and count in (None, len(values))
    fitting = fitting and bool((values > 0).all()) and values.max() <= _STEEPEST * values.min()
    owner = "operand" if over is None else f"label of {over!r}"
    how_many = "" if count is None else f" ({count})"
    advice = f"give one per {owner}{how_many}, positive and none over {_STEEPEST:g} times another"
    check(_NAME, fitting, f"weights={weights}", advice)


@linking_function(
    range=_range,
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
    With :math:`l_j = \log p_j`, the mean is computed for powers within 1e-6 of 0 from the
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
    fixed, keep = real(power), over is not None
    usable = holds_numbers(power) and (fixed is None or not math.isnan(fixed))
    check(_NAME, usable, f"power={power!r}", _A_POWER)
    _check_weights(weights, over, None if keep else len(p))
    parts, axis = (p[0], over) if keep else (arrays.stack(p), 0)
    if fixed is None:
        if not keep:  # operands and powers have one shape
            stacked = arrays.stack((*p, power))
            parts, power = stacked[:-1], stacked[-1]
        power = arrays.as_float(power)
    share = _shares(weights, parts, axis)
    if fixed == 1:  # exact, and so is its gradient where a part is 0
        mean = arrays.sum(share * parts, axis=axis, keepdims=True)
    elif fixed is not None and math.isinf(fixed):
        mean = (arrays.max if fixed > 0 else arrays.min)(parts, axis=axis, keepdims=True)
    elif fixed == 0:  # exactly 0 when a part is 0
        logs = arrays.where(parts <= 0, -math.inf, arrays.log(arrays.maximum(parts, _TINY)))
        mean = arrays.exp(arrays.sum(share * logs, axis=axis, keepdims=True))
    else:
        logs = arrays.log(arrays.maximum(parts, _TINY))
        mean = arrays.exp(_log_mean(logs, power, share, axis))
        if fixed is not None:  # exactly 0 when the part that decides is 0
            deciding = (arrays.max if fixed > 0 else arrays.min)(parts, axis=axis, keepdims=True)
            mean = arrays.where(deciding <= 0, 0.0, mean)
    return mean if keep else arrays.sum(mean, axis=axis)


generalised_mean.nodes = ("power",)


def _log_mean(logs: Array, power: Array, share: Array, axis: int) -> Array:
    """Logarithm of the mean, relative to the dominating part to avoid overflow; a series near 0."""

    def average(values: Array) -> Array:
        return arrays.sum(share * values, axis=axis, keepdims=True)

    def steep(power: Array) -> Array:
        anchor = arrays.max(power * logs, axis=axis, keepdims=True) / power
        return anchor + arrays.log1p(average(arrays.expm1(power * (logs - anchor)))) / power

    near, fixed = arrays.absolute(power) < _FLAT, real(power) is not None
    if fixed and not near:
        return steep(power)
    first, second, third = average(logs), average(logs * logs), average(logs * logs * logs)
    variance = second - first * first
    skew = third - first * (3 * variance + first * first)
    series = first + power * (variance / 2 + power * skew / 6)
    return series if fixed else arrays.where(near, series, steep(arrays.where(near, 1.0, power)))


def _shares(weights: tuple[float, ...] | None, parts: Array, axis: int) -> Array:
    """Weights that sum to one, shaped to lie along the axis."""
    if weights is None:
        return 1 / parts.shape[axis]
    values = np.asarray(weights, dtype=float)
    behind = parts.ndim - 1 - (axis % parts.ndim)
    return (values / values.sum()).reshape((len(values), *[1] * behind))
