"""Log-likelihood of one subject's outcomes by the values of a latent, with every maximum."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..common.digits import short
from ..common.errors import FitError
from ..estimation.estimates import Estimates
from ..inference.posterior.density import prior_density
from ..inference.posterior.posterior import posterior_draws, prior_draws
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
_ERRORS = 6.0  # least number of standard errors on both sides
_MARK = 26.0  # area of a mark


def likelihood_curve(
    estimates: Estimates,
    subject: object,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw one subject's log-likelihood relative to its maximum, with all local maxima.

    Parameters
    ----------
    estimates : Estimates
        Estimates of a layout with one latent.
    subject : object
        Subject to draw.
    ax : Axes or sequence of Axes, optional
        Axes to draw on: one, and a second one if the estimates have a posterior (default: a new
        figure).

    Returns
    -------
    ndarray of Axes
        One Axes with the log-likelihood minus its maximum, down to 20 nats below it. The values
        within the likelihood interval are shaded. If there is a posterior, a second Axes has its
        density and the prior's.

    Raises
    ------
    FitError
        When the subject is not in the estimates, there is no curve since the layout has several
        latents, or the number of axes is wrong.

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
    >>> found = estimate(Layout("risk", right), Evaluation.from_wide(outcomes, items))
    >>> likelihood_curve(found, "Ann")[0].get_ylabel()
    'log-likelihood ratio (nats)'
    """
    name = str(subject)
    if name in estimates.subjects and name not in estimates.curves:
        raise FitError(
            f"{name}: these estimates have no likelihood curve; give those of a layout with one "
            "latent without labels"
        )
    row = estimated(estimates, name)
    both = estimates.fit is not None
    axes, figure = style.panels(ax, 1 + both, 1, (6.4, 6.2 if both else 4.4))
    maxima = estimates.modes[estimates.modes["subject"] == name]
    near = maxima[np.isfinite(maxima["at"]) & (maxima["below"] <= _DEEP)]
    curve, steep = estimates.curves[name], [*near["at"], *np.ravel(estimates.ranges.get(name, []))]
    view = _view(estimates, row, near)
    at = _places(view, steep)
    logs = curve(at)
    top = float(np.nanmax([logs.max(), row["log_likelihood"]]))
    view = _narrowed(view, [*at[logs > top - _DEEP], *row[["estimate"]].dropna()])
    at = _places(view, steep)
    logs = curve(at)
    panel = axes[0]
    _ranges(panel, estimates, name, view)
    element = element_of(estimates, row)
    panel.plot(at, logs - top, color=style.colour(element), linewidth=1.6, label="log-likelihood")
    if row["identified"]:
        panel.axvline(row["estimate"], color=style.INK, linewidth=1.2, label="estimate")
    marks = near.assign(depth=top - curve(near["at"].to_numpy(dtype=float)))
    if len(marks):
        look = {"s": _MARK, "color": style.INK, "zorder": 4, "label": "local maximum"}
        panel.scatter(marks["at"], -marks["depth"], **look)
    if len(maxima) > len(near):
        panel.plot([], [], " ", label=f"maxima not shown: {len(maxima) - len(near)}")
    panel.set_xlim(*view)
    depth = float(np.clip(top - logs.min(), 1.0, 1.1 * _DEEP))
    panel.set(ylim=(-1.05 * depth, 0.12 * depth), ylabel="log-likelihood ratio (nats)")
    style.quiet_frame(panel, "left", "bottom")
    if both:
        _posterior(estimates, row, axes[1], at, logs)
    axes[-1].set_xlabel(style.element_label(element))
    rows = _legend(panel, figure)
    pad = None if figure is not None else 6.0 + 14 * rows
    style.title(panel, f"{style.words(name, 40)}: {estimate_text(row)}", pad=pad)
    _name_maxima(panel, marks)
    return axes


def _view(estimates: Estimates, row: pd.Series, near: pd.DataFrame) -> tuple[float, float]:
    """Return the range that includes all high maxima, the shaded values and the interval."""
    allowed = np.ravel(estimates.ranges.get(str(row["subject"]), []))
    known = row[["estimate", "low", "high"]].to_numpy(dtype=float)
    seen = np.concatenate([near["at"], allowed, known])
    seen = seen[np.isfinite(seen)]
    latent = element_of(estimates, row).latent
    if not len(seen):
        seen = np.quantile(estimates.prior()[latent.name], [0.01, 0.99])
    low, high = float(seen.min()), float(seen.max())
    share = _ROOM if np.isinf(allowed).any() else _AMPLE
    room = max(share * (high - low), float(np.nan_to_num(_ERRORS * row["se"]))) or 1.0
    return max(low - room, latent.range.low), min(high + room, latent.range.high)


