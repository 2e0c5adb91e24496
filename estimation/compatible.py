"""What the data allow: the values whose likelihood is close enough to the highest."""

from typing import Any

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.stats import chi2

from .estimates import Interval
from .line import Line
from .peaks import Curve, Peaks


def compatible(
    curve: Curve, line: Line, heights: np.ndarray, found: list[Peaks], prob: float
) -> list[list[Interval]]:
    r"""Find the profile-likelihood sets of several curves.

    .. math:: C = \left\{\theta : \ell(\hat\theta) - \ell(\theta) \le
       \tfrac{1}{2} \chi^2_{1, prob}\right\}

    Parameters
    ----------
    curve : Curve
        Gives log-likelihoods anywhere.
    line : Line
        Where they are known.
    heights : ndarray, shape (curves, places)
        On the line.
    found : list of Peaks
        Their maxima.
    prob : float
        Confidence, in (0, 1).

    Returns
    -------
    list of list of (float, float)
        By curve: pieces, ascending. A piece that reaches an end of the line ends where the latent's
        range does.

    References
    ----------
    Wilks, S. S. (1938), The large-sample distribution of the likelihood ratio for testing composite
    hypotheses, Annals of Mathematical Statistics 9.

    Examples
    --------
    >>> from .peaks import peaks
    >>> def curve(places, _):
    ...     return -(places**2) / 2
    >>> line = Line(np.linspace(-9, 9, 60), -9.0, 9.0, 1.0)
    >>> heights = curve(line.places, 0)[None]
    >>> ((piece,),) = compatible(curve, line, heights, peaks(curve, line, heights), 0.9)
    >>> np.round(piece, 4)
    array([-1.6449,  1.6449])
    """
    slack = chi2.ppf(prob, 1) / 2
    who, before, after, inside = [], [], [], []
    for row, (logs, top) in enumerate(zip(heights, found, strict=True)):
        known = np.isfinite(top.at)  # between the places, a maximum may be all that is inside
        places = np.concatenate([line.places, top.at[known]])
        order = np.argsort(places, kind="stable")
        places = places[order]
        within = np.concatenate([logs, top.logs[known]])[order] >= top.logs[0] - slack
        crossing = np.flatnonzero(within[1:] != within[:-1])
        who.append(np.full(len(crossing), row))
        before.append(places[crossing])
        after.append(places[crossing + 1])
        inside.append(bool(within[0]))
    highest = np.array([top.logs[0] for top in found])
    rows, left, right = (np.concatenate(part) for part in (who, before, after))
    edges = _edges(curve, rows, left, right, highest[rows] - slack)
    return [_pieces(edges[rows == row], starts, line) for row, starts in enumerate(inside)]


def _edges(
    curve: Curve, rows: np.ndarray, left: np.ndarray, right: np.ndarray, level: np.ndarray
) -> np.ndarray:
    if not len(rows):
        return left

    def above(values: np.ndarray, *of: Any) -> np.ndarray:
        return np.asarray(curve(values, of[0].astype(int)) - of[1])

    with np.errstate(divide="ignore", invalid="ignore"):  # its parabolas through level points
        found = find_root(above, (left, right), args=(rows, level))
    return np.where(found.success, found.x, (left + right) / 2)


def _pieces(edges: np.ndarray, starts_inside: bool, line: Line) -> list[Interval]:
    ends = [line.low] * starts_inside + list(map(float, edges))
    ends += [line.high] * (len(ends) % 2)
    return list(zip(ends[::2], ends[1::2], strict=True))
