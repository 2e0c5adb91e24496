"""Propensities: likelihoods, point collapses, response curves of bands, and incitement."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import chi2

from ..common.digits import fixed, short
from ..common.errors import FitError
from ..common.messages import many, some
from ..estimation.collapse import collapse_peak
from ..estimation.estimate import Estimates
from ..inference.model.prior import draw_prior
from ..layouts.elements import Element, elements, find_elements
from . import style
from .labels import write_names
from .lines import Look, lines

_DEEP = 20.0  # greatest depth of other maxima that are shown, in nats below the maximum
_POINTS = 2001
_AROUND = np.geomspace(1e-11, 0.1, 41)  # distances from maxima and steps, as shares of the view
_SAME = 0.005  # difference below which maxima count as equally high, in nats
_ROOM = 0.15  # share of the view that is left free on both sides
_AMPLE = 1.5  # the same share before low parts are left out


def estimated(estimates: Estimates, subject: object, node: str | None = None) -> pd.Series:
    """Return one subject's row of a table of estimates, of a node or of the only latent.

    Raises
    ------
    FitError
        When the subject or the node is unknown, or the layout has several latents and none is
        named.
    """
    table, name = estimates.table, str(subject)
    if name not in estimates.subjects:
        raise FitError(f"not in these estimates: {name}; they are of {some(estimates.subjects)}")
    rows = table[table["subject"] == name]
    if node is not None:
        rows = rows[rows["node"] == node]
    if len(rows) != 1:
        raise FitError(
            f"{name}: these estimates are of {some(dict.fromkeys(table['node']))}, and the figure "
            f"shows {node or 'one latent'}; give estimates of a layout with only that latent"
        )
    return rows.iloc[0]


def estimate_text(row: pd.Series) -> str:
    """Write an estimate and its standard error, both to two digits of the error.

    Examples
    --------
    >>> estimate_text(pd.Series({"identified": True, "estimate": -1.9375, "se": 0.1055}))
    '−1.94 ± 0.11'
    """
    if not row["identified"]:
        return "not identified"
    if not (np.isfinite(row["se"]) and row["se"] > 0):
        return fixed(row["estimate"], 2)
    decimals = min(max(1 - math.floor(math.log10(row["se"])), 0), 4)
    return f"{fixed(row['estimate'], decimals)} ± {fixed(row['se'], decimals)}"


def _element(estimates: Estimates, row: pd.Series) -> Element:
    return find_elements(elements(estimates.layout), str(row["node"]))[0]


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
    curve, element = estimates.curves[name], _element(estimates, row)
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
    top = max(float(curve(at).max()), row["log_likelihood"])
    shown = np.concatenate([at[curve(at) > top - _DEEP], near["at"]])
    room = _ROOM * np.ptp(shown) or np.ptp(at)
    at = _values(max(at[0], shown.min() - room), min(at[-1], shown.max() + room), steep)
    depth = float(np.clip(top - curve(at).min(), 1.0, 1.1 * _DEEP))
    mass, slack = style.percent(estimates.prob), float(chi2.ppf(estimates.prob, 1)) / 2
    table = pd.concat(
        [
            pd.DataFrame({"series": "curve", "x": at, "y": curve(at) - top}),
            pd.DataFrame({"series": "threshold", "x": at[[0, -1]], "y": -slack}),
            pd.DataFrame({"series": "maximum", "x": near["at"], "y": -near["below"]}),
        ]
    )
    deeper = len(maxima) - len(near)
    looks = {
        "curve": Look(style.colour(element), "log-likelihood", "-"),
        "threshold": Look(style.QUIET, f"{mass} threshold: {slack:.2f} nats below", ":"),
        "maximum": Look(style.INK, f"local maximum; not shown: {deeper}", marker="o"),
    }
    allowed = style.entry(f"allowed by the data ({mass})", style.RULE, linewidth=7)
    (panel,) = lines(
        table,
        looks,
        ax=ax,
        size=(5.8, 3.4),
        title=f"{style.words(name, 40)}: {estimate_text(row)}",
        x=style.element_label(element),
        y="log-likelihood ratio (nats)",
        xlim=(at[0], at[-1]),
        ylim=(-1.05 * depth, 0.12 * depth),
        entries=(allowed, style.entry("estimate", style.INK)),
    )
    for low, high in estimates.ranges[name]:
        panel.axvspan(*np.clip([low, high], at[0], at[-1]), color=style.RULE, zorder=0)
    if row["identified"]:
        panel.axvline(row["estimate"], color=style.INK, linewidth=1.2)
    named = near[near["below"] <= 1.05 * depth]
    texts = [
        short(value) + (f": {below:.2g} nats below" if below > _SAME else "")
        for value, below in zip(named["at"], named["below"], strict=True)
    ]
    write_names(panel, named["at"], -named["below"], texts, every=True)
    return panel  # type: ignore[no-any-return]


def _values(low: float, high: float, steep: np.ndarray) -> np.ndarray:
    """Return evenly spaced values, and many more close to possible steps of the curve."""
    away = (high - low) * np.concatenate([-_AROUND, [0.0], _AROUND])
    at = np.union1d(np.linspace(low, high, _POINTS), (steep[:, None] + away).ravel())
    return np.asarray(at[(at >= low) & (at <= high)])


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
    ends = tried[["low", "high"]].to_numpy(dtype=float)
    finite = ends[np.isfinite(ends)]
    view = finite.min() - 0.03 * np.ptp(finite), finite.max() + 0.03 * np.ptp(finite)
    gaps = np.append(0, np.cumsum(ends[1:, 0] > ends[:-1, 1]))
    steps = {"x": np.clip(ends, *view).ravel(), "y": np.repeat(tried["success"].to_numpy(), 2)}
    table = pd.DataFrame({**steps, "series": "collapse", "part": np.repeat(gaps, 2)})
    title, label, entries, marks = "Point collapse", "propensity", [], []
    if estimates is not None:
        if subject is None and len(estimates.subjects) > 1:
            raise FitError(
                f"the estimates are of {some(estimates.subjects)}; choose one with subject="
            )
        row = estimated(estimates, estimates.subjects[0] if subject is None else subject)
        label = style.element_label(_element(estimates, row))
        title = f"{style.words(row['subject'], 40)}: point collapse and estimate"
        entries.append(style.entry(f"estimate: {estimate_text(row)}", style.INK))
        marks += [(row["estimate"], style.INK, "-")] * bool(row["identified"])
    if truth is not None:
        entries.append(style.entry(f"truth: {short(truth)}", style.METHODS[1][0], linestyle="--"))
        marks.append((truth, style.METHODS[1][0], "--"))
    low, high = fixed(peak["low"], 2), fixed(peak["high"], 2)
    rate = f"{fixed(peak['success'], 2)} of {many(int(peak['trials']), 'trial')}"
    if peak["success"] > 0:
        name = f"its peak: {low if low == high else f'{low} to {high}'}, {rate}"
        entries.append(style.entry(name, style.METHODS[0][0], linewidth=7, alpha=0.25))
    (panel,) = lines(
        table,
        {"collapse": Look(label="point collapse", line="-")},
        ax=ax,
        size=(5.6, 3.0),
        title=title,
        x=label,
        y="success rate of the bands around it",
        xlim=view,
        ylim=(-0.02, 1.03),
        entries=tuple(entries),
    )
    if peak["success"] > 0:
        span = np.clip(peak[["low", "high"]].to_numpy(dtype=float), *view)
        panel.axvspan(*span, color=style.METHODS[0][0], alpha=0.25, linewidth=1.5)
    for at, colour, line in marks:
        panel.axvline(at, color=colour, linestyle=line, linewidth=1.6)
    return panel  # type: ignore[no-any-return]
