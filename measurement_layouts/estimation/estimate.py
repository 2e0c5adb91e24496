"""Maximum-likelihood estimates of a layout's only latent, and the subjects that have none."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common import options
from ..common.errors import FitError
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_layout
from ..evaluations.subject_data import SubjectData
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from ..layouts.elements import elements
from .likelihood import (
    NARROW,
    Curve,
    Interval,
    curve_of,
    grid_of,
    interval_of,
    maxima_of,
    prior_scale,
    standard_error,
)

_TIED = 1e-6  # maxima that differ by less than this, in nats, are equal
_FLAT = 0.05  # least fall of the log-likelihood, in nats, towards an end of the range ...
_LAST = 0.25  # ... over this share of the interval there, for the data to limit the interval
_NO_ERROR = "no standard error: the likelihood has a step, a kink or a plateau at its maximum"


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of a latent, with the reason for each subject that has none.

    Made by `estimate`.

    Attributes
    ----------
    layout : Layout
        The layout whose latent was estimated.
    prob : float
        Confidence of the intervals.
    table : DataFrame
        One row per subject: ``subject``, ``node`` (the latent), ``estimate``, ``se`` (from the
        curvature of the likelihood), ``low`` and ``high`` (ends of the likelihood-ratio interval),
        ``log_likelihood`` at the estimate, the number of ``modes``, ``identified`` (whether the
        data determine the estimate) and ``reason``, why they do not, or another remark (else
        empty). Where a subject is not identified, ``estimate``, ``se``, ``low`` and ``high`` are
        NaN, and ``log_likelihood`` is its maximum.
    modes : DataFrame
        One row per subject and maximum, the highest first: ``subject``, ``node``, ``at``,
        ``log_likelihood`` and ``below``, its distance from the highest maximum in nats. A maximum
        that is approached but never reached is at infinity.
    ranges : mapping of str to list of (float, float)
        By subject, the values that the data allow, as intervals in ascending order; an end may be
        infinite.
    curves : mapping of str to callable
        By subject, a function from values of the latent to log-likelihoods.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill, hardness = Capability("skill", low=0, high=5), MetaFeature("hardness", low=0, high=5)
    >>> layout = Layout("quiz", Success("solved", logistic(skill - hardness)))
    >>> items = pd.DataFrame({"hardness": [1.0, 2.0, 3.0, 4.0]})
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0], [1, 1, 1, 1]], ["Ann", "Bob"])
    >>> estimates = estimate(layout, Evaluation.from_wide(outcomes, items))
    >>> estimates.table[["subject", "estimate", "identified"]].round(2)
      subject  estimate  identified
    0     Ann       2.5        True
    1     Bob       NaN       False
    >>> estimates.ranges["Bob"][0][0]  # Bob passed everything: only a lower end
    3.398...
    """

    layout: Layout
    prob: float
    table: pd.DataFrame
    modes: pd.DataFrame
    ranges: Mapping[str, list[Interval]]
    curves: Mapping[str, Curve]

    def __repr__(self) -> str:
        return (
            f"<Estimates of {self.layout.name!r}: {many(len(self.table), 'subject')}, "
            f"{len(self.unidentified)} not identified, {self.prob:.0%} intervals>"
        )

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return list(self.table["subject"])

    @property
    def unidentified(self) -> pd.DataFrame:
        """Rows of `table` that are not identified."""
        return self.table[~self.table["identified"]]


