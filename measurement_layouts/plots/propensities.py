"""Propensities: likelihoods, point collapses, response curves of bands, and incitement."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import chi2

from ..common.digits import fixed, short
from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..common.options import inside, positive
from ..estimation.collapse import collapse_peak
from ..estimation.estimate import Estimates
from ..evaluations.tables import need_columns, renamed
from ..inference.model.prior import draw_prior
from ..layouts.drawing.style import STYLES
from ..layouts.elements import Element, elements, find_elements
from ..linking import band, bilogistic, units
from . import style
from .labels import write_names
from .lines import Look, lines

type Ends = tuple[float, float]

_DEEP = 20.0  # greatest depth of other maxima that are shown, in nats below the maximum
_POINTS = 2001
_AROUND = np.geomspace(1e-11, 0.1, 41)  # distances from maxima and steps, as shares of the view
_SAME = 0.005  # difference below which maxima count as equally high, in nats
_ROOM = 0.15  # share of the view that is left free on both sides
_AMPLE = 1.5  # the same share before low parts are left out
_REACH = 4.0  # distance that a panel shows beyond the ends, in logits of slope `slope`
_NEEDED = ("model", "incited", "estimate", "low", "high", "identified")
_ASIDE = 1.4  # distance of the unprompted model from the lowest level, in levels
_COLOUR = STYLES["propensity"].border


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
        short(place) + (f": {below:.2g} nats below" if below > _SAME else "")
        for place, below in zip(named["at"], named["below"], strict=True)
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


def band_curves(
    bands: Ends | Sequence[Ends],
    slope: float = 1.0,
    *,
    unit: str | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw success by propensity for one or several bands, normalised in three ways.

    The product of two logistic functions,
    :math:`\sigma(a(\theta - b_l))\,\sigma(a(b_u - \theta))`, is below 1 everywhere. Divided by its
    peak, it is above 0.5 at the ends. `band` is 1 in the middle and about 0.5 at the ends, since
    its slope grows as the band narrows.

    Parameters
    ----------
    bands : (float, float) or sequence of (float, float)
        Lower and upper end of each band; one of the two may be infinite.
    slope : float, default 1
        Slope `a`, per unit of the propensity; positive.
    unit : str, optional
        Unit of the propensity, for the axis.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each band (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per band, with the band as its title. The band is shaded; a dotted line marks
        success of 0.5. A band narrower than 0.1 has the curve of `band`, which widens it.

    Raises
    ------
    DataError
        When a band is not a pair of ascending numbers with a finite end.
    FitError
        When the slope is not positive, or the number of axes is wrong.
    LayoutError
        When `unit` cannot be read.

    References
    ----------
    Propensities paper, Eq. 2 to 5, figures 1, 2 (top) and 4.

    Examples
    --------
    >>> band_curves([(-2, 4), (0.5, 1)])[1].get_title()
    '[0.5, 1]'
    """
    pairs = _pairs(bands)
    steepness = positive("slope", slope, such_as=1)
    looks = {
        "product of two logistics": Look(style.METHODS[0][0], "product of two logistics", "-"),
        "scaled": Look(style.METHODS[4][0], "product, scaled to a peak of 1", "--"),
        "band": Look(style.METHODS[2][0], "band: scaled, and steeper where narrow", "-"),
    }
    parts = []
    for low, high in pairs:
        finite = [end for end in (low, high) if np.isfinite(end)]
        first, last = min(finite) - _REACH / steepness, max(finite) + _REACH / steepness
        close = np.concatenate([np.linspace(end - 0.5, end + 0.5, 101) for end in finite])
        at = np.union1d(np.linspace(first, last, 401), np.clip(close, first, last))
        product = bilogistic(at, low, high, steepness, steepness)
        peak = bilogistic((low + high) / 2, low, high, steepness, steepness)
        for series, values in zip(
            looks, (product, product / peak, band(at, low, high, steepness)), strict=True
        ):
            panel = {"panel": _name((low, high)), "series": series, "x": at, "y": values}
            parts.append(pd.DataFrame(panel))
    axes = lines(
        pd.concat(parts),
        looks,
        ax=ax,
        columns=min(math.ceil(math.sqrt(len(pairs))), 4),
        size=(2.9, 2.2),
        title=f"Response curves of bands, slope {short(steepness)}",
        x=style.with_unit("propensity", units.parse(unit)),
        y="probability of success",
        ylim=(0, 1.05),
        entries=(style.entry("ideal band", STYLES["propensity"].fill, linewidth=7),),
    )
    for ends, panel in zip(pairs, axes, strict=True):
        view = panel.get_xlim()
        panel.axvspan(*np.clip(ends, *view), color=STYLES["propensity"].fill, zorder=0)
        panel.axhline(0.5, color=style.QUIET, linestyle=":", linewidth=0.9)
        panel.set(xlim=view, yticks=[0, 0.5, 1])
    return axes


