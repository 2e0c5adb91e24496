"""Log-likelihood of one subject's outcomes by the values of a latent, with every maximum."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import chi2

from ..common.digits import short
from ..estimation.estimate import Estimates
from ..inference.model.prior import draw_prior
from . import style
from .estimated import element_of, estimate_text, estimated
from .labels import write_names

_DEEP = 20.0  # greatest depth of other maxima that are shown, in nats below the maximum
_POINTS = 2001
_AROUND = np.geomspace(1e-11, 0.1, 41)  # distances from maxima and steps, as shares of the view
_NAMED = 8  # largest number of maxima with a label
_SAME = 0.005  # difference below which maxima count as equally high, in nats
_ROOM = 0.15  # share of the view that is left free on both sides
_AMPLE = 1.5  # the same share before low parts are left out
_MARK = 26.0  # area of a mark


def likelihood_curve(
    estimates: Estimates,
    subject: object,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one subject's log-likelihood relative to its maximum, with all local maxima.

    Parameters
    ----------
    estimates : Estimates
        Result of `estimate`.
    subject : object
        Subject to draw.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: the latent; vertical axis: the log-likelihood minus its maximum, down to 20
        nats below it. The values within the likelihood interval are shaded.

    Raises
    ------
    FitError
        When the subject is not in the estimates.

    References
    ----------
    Propensities paper, Eq. 6 and appendix B.3.

    Examples
    --------
    >>> from measurement_layouts import Evaluation, Layout, MetaFeature, Propensity, Success
    >>> from measurement_layouts.estimation.estimate import estimate
    >>> from measurement_layouts.linking import band
    >>> low, high = (MetaFeature(end, low=-4, high=4) for end in ("low", "high"))
    >>> right = Success("right", band(Propensity("risk", low=-9, high=9), low, high))
    >>> items = pd.DataFrame({"low": [-3.0, -1.0, 0.0, 1.0], "high": [0.0, 1.0, 2.0, 3.0]})
    >>> outcomes = pd.DataFrame([[0, 1, 1, 0]], index=["Ann"])
    >>> estimates = estimate(Layout("risk", right), Evaluation.from_wide(outcomes, items))
    >>> likelihood_curve(estimates, "Ann").get_ylabel()
    'log-likelihood ratio (nats)'
    """
    name = str(subject)
    row = estimated(estimates, name)
    curve, element = estimates.curves[name], element_of(estimates, row)
    maxima = estimates.modes[estimates.modes["subject"] == name]
    near = maxima[np.isfinite(maxima["at"]) & (maxima["below"] <= _DEEP)]
    limits = np.ravel(estimates.ranges[name])
    steep = np.concatenate([near["at"], limits[np.isfinite(limits)]])
    if not len(steep):
        steep = np.quantile(draw_prior(estimates.layout)[element.latent.name], [0.01, 0.99])
    support = element.latent.range
    share = _ROOM if np.isinf(limits).any() else _AMPLE
    room = share * np.ptp(steep) or 1.0
    at = _values(max(steep.min() - room, support.low), min(steep.max() + room, support.high), steep)
    logs = curve(at)
    top = max(float(logs.max()), row["log_likelihood"])
    shown = np.concatenate([at[logs > top - _DEEP], near["at"]])
    room = _ROOM * np.ptp(shown) or np.ptp(at)
    at = _values(max(at[0], shown.min() - room), min(at[-1], shown.max() + room), steep)
    logs, view = curve(at), (at[0], at[-1])
    whole = ax is None
    ax = style.single(ax, (6.4, 4.4))
    share_text, slack = style.percent(estimates.prob), float(chi2.ppf(estimates.prob, 1)) / 2
    label: str | None = f"allowed by the data ({share_text})"
    for low, high in estimates.ranges[name]:
        if low <= view[1] and high >= view[0]:
            ends = np.clip([low, high], *view)
            ax.axvspan(*ends, color=style.PRIOR, alpha=0.3, linewidth=1, label=label, zorder=0)
            label = None
    threshold = f"{share_text} threshold: {slack:.2f} nats below"
    ax.axhline(-slack, color=style.QUIET, linestyle=":", label=threshold)
    ax.plot(at, logs - top, color=style.colour(element), linewidth=1.6, label="log-likelihood")
    if row["identified"]:
        ax.axvline(row["estimate"], color=style.INK, linewidth=1.2, label="estimate")
    if len(near):
        points = near["at"], -near["below"]
        ax.scatter(*points, s=_MARK, color=style.INK, zorder=4, label="local maximum")
    if len(maxima) > len(near):
        ax.plot([], [], " ", label=f"maxima not shown: {len(maxima) - len(near)}")
    depth = float(np.clip(top - logs.min(), 1.0, 1.1 * _DEEP))
    ax.set(xlim=view, ylim=(-1.05 * depth, 0.12 * depth), ylabel="log-likelihood ratio (nats)")
    ax.set_xlabel(style.element_label(element))
    style.quiet_frame(ax, "left", "bottom")
    entries = len(ax.get_legend_handles_labels()[1])
    if whole:
        style.legend(np.array([ax]), ax.get_figure(root=True), 2)
    else:
        above = (0.5, 1.0)
        ax.legend(loc="lower center", bbox_to_anchor=above, ncols=2, fontsize=8, frameon=False)
    pad = None if whole else 6.0 + 14 * -(-entries // 2)
    style.title(ax, f"{style.words(name, 40)}: {estimate_text(row)}", pad=pad)
    _name_maxima(ax, near[near["below"] <= -ax.get_ylim()[0]])
    return ax


def _values(low: float, high: float, steep: np.ndarray) -> np.ndarray:
    """Return evenly spaced values, and many more close to possible steps of the curve."""
    away = (high - low) * np.concatenate([-_AROUND, [0.0], _AROUND])
    at = np.union1d(np.linspace(low, high, _POINTS), (steep[:, None] + away).ravel())
    return np.asarray(at[(at >= low) & (at <= high)])


def _name_maxima(ax: Axes, maxima: pd.DataFrame) -> None:
    """Write the positions of the highest maxima, and their depths below the highest."""
    shown = maxima.sort_values("below").head(_NAMED)
    names = [
        short(at) + (f": {depth:.2g} nats below" if depth > _SAME else "")
        for at, depth in zip(shown["at"], shown["below"], strict=True)
    ]
    points = np.column_stack([shown["at"], -shown["below"]])
    area = np.full(len(points), _MARK)
    write_names(ax, points, area, names, range(len(names)), all_of_them=True)
