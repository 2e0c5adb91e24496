"""Log-likelihood of one subject along the only latent: grid, maxima, interval, standard error."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.signal import find_peaks
from scipy.stats import chi2, norm

from ..evaluations.subject_data import SubjectData
from ..inference.cells import CellEvaluator
from ..inference.model.bands import ends, find_bands
from ..inference.model.prior import draw_prior
from ..inference.sampling.engine import Battery
from ..layouts import Layout

type Curve = Callable[[np.ndarray], np.ndarray]
"""Function from values of the latent, of any shape, to log-likelihoods in nats."""
type Interval = tuple[float, float]

UNDEFINED = -1e10  # log-likelihood, in nats, where it is not defined
_EVEN = 2001  # grid points apart from those at bands
_FAR = 1e5  # reach of the grid in a range without an end, in standard deviations of the prior
_BESIDE = np.array([-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])  # distances, in 1 / a'
_LEAST = 0.01  # least fall of the curve, in nats, between two maxima; less may be rounding
_NEAR = 20.0  # maxima within this many nats of the highest are refined
_ROUNDS = 14  # each makes the bracket of a maximum an eighth as wide
_FALL = 1e-5  # fall of a parabolic log-likelihood, in nats, at the points of the curvature
_SMOOTH = 0.25  # greatest relative difference from the curvature over ten times the distance
NARROW = 1e-6  # an interval narrower than this share of the prior's spread is a point


def curve_of(battery: Battery, subject: SubjectData) -> Curve:
    r"""Return the log-likelihood of a subject's outcomes as a function of the only latent.

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    Probabilities stay 1e-12 away from 0 and 1, as in `fit`.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Evaluation, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> counts = [pd.DataFrame({"toss": [number]}, index=["Ann"]) for number in (3, 4)]
    >>> tosses = Evaluation(pd.DataFrame(index=["toss"]), *counts)
    >>> curve = curve_of(Battery.of(coin, tosses), SubjectData.of(tosses, "Ann"))
    >>> curve(np.array([0.5, 0.75])).round(2)
    array([-2.77, -2.25])
    """
    (latent,) = battery.layout.latents
    cells = CellEvaluator(battery.alone(subject))

    def curve(values: np.ndarray) -> np.ndarray:
        at = np.asarray(values, dtype=float)
        logs = cells.log_likelihood(cells.draws_by_level({latent.name: at.ravel()}))
        return np.where(np.isfinite(logs), logs, UNDEFINED).reshape(at.shape)

    return curve


def prior_scale(layout: Layout) -> tuple[float, float]:
    """Return the median of the only latent's prior, and its spread as of a normal distribution."""
    draws = draw_prior(layout)[layout.latents[0].name]
    lower, centre, upper = np.quantile(draws, [0.25, 0.5, 0.75])
    return float(centre), float(upper - lower) / 1.349


def grid_of(battery: Battery) -> np.ndarray:
    """Return values along the range of the only latent, with the ends and middles of all bands.

    In a range without ends, the grid is even near the prior's centre and logarithmic far from it.
    Steep ends have further points on both sides.
    """
    (latent,) = battery.layout.latents
    centre, scale = prior_scale(battery.layout)
    first = max(latent.range.low, centre - _FAR * scale)
    last = min(latent.range.high, centre + _FAR * scale)
    if latent.range.is_finite:
        even = np.linspace(first, last, _EVEN)
    else:
        low, high = np.arcsinh((np.array([first, last]) - centre) / scale)
        even = centre + scale * np.sinh(np.linspace(low, high, _EVEN))
    edges, widths = _edges(battery.layout, dict(battery.features))
    steep = widths < np.diff(even).min()
    beside = (edges[steep, None] + widths[steep, None] * _BESIDE).ravel()
    grid = np.unique(np.concatenate([even, edges, beside, [first, last]]))
    return grid[(grid >= first) & (grid <= last)]