def _narrowed(view: tuple[float, float], shown: Sequence[float]) -> tuple[float, float]:
    """Narrow the range to the parts near everything that must be shown."""
    first, last = min(shown), max(shown)
    room = _ROOM * (last - first) or view[1] - view[0]
    return max(view[0], first - room), min(view[1], last + room)


def _places(view: tuple[float, float], steep: Sequence[float]) -> np.ndarray:
    """Return evenly spaced values, and many more close to possible steps of the curve."""
    low, high = view
    away = (high - low) * np.concatenate([-_AROUND, [0.0], _AROUND])
    known = np.array([place for place in steep if np.isfinite(place)])
    near = (known[:, None] + away).ravel()
    at = np.union1d(np.linspace(low, high, _POINTS), near)
    return np.asarray(at[(at >= low) & (at <= high)])


def _ranges(ax: Axes, estimates: Estimates, subject: str, view: tuple[float, float]) -> None:
    """Shade the values above the threshold of the log-likelihood, and draw the threshold."""
    from scipy.stats import chi2

    colour, share = style.PRIOR, style.percent(estimates.prob)
    name: str | None = f"allowed by the data ({share})"
    for low, high in estimates.ranges.get(subject, []):
        if low <= view[1] and high >= view[0]:
            ends = np.clip([low, high], *view)
            ax.axvspan(*ends, color=colour, alpha=0.3, linewidth=1, label=name, zorder=0)
            name = None
    slack = float(chi2.ppf(estimates.prob, 1)) / 2
    ax.axhline(
        -slack, color=style.QUIET, linestyle=":", label=f"{share} threshold: {slack:.2f} nats below"
    )


def _posterior(
    estimates: Estimates, row: pd.Series, ax: Axes, at: np.ndarray, logs: np.ndarray
) -> None:
    """Draw the density (likelihood times prior), scaled by the share of draws in the view."""
    if estimates.fit is None:
        return
    element = element_of(estimates, row)
    draws = posterior_draws(estimates.fit, element, str(row["subject"]))
    prior = prior_density(element, prior_draws(estimates.fit, element), at)
    after = np.exp(logs - logs.max()) * prior
    share = np.mean((draws >= at[0]) & (draws <= at[-1]))
    after *= share / np.trapezoid(after, at)
    ax.plot(at, prior, color=style.PRIOR, linestyle="--", label="prior")
    ax.plot(at, after, color=style.colour(element), linewidth=1.6, label="posterior")
    if np.isfinite([row["low"], row["high"]]).all():
        name = f"{style.percent(estimates.prob)} interval"
        ax.axvspan(row["low"], row["high"], color=style.PRIOR, alpha=0.3, label=name, zorder=0)
    if row["identified"]:
        ax.axvline(row["estimate"], color=style.INK, linewidth=1.2, label="posterior mean")
    ax.set_xlim(at[0], at[-1])
    ax.set_ylim(bottom=0)
    ax.set(yticks=[], ylabel="density")
    ax.legend(fontsize=8, frameon=False)
    style.quiet_frame(ax, "bottom")


def _legend(ax: Axes, figure: Figure | None) -> int:
    """Add a legend below a new figure, or above given axes; return its number of rows."""
    handles, entries = ax.get_legend_handles_labels()
    if figure is None:
        look = {"ncols": 2, "fontsize": 8, "frameon": False}
        ax.legend(handles, entries, loc="lower center", bbox_to_anchor=(0.5, 1.0), **look)
    else:
        style.legend(np.array([ax]), figure, 2)
    return -(-len(entries) // 2)


def _name_maxima(ax: Axes, marks: pd.DataFrame) -> None:
    """Write the positions of the highest maxima, and their depths below the highest."""
    shown = marks[marks["depth"] <= -ax.get_ylim()[0]].sort_values("depth").head(_NAMED)
    names = [
        short(at) + (f": {depth:.2g} nats below" if depth > _SAME else "")
        for at, depth in zip(shown["at"], shown["depth"], strict=True)
    ]
    points = np.column_stack([shown["at"], -shown["depth"]])
    area = np.full(len(points), _MARK)
    write_names(ax, points, area, names, range(len(names)), all_of_them=True)
