"""Abilities or performance of models against their size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..batteries.characteristic import CharacteristicCurves
from ..common.errors import DataError, FitError
from ..common.messages import some
from ..common.options import inside
from ..evaluations.tables import known_names, need_columns, texts
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import find_elements
from . import style

_COLUMNS = 6
_PANEL = (2.0, 1.8)  # inches
_ENDS = ["mean", "low", "high"]


@dataclass(frozen=True)
class _Panels:
    """Data by panel title: one row per subject, with mean, low, high and hollow."""

    rows: dict[str, pd.DataFrame]
    limits: dict[str, tuple[float, float]]
    label: str
    title: str


def scaling_plot(
    found: CharacteristicCurves | Fit | pd.DataFrame,
    sizes: pd.Series,
    families: pd.Series | None = None,
    *,
    dimensions: Iterable[str] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw abilities or performance against the size of models, one line per family.

    There is one panel for each dimension of characteristic curves, profile element of a layout, or
    group of items in a table of performance.

    Parameters
    ----------
    found : CharacteristicCurves, Fit or DataFrame
        Result of `characteristic_curves` or `fit`; or performance: success rates, from
        `Evaluation.group_rates`, or mean forecasts of a layout, from `Forecast.summary`.
    sizes : Series
        Sizes, which are positive numbers, indexed by subject; the name of the series is the label
        of the axis. Subjects without a size are left out.
    families : Series, optional
        Names of families, indexed by subject (default: one family). Lines join the subjects of a
        family.
    dimensions : iterable of str, optional
        Panels, in this order: dimensions of curves; nodes, or elements ``node[label]``, of a
        layout; or groups (default: all; for a layout, all capabilities).
    prob : float, default 0.9
        Mass of the intervals that are computed from a fit. For a table, the mass of its intervals,
        which the title states. Curves already have intervals.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per panel. Horizontal axis: size, logarithmic; vertical axis: ability in levels,
        posterior mean in the node's unit, or share of success, with its interval, which is cut at
        the end of the axis. A hollow point is a prior-dominated ability.

    Raises
    ------
    DataError
        When no subject has a size, a size is not positive, a family is
        missing, there are too many families, or a table has other columns.
    FitError
        When a dimension is unknown, a layout has no capability, `prob` is not between 0 and 1, or
        the number of axes is wrong.

    References
    ----------
    General scales paper, section 8.2, figures 11 and 12.

    Examples
    --------
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> luck = np.random.default_rng(1).random((2, 400)) * items["logic"].to_numpy()
    >>> outcomes = pd.DataFrame(luck < [[1], [2]], ["small", "large"])
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> curves = characteristic_curves(evaluation, ["logic"])
    >>> sizes = pd.Series({"small": 1.0, "large": 70.0}, name="parameters (billions)")
    >>> scaling_plot(curves, sizes)[0].get_xlabel()
    'parameters (billions)'
    >>> len(scaling_plot(evaluation.group_rates("logic"), sizes))
    4
    """
    shown = _read(found, dimensions, inside("prob", prob, such_as=0.9))
    everybody = dict.fromkeys(who for table in shown.rows.values() for who in table.index)
    known = _sizes(list(everybody), sizes)
    groups = _groups(known, families)
    axes, figure, columns = style.grid(ax, len(shown.rows), _COLUMNS, _PANEL, (0.5, 1.4), 4.2)
    label = "size" if sizes.name is None else str(sizes.name)
    for panel, (name, table) in zip(axes, shown.rows.items(), strict=True):
        _lines(panel, table, known, groups, shown.limits[name])
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.set_ylim(*shown.limits[name])
        panel.grid(axis="y", color=style.RULE, linewidth=0.7)
        panel.set_title(style.words(name, 24), fontsize=9)
        panel.tick_params(labelsize=8)
        style.quiet_frame(panel, "left", "bottom")
    style.outer_labels(axes, columns, style.words(label, 30), shown.label, fontsize=9)
    style.heading(figure, shown.title)
    style.legend(axes, figure, 3, above=True)
    return axes


def _read(
    found: CharacteristicCurves | Fit | pd.DataFrame,
    dimensions: Iterable[str] | None,
    prob: float,
) -> _Panels:
    """Read the data of the panels from a result of any kind."""
    asked = None if dimensions is None else texts(dimensions, "the dimensions")
    if isinstance(found, CharacteristicCurves):
        return _of_curves(found, found.dimensions if asked is None else asked)
    if isinstance(found, Fit):
        return _of_fit(found, asked, prob)
    return _of_groups(found, asked, prob)


