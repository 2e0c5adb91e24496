"""Power mean: a generalised mean whose power is estimated."""

import math

from .. import arrays, units
from ..arrays import Array
from ..errors import LayoutError
from ..expression import Expr
from ..function import linking_function
from ..interval import Interval
from ..notation import latex_text

_TINY = 1e-300  # a smaller part is replaced by this, so that every gradient is finite
_FLAT = 1e-6  # powers closer to 0 use the series, whose next term is below rounding there


def _range(p: Interval, power: Interval, over: str) -> Interval:
    """Range of a call."""
    return p


def _latex(p: str, power: str, over: str) -> str:
    """Write a call as LaTeX."""
    return rf"M^{{{power}}}_{{{latex_text(over)}}}\left({p}\right)"


def _check(p: Expr, power: Expr, over: str) -> None:
    """Refuse operands or options that cannot be meant."""
    if over not in p.dims:
        raise LayoutError(
            f"power_mean: over={over!r}, but the label dimensions of {p} are "
            f"{sorted(p.dims) or 'none'}; name one of these, or declare its nodes with labels="
        )
    if over in power.dims:
        raise LayoutError(
            f"power_mean: the power {power} has a value for each label of {over!r}, the dimension "
            "that is averaged; give a power with one value for all labels"
        )
    if not units.is_pure(power.unit):
        raise LayoutError(
            f"power_mean: the power {power} has {units.text(power.unit)}, but a power is a pure "
            "number; declare it without a unit"
        )


@linking_function(
    range=_range,
    latex=_latex,
    domain={"p": (0, math.inf)},
    same_unit=("p",),
    keeps_unit=True,
    check=_check,
)
def power_mean(p: Array, power: Array, *, over: int) -> Array:
    r"""Mean whose power is a node: how far labels compensate for each other is estimated.

    .. math:: M_k(p) = \left(\frac{1}{n} \sum_j p_j^k\right)^{1/k}, \quad
       M_0 = \prod_j p_j^{1/n}

    Parameters
    ----------
    p : expression or array
        Values of one unit, at least 0, one per label.
    power : expression, array or float
        Power `k`, a pure number. A large negative power is near the minimum of the labels, 0 is the
        geometric mean, 1 the arithmetic mean, and a large power is near the maximum. To estimate
        it, give a latent whose prior is a few units wide, such as
        ``Bias("exponent", prior=Prior("Normal", mu=0, sigma=2))``.
    over : str
        Label dimension to average over (for plain arrays: the axis, which is kept with length one).

    Returns
    -------
    expression or array
        Value between the smallest and the largest part, in their unit. It is a smooth function of
        the power, also at 0. Gradients are finite everywhere: a part below 1e-300 is replaced by
        that number, and the gradient with respect to it is 0.

    Raises
    ------
    LayoutError
        When `p` does not have the dimension `over`, or the power has it, or the power has a unit.

    See Also
    --------
    generalised_mean : For a known power, which may be infinite, and for weights.

    Notes
    -----
    With :math:`l_j = \log p_j`, the mean is computed for powers within 1e-6 of 0 from the series of
    cumulants :math:`\log M_k = \overline{l} + k \kappa_2(l) / 2 + k^2 \kappa_3(l) / 6`.

    References
    ----------
    Hardy, Littlewood and Polya, Inequalities, 2.2 and 2.3; Burden et al. (2023), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> parts = np.array([0.2, 0.8])
    >>> power_mean(parts, np.array([[-20.0], [0.0], [1.0], [20.0]]), over=-1).ravel().round(3)
    array([0.207, 0.4  , 0.5  , 0.773])
    """
    logs = arrays.log(arrays.maximum(p, _TINY))
    flat = arrays.absolute(power) < _FLAT
    steep = _log_mean(logs, arrays.where(flat, 1.0, power), over)
    return arrays.exp(arrays.where(flat, _series(logs, power, over), steep))


def _log_mean(logs: Array, power: Array, over: int) -> Array:
    """Logarithm of the mean, computed relative to the dominating part to avoid overflow."""
    raised = power * logs
    anchor = arrays.max(raised, axis=over, keepdims=True)
    return (anchor + arrays.log1p(_mean(arrays.expm1(raised - anchor), over))) / power


def _series(logs: Array, power: Array, over: int) -> Array:
    """Series of the logarithm of the mean about a power of 0, from the moments over labels."""
    squares = logs * logs
    first, second, third = (_mean(of, over) for of in (logs, squares, logs * squares))
    variance = second - first * first
    skew = third - first * (3 * variance + first * first)
    return first + power * (variance / 2 + power * skew / 6)


def _mean(values: Array, over: int) -> Array:
    """Arithmetic mean along an axis, kept with length one."""
    return arrays.sum(values, axis=over, keepdims=True) / values.shape[over]
