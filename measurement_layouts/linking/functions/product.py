"""Product: every part is needed."""

import functools
import math
import operator
from typing import Any

from .. import arrays
from ..arrays import Array
from ..errors import LayoutError
from ..function import linking_function
from ..interval import Interval
from ..notation import bracketed, latex_text


def _range(*parts: Interval, over: str | None) -> Interval:
    """Range of a call."""
    low = 0.0 if over is not None else math.prod(span.low for span in parts)
    return Interval(low, math.prod(span.high for span in parts))


def _latex(*parts: str, over: str | None) -> str:
    """Write a call as LaTeX."""
    joined = r" \cdot ".join(map(bracketed, parts))
    return joined if over is None else rf"\prod_{{{latex_text(over)}}} {joined}"


def _check(*parts: object, over: object) -> None:
    """Refuse operands or options that cannot be meant."""
    if over is not None and len(parts) > 1:
        raise LayoutError(
            f"product: over={over!r} multiplies the labels of one operand, but {len(parts)} "
            "operands were given; multiply the operands first (a * b), or call product for each"
        )


@linking_function(range=_range, latex=_latex, domain={"p": (0, 1)}, check=_check)
def product(*p: Array, over: Any = None) -> Array:
    r"""Non-compensatory "and": success needs every part.

    .. math:: \prod_j p_j

    Parameters
    ----------
    *p : expressions or arrays
        Performances in [0, 1].
    over : str, optional
        Label dimension to multiply over (for plain arrays: the axis, which is kept with length
        one).

    Returns
    -------
    expression or array
        Probability in [0, 1], at most the smallest part. Gradients are finite also where a part is
        exactly 0.

    Raises
    ------
    LayoutError
        When `over` is given with more than one operand.

    References
    ----------
    Burden et al. (2023), section 3 and Table 3.

    Examples
    --------
    >>> product(0.5, 0.5, 0.8)
    0.2
    """
    _check(*p, over=over)
    if over is not None:
        return arrays.prod(p[0], axis=over, keepdims=True)
    return functools.reduce(operator.mul, p)