def _edges(layout: Layout, features: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """List the ends and middles of all bands, and over which distance each band's end falls."""
    edges, widths = [np.empty(0)], [np.empty(0)]
    for band in find_bands(layout):
        limits = None if band.latent is None else ends(band, features, layout)
        if limits is not None:
            low, high = (end.ravel() for end in np.broadcast_arrays(*limits))
            with np.errstate(invalid="ignore"):
                half = np.maximum(high - low, band.min_width or 2.0) / 2
                middle = (low + high) / 2
                edges += [low, high, middle, middle - half, middle + half]
            widths += [np.exp(-1 / half)] * 5
    edge, width = np.concatenate(edges), np.concatenate(widths)
    edge, first = np.unique(edge, return_index=True)
    finite = np.isfinite(edge)
    return edge[finite], width[first][finite]


def maxima_of(curve: Curve, grid: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find all maxima of a curve; return their positions and heights, the highest first.

    Two maxima are counted separately if the curve falls by at least 0.01 nats between them. Maxima
    more than 20 nats below the highest are given at their grid point.

    Examples
    --------
    >>> def curve(values):
    ...     return -20 * (values**2 - 1) ** 2 + values
    >>> grid = np.linspace(-2, 2, 50)
    >>> at, heights = maxima_of(curve, grid, curve(grid))
    >>> at.round(4), heights.round(4)
    (array([ 1.0062, -0.9937]), array([ 1.0031, -0.9969]))
    """
    padded = np.pad(logs, 1, constant_values=logs.min() - 1)
    tops, levels = find_peaks(padded, prominence=_LEAST, plateau_size=1)
    tops = np.where(levels["right_edges"] == len(logs), len(logs), tops)
    tops = np.where(levels["left_edges"] == 1, 1, tops) - 1  # a level end has its maximum there
    at, heights = grid[tops], logs[tops]
    for number, top in enumerate(tops):
        beside = slice(max(top - 1, 0), top + 2)
        # a curve rises at most as much between two points as beside them
        hidden = logs[top] - logs[beside].min()
        if logs[top] + hidden > logs.max() - _NEAR:
            value, height = _zoomed(curve, grid[beside][0], grid[beside][-1])
            if height > heights[number]:
                at[number], heights[number] = value, height
    order = np.argsort(-heights, kind="stable")
    return at[order], heights[order]


def _zoomed(curve: Curve, low: float, high: float) -> tuple[float, float]:
    """Find the maximum between two values, to rounding; the curve may have steps."""
    for _ in range(_ROUNDS):
        values = np.linspace(low, high, 17)
        logs = curve(values)
        best = int(logs.argmax())
        low, high = values[max(best - 1, 0)], values[min(best + 1, 16)]
    return values[best], logs[best]


def interval_of(
    curve: Curve, grid: np.ndarray, logs: np.ndarray, maxima: np.ndarray, prob: float
) -> list[Interval]:
    r"""Find the values that a likelihood ratio allows, as intervals in ascending order.

    .. math:: C = \left\{\theta : \ell(\hat\theta) - \ell(\theta) \le
       \tfrac{1}{2} \chi^2_{1, prob}\right\}

    An interval that reaches an end of the grid ends there.

    References
    ----------
    Wilks, S. S. (1938), The large-sample distribution of the likelihood ratio for testing composite
    hypotheses, Annals of Mathematical Statistics 9.

    Examples
    --------
    >>> def curve(values):
    ...     return -(values**2) / 2
    >>> grid = np.linspace(-9, 9, 60)
    >>> (interval,) = interval_of(curve, grid, curve(grid), np.array([0.0]), 0.9)
    >>> np.round(interval, 4)
    array([-1.6449,  1.6449])
    """
    # between two points of the grid, a maximum may be the only value inside
    values, order = np.unique(np.concatenate([grid, maxima]), return_index=True)
    heights = np.concatenate([logs, curve(maxima)])[order]
    level = heights.max() - chi2.ppf(prob, 1) / 2
    inside = heights >= level
    limits = [values[0]] * bool(inside[0])
    for before in np.flatnonzero(inside[1:] != inside[:-1]):
        bracket = values[before], values[before + 1]
        limits.append(brentq(lambda value: float(curve(value)) - level, *bracket))
    limits += [values[-1]] * bool(inside[-1])
    return [(float(low), float(high)) for low, high in zip(limits[::2], limits[1::2], strict=True)]


def standard_error(curve: Curve, at: float, interval: Interval, prob: float, scale: float) -> float:
    r"""Compute one over the square root of the observed information, by differences.

    .. math:: \mathrm{se} = \left(-\ell''(\hat\theta)\right)^{-1/2}

    It is NaN where the likelihood has a step, a kink or a plateau at its maximum: there, the
    curvature over ten times the distance is another. `scale` is the spread of the prior.

    Examples
    --------
    >>> def curve(values):
    ...     return 20 * np.log(values) + 10 * np.log1p(-values)
    >>> round(standard_error(curve, 2 / 3, (0.51, 0.79), 0.9, 1.0), 6)
    0.086066
    >>> round((2 / 3 / 3 / 30) ** 0.5, 6)
    0.086066
    """
    nearest = min(at - interval[0], interval[1] - at)
    if nearest < NARROW * scale:
        return np.nan
    step = nearest * np.sqrt(2 * _FALL) / float(norm.isf((1 - prob) / 2))
    left, near_left, top, near_right, right = curve(at + step * np.array([-10, -1, 0, 1, 10]))
    near, far = (2 * top - near_left - near_right) / step**2, (2 * top - left - right) / step**2
    if not (near > 0 and abs(far / (100 * near) - 1) < _SMOOTH):
        return np.nan
    return float(near**-0.5)
