"""Product: every part is needed."""

import functools
import math
import operator
from typing import Any

from . import arrays
from .arrays import Array
from .function import linking_function
from .interval import Interval
from .notation import bracketed, latex_text


def _range(*parts: Interval, over: str | None) -> Interval:
    low = 0.0 if over is not None else math.prod(part.low for part in parts)
    return Interval(low, math.prod(part.high for part in parts))


def _latex(*parts: str, over: str | None) -> str:
    joined = r" \cdot ".join(map(bracketed, parts))
    return joined if over is None else rf"\prod_{{{latex_text(over)}}} {joined}"


@linking_function(range=_range, latex=_latex, domain={"p": (0, 1)})
def product(*p: Array, over: Any = None) -> Array:
    r"""Non-compensatory "and": success needs every part.

    .. math:: \prod_j p_j

    Parameters
    ----------
    *p : expressions or arrays
        Performances in [0, 1].
    over : str, optional
        Label dimension to multiply along (for plain arrays: the axis, kept with length one).

    Returns
    -------
    expression or array
        In [0, 1]; never above the smallest part. Gradients stay finite where a part is exactly 0.

    References
    ----------
    Burden et al. (2023), section 3 and Table 3.

    Examples
    --------
    >>> product(0.5, 0.5, 0.8)
    0.2
    """
    together: Array = functools.reduce(operator.mul, p)
    return together if over is None else arrays.prod(together, axis=over, keepdims=True)
