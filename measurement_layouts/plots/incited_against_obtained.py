"""Propensities that were obtained from models against the levels to which they were incited."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.digits import short
from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..evaluations.tables import need_columns, renamed
from ..layouts.drawing.style import STYLES
from ..linking import units
from . import style

_COLUMNS = 4
_PANEL = (2.1, 2.2)  # inches
_NEEDED = ("model", "incited", "estimate", "low", "high", "identified")
_ASIDE = 1.4  # distance of the unprompted model from the lowest level, in levels
_LEGEND = ("as incited", "incited", "unprompted", "interval", "not identified", "published")
_ROOM = 0.06  # share of the vertical range that is left free above and below
_COLOUR = STYLES["propensity"].border
_PUBLISHED = style.METHODS[1][0]


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
    _check(table)
    models = {str(name): part for name, part in table.groupby("model", sort=False)}
    axes, figure, wide = style.grid(ax, len(models), _COLUMNS, _PANEL, (0.5, 1.3), 4.8)
    levels = np.unique(table["incited"].dropna().to_numpy(dtype=float))
    aside = (levels.min() if len(levels) else 0.0) - _ASIDE
    bottom, top = _limits(table, levels)
    for panel, (name, part) in zip(axes, models.items(), strict=True):
        panel.set_title(style.words(name, 24), fontsize=9)
        panel.set_xlim(aside - 0.8, (levels.max() if len(levels) else aside) + 0.6)
        panel.set_ylim(bottom, top)
        _panel(panel, part, aside, bottom, f"{mass} interval")
        panel.set_xticks([aside, *levels], ["none", *map(short, levels)])
        panel.tick_params(labelsize=8)
        style.quiet_frame(panel, "left", "bottom")
    across, up = (style.with_unit(what, units.parse(unit)) for what in ("incited to", "obtained"))
    style.outer_labels(axes, wide, across, up, fontsize=9)
    found = style.entries(axes)
    names = (f"{mass} interval" if name == "interval" else name for name in _LEGEND)
    style.heading(figure, f"{style.words(propensity)}: incited and obtained")
    shown = [found[name] for name in names if name in found]
    per_row = 2 if figure is None else max(2, round(_PANEL[0] * wide / 1.7))
    style.legend(axes, figure, per_row, shown, above=True)
    return axes


def _check(table: pd.DataFrame) -> None:
    need_columns(table.columns, _NEEDED, "the table of obtained propensities has")
    if table.empty:
        raise DataError("the table of obtained propensities is empty; give a row per incitement")
    twice = table[table.duplicated(["model", "incited"])]
    if len(twice):
        rows = (f"{row.model} at {row.incited}" for row in twice.itertuples())
        raise DataError(f"several rows of {some(rows)}; give each model and level one")
    empty = table[table["identified"].astype(bool) & table["estimate"].isna()]
    if len(empty):
        raise DataError(
            f"identified without an estimate: {some(empty['model'])}; give one, or set identified "
            "to False"
        )


def _limits(table: pd.DataFrame, levels: np.ndarray) -> tuple[float, float]:
    """Return the vertical range of all that is drawn, with room for hollow marks below."""
    known = table[table["identified"].astype(bool)]
    drawn = known[["estimate", "low", "high"]].to_numpy(dtype=float).ravel()
    if "published" in table:
        drawn = np.append(drawn, table["published"].to_numpy(dtype=float))
    seen = np.append(drawn[np.isfinite(drawn)], levels)
    low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
    room = _ROOM * ((high - low) or 1.0)
    return float(low - 2 * room), float(high + room)


def _panel(ax: Axes, part: pd.DataFrame, aside: float, bottom: float, interval: str) -> None:
    ends = ax.get_xlim()
    ax.axvline(aside + _ASIDE / 2, color=style.RULE, linewidth=0.8)
    ax.plot(
        [aside + _ASIDE, ends[1]],
        [aside + _ASIDE, ends[1]],
        color=style.FAINT,
        linestyle="--",
        linewidth=1,
        label="as incited",
        zorder=0,
    )
    unprompted = part["incited"].isna().to_numpy()
    known = part["identified"].astype(bool).to_numpy()
    at = part["incited"].fillna(aside).to_numpy(dtype=float)
    estimate, low, high = (part[name].to_numpy(dtype=float) for name in ("estimate", "low", "high"))
    limits = ax.get_ylim()
    drawn = known & ~np.isnan(low) & ~np.isnan(high)
    lower, upper = (np.clip(end[drawn], *limits) for end in (low, high))
    ax.vlines(
        at[drawn], lower, upper, color=_COLOUR, linewidth=1.2, label=interval if drawn.any() else ""
    )
    for end in (low, high):  # caps, which a point does not hide
        there = drawn & (end >= limits[0]) & (end <= limits[1])
        ax.plot(at[there], end[there], "_", color=_COLOUR, markersize=6, markeredgewidth=1)
    for which, marker, name in ((~unprompted, "o", "incited"), (unprompted, "D", "unprompted")):
        if (which & known).any():
            ax.scatter(
                at[which & known],
                estimate[which & known],
                s=9,
                marker=marker,
                color=_COLOUR,
                zorder=3,
                label=name,
            )
        if (which & ~known).any():
            ax.scatter(
                at[which & ~known],
                np.full((which & ~known).sum(), bottom),
                s=30,
                marker=marker,
                facecolors="white",
                edgecolors=style.QUIET,
                zorder=4,
                clip_on=False,
                label="not identified",
            )
    for level in estimate[unprompted & known]:
        ax.axhline(level, color=_COLOUR, linestyle=":", linewidth=0.9, zorder=0)
    if "published" in part:
        ax.scatter(
            at,
            part["published"],
            s=24,
            marker="x",
            color=_PUBLISHED,
            linewidths=1.2,
            zorder=5,
            label="published",
        )
