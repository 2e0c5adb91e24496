"""Panels of curves and points with intervals: the grammar of all figures with two numeric axes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from . import style

_DEFAULTS: dict[str, Any] = {
    "panel": "",
    "series": "",
    "part": "",
    "hollow": False,
    **dict.fromkeys(["low", "high", "area"], np.nan),
}
_LETTER = 0.065  # width of a letter of the legend, in inches


@dataclass(frozen=True)
class Look:
    """How a series is drawn: its line, its points, its intervals, and its name in the legend."""

    colour: str = style.METHODS[0][0]
    label: str = ""
    line: Any = ""
    marker: str = ""
    band: bool = False
    width: float = 1.6
    alpha: float = 1.0
    area: float = 22.0

    def entry(self) -> Artist:
        """Make the legend's entry."""
        size = min(6.0, self.area**0.5)
        look: dict[str, Any] = {"linestyle": self.line or "none", "linewidth": self.width}
        look |= {"markersize": size, "alpha": self.alpha}
        return style.entry(
            style.legend_words(self.label), self.colour, self.marker or "none", **look
        )


def lines(
    table: pd.DataFrame,
    looks: Mapping[str, Look],
    *,
    ax: style.Panels | None = None,
    columns: int = 4,
    size: tuple[float, float] = (2.4, 2.2),
    title: str = "",
    titles: Mapping[str, str] | None = None,
    x: str = "",
    y: str = "",
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    entries: tuple[Artist, ...] = (),
) -> np.ndarray:
    """Draw a table as panels of lines, points and intervals.

    Parameters
    ----------
    table : DataFrame
        One line per point: ``x`` and ``y``. Optional: ``panel``, ``series``, ``part`` (points of a
        series that are joined by one line), ``low`` and ``high`` (its interval), ``hollow``
        (whether the point is) and ``area`` (of its marker, in square points).
    looks : mapping of str to Look
        How each series is drawn; the last is on top.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).
    columns : int
        Largest number of panels side by side in a new figure.
    size : (float, float)
        Width and height of a panel, in inches.
    title : str
        Heading of a new figure, or title of its only panel.
    titles : mapping of str to str, optional
        Titles of panels (default: their names).
    x, y : str
        Labels of the axes, written once at the left and below.
    xlim, ylim : (float, float), optional
        Ends of the axes.
    entries : tuple of Artist
        Further entries of the legend.

    Returns
    -------
    ndarray of Axes
        One Axes per panel.
    """
    table = table.assign(**{c: v for c, v in _DEFAULTS.items() if c not in table})
    table = table.fillna({c: v for c, v in _DEFAULTS.items() if c in ("panel", "part", "hollow")})
    panels = {str(name): marks for name, marks in table.groupby("panel", sort=False)}
    axes, figure, columns = style.grid(ax, len(panels), columns, size, (0.6, 1.2), 4.6)
    for (name, marks), panel in zip(panels.items(), axes, strict=True):
        for order, (series, look) in enumerate(looks.items()):
            subset = marks[marks["series"] == series]
            if len(subset):
                _draw(panel, subset, look, 2 + 0.01 * order)
        if xlim is not None:
            panel.set_xlim(xlim)
        if ylim is not None:
            panel.set_ylim(ylim)
        panel.tick_params(labelsize=8)
        heading = (titles or {}).get(name, style.words(name, 34))
        if len(panels) > 1 or name:
            panel.set_title(heading, fontsize=9)
        elif title:
            style.title(panel, title)
        style.rules(panel)
        style.quiet_frame(panel, "left", "bottom")
    style.outer_labels(axes, columns, x, y, fontsize=9)
    if len(panels) > 1 or "" not in panels:
        style.heading(figure, title)
    shown = set(table["series"])
    handles = [look.entry() for name, look in looks.items() if look.label and name in shown]
    handles += entries
    if handles:
        longest = max(len(str(entry.get_label())) for entry in handles) * _LETTER + 0.8
        width = figure.get_figwidth() if figure is not None else size[0]
        style.legend(axes, figure, int(np.clip(width // longest, 1, len(handles))), handles)
    return axes


def _draw(ax: Axes, subset: pd.DataFrame, look: Look, order: float) -> None:
    """Draw a series: its lines, intervals and points."""
    ink: dict[str, Any] = {"color": look.colour, "alpha": look.alpha}
    for _, piece in subset.groupby("part", sort=False):
        if look.line:
            line = {**ink, "linestyle": look.line, "linewidth": look.width, "zorder": order}
            ax.plot(piece["x"], piece["y"], **line)
        if look.band and piece["low"].notna().any():
            shade: dict[str, Any] = {"color": look.colour, "alpha": 0.18, "linewidth": 0}
            ax.fill_between(piece["x"], piece["low"], piece["high"], zorder=order - 1, **shade)
    if not look.band and subset["low"].notna().any():
        pale: dict[str, Any] = {"color": look.colour, "alpha": 0.6 * look.alpha, "linewidth": 1.2}
        ax.vlines(subset["x"], subset["low"], subset["high"], zorder=order, **pale)
        caps: dict[str, Any] = {"color": look.colour, "markersize": 4, "linestyle": "none"}
        for ends in (subset["low"], subset["high"]):
            ax.plot(subset["x"], ends, marker="_", zorder=order, **caps)
    if look.marker:
        fills = np.where(subset["hollow"].astype(bool), "white", look.colour)
        edges = look.colour if look.marker in "x_|" else [look.colour] * len(subset)
        marks: dict[str, Any] = {"marker": look.marker, "alpha": look.alpha, "zorder": order + 0.5}
        areas = subset["area"].fillna(look.area)
        if look.marker in "x_|+":
            ax.scatter(subset["x"], subset["y"], areas, color=look.colour, **marks)
        else:
            ax.scatter(subset["x"], subset["y"], areas, facecolors=fills, edgecolors=edges, **marks)
