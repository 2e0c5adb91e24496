"""Standard errors from the curvature of likelihoods at their maxima."""

import numpy as np
from scipy.stats import norm

from .estimates import Interval
from .peaks import Curve

_FALL = 1e-3  # nats by which the likelihood falls at the nearer points, were it a parabola
_NARROW = 1e-6  # of the scale: an interval narrower than this is a cliff
_SMOOTH = 0.25  # by how much of itself a curvature may differ from that at half the distance
_ALIKE = 3.0  # times the interval that curvature tells, or a third of it, may the true one be

STEP = "no standard error: the likelihood falls at once, as at a step"
KINK = "no standard error: the likelihood has no curvature at its maximum, but a kink or a plateau"
LOPSIDED = "no standard error: the likelihood is no parabola around its maximum"


def standard_errors(
    curve: Curve,
    who: np.ndarray,
    at: np.ndarray,
    pieces: list[Interval],
    prob: float,
    scale: float,
) -> tuple[np.ndarray, list[str]]:
    r"""Compute one over the root of the observed information.

    .. math:: \mathrm{se} = \left(-\ell''(\hat\theta)\right)^{-1/2}

    The derivative is the central difference of five points, the nearer ones where the likelihood
    has fallen by about 0.001 nats: its error is 1e-6 of itself in smooth likelihoods, far above
    rounding and far below curvature's own change.

    Parameters
    ----------
    curve : Curve
        Gives log-likelihoods anywhere.
    who : ndarray, shape (maxima,)
        Numbers of subjects.
    at : ndarray, shape (maxima,)
        Maxima.
    pieces : list of (float, float)
        The profile-likelihood interval around each.
    prob : float
        Its confidence.
    scale : float
        What is small beside it is small.

    Returns
    -------
    errors : ndarray, shape (maxima,)
        NaN where the maximum is a cliff or a kink, or where an interval by curvature would be more
        than twice as wide as the one by profile likelihood, or less than half of it.
    reasons : list of str
        Why it is NaN; else empty.

    Examples
    --------
    >>> def curve(places, _):
    ...     return 20 * np.log(places) + 10 * np.log1p(-places)
    >>> only = np.array([0]), np.array([2 / 3]), [(0.51, 0.79)]
    >>> found, _ = standard_errors(curve, *only, prob=0.9, scale=1.0)
    >>> float(found[0].round(6)), round((2 / 3 / 3 / 30) ** 0.5, 6)
    (0.086066, 0.086066)
    """
    ends = np.array(pieces).reshape(-1, 2)
    normal = float(norm.isf((1 - prob) / 2))
    near = np.minimum(at - ends[:, 0], ends[:, 1] - at)
    step = np.where(np.isfinite(near), near, scale) * np.sqrt(2 * _FALL) / normal
    step = at + step - at  # as the points have it
    offsets = np.arange(-2, 3)
    points = at[:, None] + step[:, None] * offsets
    logs = curve(points.ravel(), np.repeat(who, 5)).reshape(-1, 5)
    falls = logs[:, [2]] - logs
    with np.errstate(divide="ignore", invalid="ignore"):
        inner, outer = (falls[:, [a, b]].sum(axis=1) for a, b in ((1, 3), (0, 4)))
        information = (16 * inner - outer) / (12 * step**2)
        errors = 1 / np.sqrt(information)
        smooth = (abs(outer / (4 * inner) - 1) < _SMOOTH) & (
            abs(falls[:, 1] - falls[:, 3]) < _SMOOTH * inner
        )
        ratio = (ends[:, 1] - ends[:, 0]) / (2 * normal * errors)
    cliff = near < _NARROW * scale
    lopsided = ~((ratio > 1 / _ALIKE) & (ratio < _ALIKE))
    why = np.select([cliff, ~smooth, lopsided], [STEP, KINK, LOPSIDED], default="")
    return np.where(why == "", errors, np.nan), [str(reason) for reason in why]