def _of_curves(curves: CharacteristicCurves, chosen: Sequence[str]) -> _Panels:
    rows = {}
    for name in chosen:
        table = pd.DataFrame([curves.row(who, name) for who in curves.subjects])
        table = table.set_index("subject").rename(columns={"ability": "mean"})
        rows[name] = table[_ENDS].astype(float).assign(hollow=False)
    highest = [table["mean"].max() for table in rows.values()]
    top = 1.08 * float(np.nanmax([curves.bins["level"].max(), *highest]))
    title = f"Ability and size, {style.percent(curves.prob)} intervals"
    return _Panels(rows, dict.fromkeys(rows, (0.0, top)), "ability (level)", title)


def _of_fit(fit: Fit, asked: Sequence[str] | None, prob: float) -> _Panels:
    capabilities = [one for one in fit.elements if one.latent.kind == "capability"]
    chosen = capabilities if asked is None else find_elements(fit.elements, asked)
    if not chosen:
        raise FitError(
            f"layout {fit.layout.name!r} has no capability; choose what to draw by dimensions=, "
            f"such as {some(one.name for one in fit.elements)}"
        )
    table = profiles(fit, prob=prob)
    rows, limits = {}, {}
    for element in chosen:
        own = rows_of(table, element, fit.subjects)
        named = own[_ENDS].assign(hollow=own["prior_dominated"])
        rows[style.element_label(element)] = named.set_axis(pd.Index(fit.subjects), axis=0)
    for element, name in zip(chosen, rows, strict=True):
        alike = [
            rows[other]
            for one, other in zip(chosen, rows, strict=True)
            if one.latent is element.latent
        ]
        low = min(float(each["low"].min()) for each in alike)
        high = max(float(each["high"].max()) for each in alike)
        limits[name] = low - 0.05 * (high - low), high + 0.05 * (high - low)
    title = f"Profile and size, {style.percent(prob)} intervals"
    return _Panels(rows, limits, "posterior mean", title)


def _of_groups(table: pd.DataFrame, asked: Sequence[str] | None, prob: float) -> _Panels:
    need_columns(table.columns, ["subject", "group", *_ENDS], "a table of performance has")
    parts = {
        str(name): part.set_index("subject")[_ENDS].assign(hollow=False)
        for name, part in table.groupby("group", sort=False)
    }
    chosen = list(parts) if asked is None else known_names(asked, pd.Index(list(parts)), "group")
    rows = {name: parts[name].set_axis(parts[name].index.astype(str), axis=0) for name in chosen}
    limits = dict.fromkeys(rows, (0.0, 1.0))
    title = f"Performance and size, {style.percent(prob)} intervals"
    return _Panels(rows, limits, "success", title)


def _sizes(drawn: Sequence[str], sizes: pd.Series) -> pd.Series:
    """Return the sizes of subjects that are drawn, in ascending order."""
    named = sizes.set_axis(texts(sizes.index, "sizes")).astype(float)
    known = named[[name for name in named.index if name in drawn]].sort_values()
    if known.empty:
        raise DataError(
            f"sizes are of {some(named.index)}, and the subjects are {some(drawn)}; index sizes by "
            "subject"
        )
    wrong = known.index[~(np.isfinite(known) & (known > 0))]
    if len(wrong):
        raise DataError(f"sizes are not positive numbers: {some(wrong)}; correct or drop them")
    return known


def _groups(sizes: pd.Series, families: pd.Series | None) -> dict[str, list[str]]:
    if families is None:
        return {"all": list(sizes.index)}
    named = families.set_axis(texts(families.index, "families"))
    missing = [name for name in sizes.index if name not in named.index]
    if missing:
        raise DataError(f"no family for {some(missing)}; give one, or leave out their sizes")
    own = named[list(sizes.index)].astype(str)
    groups = {family: list(own.index[own == family]) for family in dict.fromkeys(own)}
    if len(groups) > len(style.METHODS):
        raise DataError(
            f"{len(groups)} families; a figure can show {len(style.METHODS)}: join some of them"
        )
    return groups


def _lines(
    ax: Axes,
    table: pd.DataFrame,
    sizes: pd.Series,
    groups: dict[str, list[str]],
    limits: tuple[float, float],
) -> None:
    for place, (family, members) in enumerate(groups.items()):
        colour, marker = style.METHODS[place]
        rows, at = table.reindex(members), sizes[members]
        ends = rows["low"].clip(lower=limits[0]), rows["high"].clip(upper=limits[1])
        ax.vlines(at, *ends, color=colour, linewidth=1.6, alpha=0.6)
        label = style.legend_words(family)
        look: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 4,
            "linewidth": 1.2,
        }
        ax.plot(at, rows["mean"], label=label, **look)
        hollow = rows["hollow"].eq(True).to_numpy()
        if hollow.any():
            shape: dict[str, Any] = {**look, "linestyle": "none", "markerfacecolor": "white"}
            ax.plot(at[hollow], rows["mean"][hollow], **shape, zorder=3)
