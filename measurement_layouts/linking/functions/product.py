"""Product: every part is needed."""

import functools
import math
import operator
from typing import Any

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from ..interval import Interval


def _range(*parts: Interval, over: object) -> Interval:
    """Range of a call."""
    return Interval(math.prod(span.low for span in parts), math.prod(span.high for span in parts))


@linking_function(range=_range, domain={"p": (0, 1)})
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
    if over is not None:
        return arrays.prod(p[0], axis=over, keepdims=True)
    return functools.reduce(operator.mul, p)