def estimate(
    layout: Layout,
    evaluation: Evaluation,
    *,
    prob: float = 0.9,
    subjects: Iterable[object] | None = None,
) -> Estimates:
    r"""Estimate the only latent of each subject, and name the subjects that are not identified.

    Each subject is estimated from its own outcomes alone, by the maximum of

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    over the whole range of the latent, on a grid that contains the ends of all bands. All maxima
    are found and listed, not only the one nearest to a starting value; those that a linking
    function of your own makes narrower than a two-thousandth of the range can be missed. The
    standard error is one over the square root of the observed information. The interval is the set
    of all :math:`\theta` with :math:`\ell(\hat\theta) - \ell(\theta) \le \chi^2_{1,prob}/2`, which
    may be in several pieces. The posterior of such a layout, and of one with several latents, is
    `fit`.

    A subject is not identified in three cases: when every value is in the interval, when the data
    set no limit on one side, or when two maxima are equal. In a range that ends, the data set no
    limit where the interval reaches the end and the likelihood falls by less than 0.05 nats over
    the last quarter of the piece at that end: the estimate would then depend on the declared range
    and not on the data. A subject that solved everything therefore has a lower limit and no
    estimate.

    Parameters
    ----------
    layout : Layout
        A layout with one latent without labels.
    evaluation : Evaluation
        Items and outcomes.
    prob : float, default 0.9
        Confidence of the intervals, in (0, 1).
    subjects : iterable, optional
        Subjects to estimate (default: all).

    Returns
    -------
    Estimates
        Estimates, intervals and reasons.

    Raises
    ------
    DataError
        When the items do not fit the layout, or a subject is unknown.
    LayoutError
        When `layout` is something else.
    FitError
        When the layout has several latents, or subjects share one, or `prob` is out of range.

    References
    ----------
    Propensities paper, Eq. 6 and appendix B.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band
    >>> risk = Propensity("risk", low=-9, high=9)
    >>> low, high = (MetaFeature(end, low=-4, high=4) for end in ("low", "high"))
    >>> layout = Layout("risk", Success("right", band(risk, low, high)))
    >>> items = pd.DataFrame({"low": [-3.0, -1.0, 0.0, 1.0], "high": [0.0, 1.0, 2.0, 3.0]})
    >>> outcomes = pd.DataFrame([[0, 1, 1, 0], [0] * 4], ["Ann", "Bob"])
    >>> estimates = estimate(layout, Evaluation.from_wide(outcomes, items))
    >>> estimates
    <Estimates of 'risk': 2 subjects, 1 not identified, 90% intervals>
    >>> estimates.table.set_index("subject")[["estimate", "se", "low", "high"]].round(2)
             estimate    se   low  high
    subject
    Ann          0.49  0.45 -0.26  1.19
    Bob           NaN   NaN   NaN   NaN
    >>> estimates.unidentified["reason"].item()
    'no success on 4 items: anything below -2.64 or above 2.812 fits'
    """
    refuse_no_layout(layout)
    names = [element.name for element in elements(layout)]
    if layout.joint or len(layout.latents) != 1 or layout.latents[0].dims:
        shared = ", which subjects share" * bool(layout.joint)
        raise FitError(
            f"layout {layout.name!r} has the latents {some(names)}{shared}; give a layout with one "
            "latent without labels, or take the posterior, fit(...).profiles()"
        )
    prob = options.inside("prob", prob, such_as=0.9)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    battery = Battery.of(layout, chosen)
    grid = grid_of(battery)
    rows, modes, ranges, curves = [], [], {}, {}
    for subject in chosen.subjects:
        data = SubjectData.of(chosen, subject)
        curve = curve_of(battery, data)
        row, maxima, ranges[subject] = _of_one(layout, grid, curve, data, prob)
        rows.append({"subject": subject, "node": names[0], **row})
        modes.append(maxima.assign(subject=subject, node=names[0]))
        curves[subject] = curve
    columns = ["subject", "node", "at", "log_likelihood", "below"]
    found = pd.concat(modes, ignore_index=True)[columns]
    return Estimates(layout, prob, pd.DataFrame(rows), found, ranges, curves)


