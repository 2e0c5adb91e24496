"""Success rate of one subject on all items whose band contains a value, by that value."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.digits import fixed, short
from ..common.errors import FitError
from ..common.messages import many, some
from ..estimation.collapse import collapse_peak
from ..estimation.estimate import Estimates
from . import style
from .estimated import element_of, estimate_text, estimated

_CURVE, _TRUTH = style.METHODS[0][0], style.METHODS[1][0]
_ROOM = 0.03  # share of the range that is left free on both sides


def collapse_plot(
    collapse: pd.DataFrame,
    estimates: Estimates | None = None,
    subject: object = None,
    *,
    truth: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw a point collapse: the success rate of the items whose band contains a value.

    .. math:: \hat P(x) = \frac{\sum_{i:\, b_{l,i} \le x \le b_{u,i}} y_i}
       {\sum_{i:\, b_{l,i} \le x \le b_{u,i}} 1}

    Parameters
    ----------
    collapse : DataFrame
        Result of `point_collapse`: pieces of the line, from ``low`` to ``high``, with ``success``
        and ``trials``.
    estimates : Estimates, optional
        Estimates, of which the subject's is drawn.
    subject : object, optional
        The subject; needed if `estimates` has several.
    truth : float, optional
        Propensity with which the outcomes were simulated, which is drawn too.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: the propensity; vertical axis: success rate, in [0, 1]. The curve has a gap
        where there is no band. The shaded piece is its peak, that of `collapse_peak`.

    Raises
    ------
    DataError
        When a column is missing, or there is no piece with trials.
    FitError
        When the subject is not in the estimates, or is not given although there are several.

    References
    ----------
    Propensities paper, appendix B.3, figure 6.

    Examples
    --------
    >>> collapse = pd.DataFrame({"low": [-1.0, 0.0, 2.0], "high": [0.0, 2.0, 3.0],
    ...                          "success": [0.4, 0.8, 0.5], "trials": [10, 20, 10]})
    >>> collapse_plot(collapse, truth=0.5).get_ylabel()
    'success rate of the bands around it'
    """
    peak = collapse_peak(collapse)
    tried = collapse[collapse["trials"] > 0].sort_values(["low", "high"])
    ax = style.single(ax, (6.2, 4.0))
    ends = tried[["low", "high"]].to_numpy(dtype=float)
    finite = ends[np.isfinite(ends)]
    room = _ROOM * float(np.ptp(finite))
    view = finite.min() - room, finite.max() + room
    ax.plot(*_steps(np.clip(ends, *view), tried["success"]), color=_CURVE, label="point collapse")
    if peak["success"] > 0:
        rate = f"{fixed(peak['success'], 2)} of {many(int(peak['trials']), 'trial')}"
        name = f"its peak: {_piece(peak)}, {rate}"
        ends_of_peak = np.clip(peak[["low", "high"]].to_numpy(dtype=float), *view)
        ax.axvspan(*ends_of_peak, color=_CURVE, alpha=0.25, linewidth=1.5, label=name)
    if estimates is not None:
        row = estimated(estimates, _who(estimates, subject))
        ax.set_xlabel(style.element_label(element_of(estimates, row)))
        style.title(ax, f"{style.words(row['subject'], 40)}: point collapse and estimate")
        if row["identified"]:
            name = f"estimate: {estimate_text(row)}"
            ax.axvline(row["estimate"], color=style.INK, linewidth=1.6, label=name)
        else:
            ax.plot([], [], " ", label="estimate: not identified")
    else:
        ax.set_xlabel("propensity")
        style.title(ax, "Point collapse")
    if truth is not None:
        name = f"truth: {short(truth)}"
        ax.axvline(truth, color=_TRUTH, linewidth=1.6, linestyle="--", label=name)
    ax.set(xlim=view, ylim=(-0.02, 1.03), ylabel="success rate of the bands around it")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8, frameon=False)
    style.quiet_frame(ax, "left", "bottom")
    return ax


def _who(estimates: Estimates, subject: object) -> object:
    """Return the given subject, or the only one."""
    if subject is not None:
        return subject
    if len(estimates.subjects) > 1:
        raise FitError(f"the estimates are of {some(estimates.subjects)}; choose one with subject=")
    return estimates.subjects[0]


def _steps(ends: np.ndarray, success: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a step curve, with a gap between pieces that do not touch."""
    at, rate = ends.ravel(), np.repeat(success.to_numpy(dtype=float), 2)
    gaps = 2 * np.flatnonzero(ends[1:, 0] > ends[:-1, 1]) + 2
    return np.insert(at, gaps, np.nan), np.insert(rate, gaps, np.nan)


def _piece(piece: pd.Series) -> str:
    low, high = fixed(piece["low"], 2), fixed(piece["high"], 2)
    return low if low == high else f"{low} to {high}"
