"""Logistic link: from a margin to a probability."""

import functools
import math
from collections.abc import Callable
from typing import Any

from .. import arrays
from ..arrays import Array
from ..errors import check
from ..expression import Operand
from ..function import LinkingFunction
from ..real import real


class Logistic(LinkingFunction):
    """The logistic, whose slope can also be chosen from a range (`spanning`)."""

    def spanning(self, low: float, high: float) -> Callable[[Operand | Array], Any]:
        r"""Scale the logistic so that the margin's full range covers 0.001 to 0.999.

        .. math:: \sigma\left(\frac{2 \log 999}{h - l} \left(m - \frac{l + h}{2}\right)\right)

        Parameters
        ----------
        low, high : float
            Ends of the margin's range, finite, in its unit. With ``low == -high`` the probability
            at margin 0 stays 0.5.

        Returns
        -------
        callable
            Function of a margin (an expression or an array); it is 0.001 at `low` and 0.999 at
            `high`.

        Raises
        ------
        LayoutError
            When the range is reversed, empty or infinite.

        Examples
        --------
        >>> round(float(logistic.spanning(-5.0, 5.0)(5.0)), 3)
        0.999
        """
        first, last = (math.nan if real(end) is None else end for end in (low, high))
        rises = math.isfinite(first) and math.isfinite(last) and first < last
        problem = f"low={low!r}, high={high!r}: the margin's range must be finite with low < high"
        check("logistic.spanning", rises, problem, "give the smallest and largest possible margin")
        slope = 2 * math.log(999) / (last - first)
        centre = (first + last) / 2
        return lambda margin: self(margin if centre == 0 else margin - centre, slope)


@functools.partial(Logistic, range=(0, 1))
def logistic(margin: Array, slope: Array = 1.0) -> Array:
    r"""Probability of success from the margin between a capability and a demand.

    .. math:: \sigma(a \cdot m) = \frac{1}{1 + e^{-a m}}

    Parameters
    ----------
    margin : expression or array
        Capability minus demand, in their unit; any real value.
    slope : expression, array or float, default 1
        Steepness `a` per unit of margin; positive.

    Returns
    -------
    expression or array
        Probability in [0, 1]; it is 0.5 at margin 0. The gradient is a/4 there, its maximum, and
        approaches 0 for large positive and negative margins.

    Raises
    ------
    LayoutError
        When an argument is something else.

    See Also
    --------
    Logistic.spanning : ``logistic.spanning(low, high)`` chooses the slope from a range.

    References
    ----------
    Burden et al. (2023), appendix C.2; Birnbaum's two-parameter logistic.

    Examples
    --------
    >>> import numpy as np
    >>> logistic(np.array([-2.0, 0.0, 2.0])).round(3)
    array([0.119, 0.5  , 0.881])
    """
    return arrays.sigmoid(slope * margin)
