"""Bilogistic: the product of a rising and a falling logistic, each with its own slope."""

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from .band import no_ends


@linking_function(range=(0, 1), same_unit=("theta", "low", "high"))
def bilogistic(
    theta: Array, low: Array, high: Array, low_slope: Array = 1.0, high_slope: Array = 1.0
) -> Array:
    r"""Probability of being above one end and below the other: the 2x2PL without normalisation.

    .. math:: P = \sigma(a_l(\theta - b_l)) \, \sigma(a_u(b_u - \theta))

    Use it where the ends differ in steepness, or where a narrow band is hard for every subject. Use
    `band` where a subject in the middle succeeds whatever the width of the band: its maximum is 1.

    Parameters
    ----------
    theta : expression or array
        The subject's propensity; any real value.
    low, high : expressions or arrays
        Ends of the band, in the unit of `theta`. With ``-inf`` or ``inf`` the band has no end on
        that side, and the curve is exactly the two-parameter logistic of the other end.
    low_slope, high_slope : expressions, arrays or floats, default 1
        Steepness `a_l` and `a_u` at the two ends, per unit of `theta`; positive.

    Returns
    -------
    expression or array
        Probability in [0, 1]. Its maximum is below 1, and lower for narrower bands: 1/4 at zero
        width and equal slopes. The maximum is at the midpoint for equal slopes, and else nearer to
        the steeper end. It is computed in logarithms, so that value and gradient are finite
        everywhere.

    Raises
    ------
    LayoutError
        When an argument is something else, or `theta` and the ends differ in unit.

    See Also
    --------
    band : The curve with the normalisation, Eq. 3 to 5.

    References
    ----------
    Propensities paper, Eq. 2 with A = 1; Theorem B.8, Eq. 19 to 21.

    Examples
    --------
    >>> round(float(bilogistic(1.0, low=-2.0, high=4.0)), 4)
    0.9074
    >>> round(float(bilogistic(1.0, low=-2.0, high=4.0, high_slope=0.5)), 4)
    0.7788
    """
    no_low, no_high = no_ends(low, high)
    # an infinite end never enters the arithmetic: inf * 0 would make the gradient NaN
    above = theta - arrays.where(no_low, 0.0, low)
    below = arrays.where(no_high, 0.0, high) - theta
    log_above = arrays.where(no_low, 0.0, -arrays.softplus(-low_slope * above))
    log_below = arrays.where(no_high, 0.0, -arrays.softplus(-high_slope * below))
    return arrays.exp(log_above + log_below)
