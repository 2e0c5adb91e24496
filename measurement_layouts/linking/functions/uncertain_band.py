"""Uncertain band: a band whose ends are known only approximately."""

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from .band import check_min_width, margins

_SHARP = 1e-8  # a smaller spread (halved) changes a logistic by less than rounding does


@linking_function(
    range=(0, 1),
    domain={"spread": (0, float("inf"))},
    same_unit=("theta", "low", "high", "spread"),
    check=check_min_width,
)
def uncertain_band(
    theta: Array,
    low: Array,
    high: Array,
    spread: Array,
    slope: Array = 1.0,
    *,
    min_width: float = 0.1,
) -> Array:
    r"""Probability that a propensity is within a band whose ends are known to within a spread.

    .. math:: P = \frac{S(\theta - b_l) \, S(b_u - \theta)}{\sigma(a' r)^2}, \qquad
       S(t) = \frac{\log(1 + e^{a'(t + s)}) - \log(1 + e^{a'(t - s)})}{2 a' s}

    S is the mean of :math:`\sigma(a'(t - e))` over e uniform in [-s, s]. So P is the mean of `band`
    over errors of its two ends, which are uniform within the spread s and independent. The
    steepness a' and the maximum are those of a band of the annotated width.

    Parameters
    ----------
    theta : expression or array
        The subject's propensity; any real value.
    low, high : expressions or arrays
        Ends of the band as annotated, in the unit of `theta`; either may be infinite, as in `band`.
    spread : expression, array or float
        Largest distance `s` between the true and the annotated end, in the unit of `theta`; at
        least 0, and 0 gives `band`. For whole levels 0.5 is the error of rounding alone.
    slope : expression, array or float, default 1
        Steepness `a` at the ends of a wide band; positive.
    min_width : float, default 0.1
        Bands that are narrower than this are widened to this width about their centre, as in
        `band`.

    Returns
    -------
    expression or array
        Probability in [0, 1]. Its maximum is at the midpoint, and below 1 unless the spread is 0.
        Value and gradient are finite everywhere.

    Raises
    ------
    LayoutError
        When `min_width` is below 0.01, or the spread can be negative.

    Notes
    -----
    The steepness and the maximum are not averaged over the true width. With errors of the ends of
    up to one level at slope 1, 90 % intervals contain the true value in 90 % of simulations for
    bands that are at least two levels wide, where those of `band` do so in 62 to 77 %
    (``tests/inference/sampling/test_uncertain_bands.py``). It is 86 % for widths of 1 to 3 levels,
    and 80 % for widths of 0 to 4 levels.

    Where several annotators gave ends, the mean over annotators needs no spread: declare both ends
    with the annotators as labels, and average `band` with
    ``generalised_mean(band(theta, low, high), power=1, over="annotator")``.

    References
    ----------
    Propensities paper, Eq. 3 to 5, for the band that is averaged.

    Examples
    --------
    >>> round(float(uncertain_band(1.0, low=0.0, high=2.0, spread=0.0)), 4)
    1.0
    >>> round(float(uncertain_band(1.0, low=0.0, high=2.0, spread=1.0)), 4)
    0.8666

    The probability of success on one item with the bands of three annotators:

    >>> from measurement_layouts import MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band, evaluate, generalised_mean
    >>> said = {"labels": ("Ann", "Bob", "Cy"), "dim": "annotator"}
    >>> low, high = (MetaFeature(end, low=-3, high=3, **said) for end in ("low", "high"))
    >>> inside = band(Propensity("risk", low=-3, high=3), low, high)
    >>> answer = Success("right", generalised_mean(inside, power=1, over="annotator"))
    >>> ends = {"low": [[-1.0, 0.0, 0.0]], "high": [[1.0, 2.0, 3.0]]}
    >>> import numpy as np
    >>> items = {end: np.array(levels) for end, levels in ends.items()}
    >>> evaluate(answer, {"risk": 0.0, **items}, ("annotator",)).round(3)
    array([[0.706]])
    """
    check_min_width(min_width=min_width)
    inside = margins(theta, low, high, slope, min_width)
    blur = inside.steepness * spread
    above = arrays.where(inside.no_low, 1.0, _blurred_logistic(inside.low, blur))
    below = arrays.where(inside.no_high, 1.0, _blurred_logistic(inside.high, blur))
    one_sided = inside.no_low | inside.no_high
    root = arrays.where(one_sided, 1.0, arrays.sigmoid(inside.middle))
    return arrays.minimum((above / root) * (below / root), 1.0)


def _blurred_logistic(x: Array, blur: Array) -> Array:
    r"""Average the logistic between x - blur and x + blur, without cancellation of digits.

    Below 0, :math:`\log\frac{1 + e^{x + b}}{1 + e^{x - b}} = \log(1 + e^v)` with v = x + b +
    log(1 - exp(-2b)) - log(1 + exp(x - b)); above 0 it is 1 minus that of -x.
    """
    blurred = blur > _SHARP
    blur = arrays.where(blurred, blur, 1.0)
    below = arrays.where(x > 0, -x, x)
    excess = below + blur + arrays.log(-arrays.expm1(-2 * blur)) - arrays.softplus(below - blur)
    tail = arrays.softplus(excess) / (2 * blur)
    mean = arrays.where(x > 0, 1 - tail, tail)
    return arrays.where(blurred, mean, arrays.sigmoid(x))
