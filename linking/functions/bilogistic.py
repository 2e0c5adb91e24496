"""Bilogistic: two logistics back to back, each with a slope of its own."""

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from .band import no_ends


def _latex(
    theta: str, low: str, high: str, low_slope: str | None = None, high_slope: str | None = None
) -> str:
    """Write a call as LaTeX."""
    slopes = "" if low_slope is None else rf";\; {low_slope}, {high_slope or 1}"
    return rf"\mathrm{{bilogistic}}\left({theta};\; {low}, {high}{slopes}\right)"


@linking_function(range=(0, 1), latex=_latex, same_unit=("theta", "low", "high"))
def bilogistic(
    theta: Array, low: Array, high: Array, low_slope: Array = 1.0, high_slope: Array = 1.0
) -> Array:
    r"""Probability of being above one end and below the other: the 2x2PL as it stands.

    .. math:: P = \sigma(a_l(\theta - b_l)) \, \sigma(a_u(b_u - \theta))

    Use it where the ends differ in sharpness, or where a narrow band is hard to meet for everybody.
    Use `band` where whoever is in the middle succeeds, however narrow the band: its peak is 1.

    Parameters
    ----------
    theta : expression or array
        The subject's propensity; any real value.
    low, high : expressions or arrays
        Ends of the band, in the unit of `theta`. ``-inf`` or ``inf`` removes that end, and the
        curve is then exactly the two-parameter logistic of the other.
    low_slope, high_slope : expressions, arrays or floats, default 1
        `a_l` and `a_u`, steepness at each end per unit of `theta`; positive.

    Returns
    -------
    expression or array
        In [0, 1]. The maximum is below 1, and the lower the narrower the band: 1/4 at zero width
        and equal slopes. It is at the midpoint for equal slopes only, else nearer to the steeper
        end. Computed in logarithms; value and gradient are finite everywhere.

    See Also
    --------
    band : With the normalisation, of Eq. 3 to 5.

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