def _of_one(
    layout: Layout, grid: np.ndarray, curve: Curve, data: SubjectData, prob: float
) -> tuple[dict[str, object], pd.DataFrame, list[Interval]]:
    """Estimate one subject: its row, its maxima, and the values that its data allow."""
    logs, (_, scale) = curve(grid), prior_scale(layout)
    at, heights = maxima_of(curve, grid, logs)
    pieces = interval_of(curve, grid, logs, at, prob)
    numbers = dict.fromkeys(["estimate", "se", "low", "high"], np.nan)
    reason = _why_not(grid, scale, logs, at[heights > heights[0] - _TIED], pieces, data)
    identified = not reason
    if identified:
        around = next(piece for piece in pieces if piece[0] <= at[0] <= piece[1])
        error = standard_error(curve, at[0], around, prob, scale)
        numbers = {"estimate": at[0], "se": error, "low": pieces[0][0], "high": pieces[-1][1]}
        reason = _remarks(grid, scale, pieces, around, error)
    row = {"log_likelihood": heights[0], "modes": len(at), "identified": identified}
    support = layout.latents[0].range
    ends = {grid[0]: support.low, grid[-1]: support.high}  # beyond the grid, nothing changes
    maxima = pd.DataFrame({"at": [ends.get(value, value) for value in at]})
    maxima = maxima.assign(log_likelihood=heights, below=heights[0] - heights)
    allowed = [(ends.get(low, low), ends.get(high, high)) for low, high in pieces]
    return {**numbers, **row, "reason": reason}, maxima, allowed


def _why_not(
    grid: np.ndarray,
    scale: float,
    logs: np.ndarray,
    highest: np.ndarray,
    pieces: Sequence[Interval],
    data: SubjectData,
) -> str:
    """Say why the data do not identify a subject; empty if they do."""
    tried, uniform = many(int((data.trials > 0).sum()), "item"), ""
    if not data.successes.any():
        uniform = f"no success on {tried}"
    elif (data.successes == data.trials).all():
        uniform = f"no failure on {tried}"
    if pieces == [(grid[0], grid[-1])]:
        likely = "equally" if np.ptp(logs) < _TIED else "about as"
        why = f"the outcomes are {likely} likely at every value: any value fits"
        return "; ".join(filter(None, [uniform, why]))
    (first, after), (before, last) = pieces[0], pieces[-1]
    inner = np.interp([first + _LAST * (after - first), last - _LAST * (last - before)], grid, logs)
    open_low = first == grid[0] and logs[0] > inner[0] - _FLAT
    open_high = last == grid[-1] and logs[-1] > inner[1] - _FLAT
    if open_low or open_high:
        side = "either" if open_low and open_high else "the lower" if open_low else "the upper"
        limit = uniform or f"the data set no limit on {side} side"
        return f"{limit}: anything {_in_words(pieces, grid, scale)} fits"
    if len(highest) > 1:
        where = " and ".join(f"{value:.4g}" for value in np.sort(highest))
        return f"{many(len(highest), 'place')} fit equally well: {where}"
    return ""


def _remarks(
    grid: np.ndarray, scale: float, pieces: Sequence[Interval], around: Interval, error: float
) -> str:
    """Write what else is to be known of an estimate; empty if nothing."""
    further = [piece for piece in pieces if piece != around]
    remarks = {
        f"also possible: {_in_words(further, grid, scale)}": bool(further),
        "the interval ends where the range does": grid[0] == pieces[0][0]
        or grid[-1] == pieces[-1][1],
        _NO_ERROR: np.isnan(error),
    }
    return "; ".join(text for text, holds in remarks.items() if holds)


def _in_words(pieces: Sequence[Interval], grid: np.ndarray, scale: float) -> str:
    """Describe intervals in words, such as 'below -4.62 or from 1.234 to 1.300'."""
    texts = []
    for low, high in pieces:
        if low <= grid[0]:
            texts.append(f"below {high:.4g}")
        elif high >= grid[-1]:
            texts.append(f"above {low:.4g}")
        elif high - low < NARROW * scale:
            texts.append(f"at {(low + high) / 2:.4g}")
        else:
            decimals = max(2, 1 - math.floor(math.log10(high - low)))
            texts.append(f"from {low:.{decimals}f} to {high:.{decimals}f}")
    return " or ".join(texts)
