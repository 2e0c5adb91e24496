"""Panels of rows, each with a point and its interval: the grammar of all forest plots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from . import style

_DEFAULTS: dict[str, Any] = {
    "panel": "",
    "series": "",
    "colour": None,
    "note": "",
    **dict.fromkeys(["hollow", "cross", "pale"], False),
    **dict.fromkeys(["back_low", "back_high", "back_mean", "other"], np.nan),
}
_MANY, _NAMED = 20, 100  # numbers of rows above which they are close, and not all named
_ROW, _CLOSE = 0.3, 0.165  # heights of a row, in inches
_LETTER = 0.07  # width of a letter of a name, in inches
_FRAME = 0.75  # height of the space around a panel, in inches
_SPREAD = 0.66  # share of a row's height over which its series are side by side
_PALE = 0.4  # opacity of pale marks
_WORDS = {"hollow": "hollow: prior-dominated", "cross": style.SPLIT}


def rows(
    table: pd.DataFrame,
    words: Mapping[str, str],
    *,
    ax: style.Panels | None = None,
    columns: int = 4,
    width: float = 2.3,
    title: str = "",
    labels: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    zero: bool = False,
    notes: Sequence[str] = (),
) -> np.ndarray:
    """Draw a table as panels of rows, with one mark for each of its lines.

    A figure never has more than 100 names: with more rows these are closer together, and only some
    are named.

    Parameters
    ----------
    table : DataFrame
        One line per mark: ``row`` (its name; the first is at the top), ``mean``, ``low`` and
        ``high``. Optional: ``panel``, ``series`` (marks of one row side by side), ``colour``,
        ``note`` (text at the right), ``hollow``, ``cross`` and ``pale`` (whether the mark is),
        ``back_low``, ``back_high`` and ``back_mean`` (a pale bar behind the mark, and its tick) and
        ``other`` (a second value, drawn as an open diamond).
    words : mapping of str to str
        Entries of the legend: ``mean``, and of the optional columns ``hollow``, ``cross``,
        ``pale``, ``back_low`` and ``other`` those that are used.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).
    columns : int
        Largest number of panels side by side in a new figure.
    width : float
        Width of a panel, in inches.
    title : str
        Heading of a new figure.
    labels, titles : mapping of str to str, optional
        Label of the horizontal axis, and title, by panel (default: its name, and none).
    limits : mapping of str to (float, float), optional
        Ends of the horizontal axis, by panel.
    zero : bool
        Whether to draw a line at 0.
    notes : sequence of str
        Further entries of the legend, without a mark.

    Returns
    -------
    ndarray of Axes
        One Axes per panel; the rows are at the heights 0, 1, ... from the top.
    """
    table = table.assign(**{c: v for c, v in _DEFAULTS.items() if c not in table})
    panels = {str(name): marks for name, marks in table.groupby("panel", sort=False)}
    names = {panel: list(dict.fromkeys(marks["row"])) for panel, marks in panels.items()}
    sharey = len(panels) > 1 and len(set(map(tuple, names.values()))) == 1
    looks = style.method_styles(list(dict.fromkeys(table["series"])))
    columns = min(columns, len(panels))
    counts = [len(rows) for rows in names.values()]
    tall = max(counts) > _MANY
    widest = max(len(style.words(name, 40)) for rows in names.values() for name in rows) * _LETTER
    pitch = (_CLOSE if tall else _ROW) * (1 + 0.25 * (len(looks) - 1))
    heights = [
        _FRAME + pitch * max(2, *(min(count, _NAMED) for count in counts[start : start + columns]))
        for start in range(0, len(counts), columns)
    ]
    across = columns * width + widest * (1 if sharey else columns)
    size = max(across, 5.0), sum(heights) + 1.1
    axes, figure = style.panels(ax, len(panels), columns, size, sharey=sharey)
    if figure is not None:
        axes[0].get_gridspec().set_height_ratios(heights)
    for number, (name, marks) in enumerate(panels.items()):
        panel, label = axes[number], (labels or {}).get(name, name)
        if zero:
            panel.axvline(0, color=style.QUIET, linewidth=0.9, zorder=0)
        _draw(panel, marks, names[name], looks)
        panel.set_xlabel(style.words(label, 70))
        if limits is not None and name in limits:
            panel.set_xlim(*limits[name])
        if tall:
            panel.tick_params(axis="x", top=True, labeltop=True)
        heading = (titles or {}).get(name, label if tall else "")
        if heading:
            style.title(panel, heading)
        first = not sharey or number % (columns if figure is not None else len(axes)) == 0
        _name(panel, names[name], 8 if tall else 9, shown=first)
        style.quiet_frame(panel, "bottom", *["top"] * tall)
    style.heading(figure, title)
    entries = _entries(table, looks, {**_WORDS, **words}, notes)
    longest = max(len(str(entry.get_label())) for entry in entries) * _LETTER + 0.7
    style.legend(axes, figure, int(np.clip(size[0] // longest, 1, 3)), entries)
    return axes


def _draw(
    ax: Axes, marks: pd.DataFrame, names: Sequence[str], looks: Mapping[str, tuple[str, str]]
) -> None:
    """Draw the marks of a panel, series by series."""
    crowd, tall = len(names) > _NAMED, len(names) > _MANY
    size = 5.0 if crowd else 22.0 if tall or len(looks) > 1 else 36.0
    rows = marks["row"].map({name: row for row, name in enumerate(names)}).to_numpy(dtype=float)
    low, high = marks["back_low"], marks["back_high"]
    if low.notna().any():
        ax.barh(rows, high - low, 0.86, low, color=style.RULE, linewidth=0, zorder=0)
    ticks: dict[str, Any] = {"color": style.PRIOR, "linewidth": 1.4, "zorder": 1}
    ax.vlines(marks["back_mean"], rows - 0.43, rows + 0.43, **ticks)
    for number, (series, (colour, marker)) in enumerate(looks.items()):
        chosen = (marks["series"] == series).to_numpy()
        subset = marks[chosen]
        at = rows[chosen] + _SPREAD * ((number + 0.5) / len(looks) - 0.5)
        shades = [
            to_rgba(colour if pd.isna(shade) else shade, _PALE if pale else 1.0)
            for shade, pale in zip(subset["colour"], subset["pale"], strict=True)
        ]
        lines = [(*shade[:3], 0.6 * shade[3]) for shade in shades]
        ax.hlines(at, subset["low"], subset["high"], colors=lines, linewidth=0.5 if crowd else 1.4)
        hollow = zip(subset["hollow"], shades, strict=True)
        fills = ["white" if empty else shade for empty, shade in hollow]
        ax.scatter(subset["mean"], at, size, fills, marker=marker, edgecolors=shades, zorder=3)
        diamond: dict[str, Any] = {"facecolors": "white", "edgecolors": style.INK, "zorder": 2.5}
        if subset["other"].notna().any():
            ax.scatter(subset["other"], at, 0.7 * size, marker="D", linewidths=0.8, **diamond)
        style.cross(ax, subset["mean"], at, subset["cross"], size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    style.rules(ax, "y")
    notes = marks.drop_duplicates("row").set_index("row")["note"]
    for row, note in enumerate(notes.reindex(list(names))):
        if note:
            beside: dict[str, Any] = {
                "transform": ax.get_yaxis_transform(),
                "va": "center",
                "fontsize": 7.5,
            }
            ax.text(1.02, row, note, **beside)


def _name(ax: Axes, names: Sequence[str], letters: float, *, shown: bool) -> None:
    """Name the rows, or some of them; only the first of the panels that share them has names."""
    step = -(-len(names) // _NAMED)
    at = range(0, len(names), step)
    ax.set_yticks(at, [style.words(names[row], 40) for row in at], fontsize=letters)
    ax.tick_params(axis="y", length=0, labelleft=shown)
    if step > 1 and shown:
        ax.set_ylabel(f"{len(at)} of {len(names)} are named")


def _entries(
    table: pd.DataFrame,
    looks: Mapping[str, tuple[str, str]],
    words: Mapping[str, str],
    notes: Sequence[str],
) -> list[Artist]:
    """Explain the series, and what occurs in the table."""
    look: dict[str, Any] = {"markersize": 5}
    entries: list[Artist] = [
        style.entry(style.legend_words(name), *marks, **look)
        for name, marks in looks.items()
        if len(looks) > 1
    ]
    entries.append(style.entry(words["mean"], marker="o", **look))
    if table["hollow"].any():
        entries.append(style.entry(words["hollow"], marker="o", markerfacecolor="white", **look))
    if table["cross"].any():
        entries.append(style.entry(style.SPLIT, style.INK, "x", linestyle="none", markersize=6))
    if table["pale"].any():
        entries.append(style.entry(words["pale"], marker="o", alpha=_PALE, **look))
    if table["back_low"].notna().any():
        entries.append(Patch(color=style.RULE, label=words["back_low"]))
    if table["other"].notna().any():
        diamond = {"linestyle": "none", "markerfacecolor": "white", "markersize": 4.5}
        entries.append(style.entry(words["other"], style.INK, "D", **diamond))
    return [*entries, *(style.entry(note, linestyle="none") for note in notes)]