def _pairs(bands: Ends | Sequence[Ends]) -> list[Ends]:
    """Read one or several bands, each a pair of ascending numbers with a finite end."""
    try:
        values = np.asarray(bands, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    values = values[None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise DataError(
            f"bands={bands!r}; give a pair of numbers, as in (-2, 4), or a list of them"
        )
    for low, high in values:
        if not low < high or np.isinf([low, high]).all():
            raise DataError(
                f"the band {_name((low, high))} is empty or has no finite end; give its lower and "
                "then its upper end, one of them finite"
            )
    return [(float(low), float(high)) for low, high in values]


def _name(ends: Ends) -> str:
    left, right = ("(" if np.isinf(ends[0]) else "["), (")" if np.isinf(ends[1]) else "]")
    return f"{left}{short(ends[0])}, {short(ends[1])}{right}"


def incited_against_obtained(
    table: pd.DataFrame,
    propensity: str = "propensity",
    *,
    unit: str = "level",
    columns: Mapping[str, str] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw obtained propensities against incited levels, one panel per model.

    Parameters
    ----------
    table : DataFrame
        One row per model and incitement: ``model``, ``incited`` (missing without a prompt),
        ``estimate``, ``low``, ``high`` (ends of its interval, which may be infinite) and
        ``identified``; optionally ``published``, another estimate to draw beside.
    propensity : str
        Name of the propensity, for the title.
    unit : str, default "level"
        Unit of both axes.
    columns : mapping of str to str, optional
        Names of the table's columns, by the names above, such as ``{"model": "who"}``.
    prob : float, default 0.9
        Mass or confidence of the intervals, as given to `estimate`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each model (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per model, in the table's order. Diamonds at the left are models without a prompt.
        Hollow marks at the bottom mean that the data do not identify an estimate.

    Raises
    ------
    DataError
        When a column is missing, the table is empty, a model has a level
        twice, or an identified row has no estimate.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Propensities paper, section 5.1 and appendix G.

    Examples
    --------
    >>> table = pd.DataFrame({"model": "A", "incited": [-3, 3, None], "estimate": [-2.2, 2.4, None],
    ...                       "low": [-2.4, 2.1, None], "high": [-2.0, 2.6, None],
    ...                       "identified": [True, True, False]})
    >>> incited_against_obtained(table, "risk aversion")[0].get_title()
    'A'
    """
    mass = style.percent(inside("prob", prob, such_as=0.9))
    table = renamed(table, columns, [*_NEEDED, "published"], [*_NEEDED, "published"])
    need_columns(table.columns, _NEEDED, "the table of obtained propensities has")
    table = table.assign(identified=table["identified"].astype(bool))
    twice = table[table.duplicated(["model", "incited"])]
    if table.empty or len(twice):
        pairs = (f"{row.model} at {row.incited}" for row in twice.itertuples())
        fault = f"several rows of {some(pairs)}" if len(twice) else "no rows"
        raise DataError(f"the table has {fault}; give each model and level one")
    empty = table[table["identified"] & table["estimate"].isna()]
    if len(empty):
        raise DataError(
            f"identified without an estimate: {some(empty['model'])}; give one, or set identified "
            "to False"
        )
    levels = np.unique(table["incited"].dropna().to_numpy(dtype=float))
    aside = (levels.min() if len(levels) else 0.0) - _ASIDE
    known = table[["estimate", "low", "high"]].where(table["identified"]).to_numpy(dtype=float)
    values = np.concatenate([known[np.isfinite(known)], levels, table.get("published", [])])
    bottom, top = np.nanmin(values, initial=0.0), np.nanmax(values, initial=0.0)
    bottom, top = bottom - 0.12 * ((top - bottom) or 1), top + 0.06 * ((top - bottom) or 1)
    points = table.assign(
        panel=table["model"].astype(str),
        series=np.where(table["incited"].isna(), "unprompted", "incited"),
        x=table["incited"].fillna(aside).astype(float),
        y=table["estimate"].where(table["identified"]),
        low=table["low"].where(table["identified"]).clip(lower=bottom, upper=top),
        high=table["high"].where(table["identified"]).clip(lower=bottom, upper=top),
    )
    unknown = points[~points["identified"]].assign(
        series="not identified", y=bottom, hollow=True, low=np.nan
    )
    models = list(dict.fromkeys(points["panel"]))
    first, last = aside + _ASIDE, levels.max() if len(levels) else aside
    ends = [first, last]
    diagonals = [
        pd.DataFrame({"panel": name, "series": "as incited", "x": ends, "y": ends})
        for name in models
    ]
    parts = [*diagonals, points, unknown]
    if "published" in points:
        parts.append(points.assign(series="published", y=points["published"], low=np.nan))
    looks = {
        "as incited": Look(style.FAINT, "as incited", "--", width=1.0),
        "incited": Look(_COLOUR, f"incited, {mass} interval", marker="o", area=9),
        "unprompted": Look(_COLOUR, f"unprompted, {mass} interval", marker="D", area=9),
        "not identified": Look(style.QUIET, "not identified", marker="o", area=30),
        "published": Look(style.METHODS[1][0], "published", marker="x", area=24),
    }
    axes = lines(
        pd.concat(parts, ignore_index=True),
        looks,
        ax=ax,
        size=(2.1, 2.2),
        title=f"{style.words(propensity)}: incited and obtained",
        x=style.with_unit("incited to", units.parse(unit)),
        y=style.with_unit("obtained", units.parse(unit)),
        xlim=(aside - 0.8, last + 0.6),
        ylim=(bottom, top),
    )
    for name, panel in zip(models, axes, strict=True):
        panel.set_xticks([aside, *levels], ["none", *map(short, levels)])
        panel.axvline(aside + _ASIDE / 2, color=style.RULE, linewidth=0.8)
        own = points[(points["panel"] == name) & (points["series"] == "unprompted")]
        for level in own["y"].dropna():
            panel.axhline(level, color=_COLOUR, linestyle=":", linewidth=0.9, zorder=0)
    return axes
