"""Band: the probability of success is high between two ends and falls on both sides."""

from typing import NamedTuple

from .. import arrays
from ..arrays import Array
from ..errors import check
from ..expression import Expr
from ..function import linking_function

_NARROWEST = 0.01  # at this width exp(2 / width) and its derivative are far from overflow


class Margins(NamedTuple):
    """Distances of a propensity from a band's two ends, multiplied by the steepness."""

    low: Array
    high: Array
    middle: Array  # both distances at the midpoint
    steepness: Array
    no_low: Array
    no_high: Array


def margins(theta: Array, low: Array, high: Array, slope: Array, min_width: float) -> Margins:
    """Compute a' times the distances from both ends of the band, widened to `min_width`."""
    no_low, no_high = no_ends(low, high)
    one_sided = no_low | no_high
    # an infinite end never enters the arithmetic: inf * 0 would make the gradient NaN
    low = arrays.where(no_low, 0.0, low)
    high = arrays.where(no_high, 0.0, high)
    centre = arrays.where(one_sided, low + high, low / 2 + high / 2)
    half_width = arrays.maximum(high / 2 - low / 2, min_width / 2)
    half_width = arrays.where(one_sided, 1.0, half_width)
    steepness = slope + arrays.where(one_sided, 0.0, arrays.expm1(1 / half_width))
    reach = arrays.where(one_sided, 0.0, half_width)
    offset = theta - centre
    return Margins(
        steepness * (reach + offset),
        steepness * (reach - offset),
        steepness * reach,
        steepness,
        no_low,
        no_high,
    )


def no_ends(low: Array, high: Array) -> tuple[Array, Array]:
    """Whether the low end and the high end are missing (infinite), by element."""
    return arrays.isinf(low) & (low < 0), arrays.isinf(high) & (high > 0)


def check_min_width(*_operands: Expr, min_width: float) -> None:
    """Refuse a minimum width that is too small for the sampler."""
    wide = isinstance(min_width, int | float) and min_width >= _NARROWEST
    advice = f"give a width of at least {_NARROWEST} (the sampler does not find a narrower peak)"
    check("a band", wide, f"min_width={min_width}", advice)


@linking_function(range=(0, 1), same_unit=("theta", "low", "high"), check=check_min_width)
def band(
    theta: Array, low: Array, high: Array, slope: Array = 1.0, *, min_width: float = 0.1
) -> Array:
    r"""Probability that a propensity is within an item's ideal band: the normalised 2x2PL.

    .. math:: P = \frac{\sigma(a'(\theta - b_l)) \, \sigma(a'(b_u - \theta))}{\sigma(a' r)^2},
       \qquad r = \frac{b_u - b_l}{2}, \quad a' = a + e^{1/r} - 1

    Parameters
    ----------
    theta : expression or array
        The subject's propensity; any real value.
    low, high : expressions or arrays
        Ends of the band, in the unit of `theta`. With ``-inf`` or ``inf`` the band has no end on
        that side, and the curve is exactly the two-parameter logistic of the other end.
    slope : expression, array or float, default 1
        Steepness `a` at the ends of a wide band; positive.
    min_width : float, default 0.1
        Bands that are narrower than this are widened to this width about their centre. Arrays with
        reversed ends are treated in the same way, whereas a layout refuses items with reversed
        ends.

    Returns
    -------
    expression or array
        Probability in [0, 1]. It is exactly 1 at the midpoint for every width, and between 0.5 and
        0.5657 at the ends for slope 1. It is computed in logarithms, so that value and gradient are
        finite everywhere.

    Raises
    ------
    LayoutError
        When `min_width` is below 0.01.

    See Also
    --------
    uncertain_band : For ends that are known only roughly, such as annotators' levels.
    bilogistic : The curve without the normalisation, with a slope for each end.

    References
    ----------
    Propensities paper, Eq. 2 to 5, Theorems B.2 to B.9.

    Examples
    --------
    >>> float(band(1.0, low=-2.0, high=4.0))
    1.0
    >>> round(float(band(4.0, low=-2.0, high=4.0)), 4)
    0.5152
    """
    check_min_width(min_width=min_width)
    inside = margins(theta, low, high, slope, min_width)
    log_above = arrays.where(inside.no_low, 0.0, -arrays.softplus(-inside.low))
    log_below = arrays.where(inside.no_high, 0.0, -arrays.softplus(-inside.high))
    one_sided = inside.no_low | inside.no_high
    log_peak = arrays.where(one_sided, 0.0, -2 * arrays.softplus(-inside.middle))
    return arrays.minimum(arrays.exp(log_above + log_below - log_peak), 1.0)
