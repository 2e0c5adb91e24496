"""Tables of coloured cells with numbers: the grammar of all heatmaps."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, LogNorm, Normalize

from . import style

_DEFAULTS: dict[str, Any] = {
    "scale": "",
    "text": "",
    "row_block": "",
    "column_block": "",
    "hatched": False,
    "framed": False,
}
_LETTERS, _LETTER = 7.5, 0.066  # size of the names in points, width of a letter in inches
_ROW = 0.24  # height of a row, in inches
_LEAST, _BAR = 4.0, 3.6  # least width of a table, and length of a colour bar, in inches
_GAP = 0.2  # between blocks, in cells
_MOST = 100  # number of rows or columns above which numbers, and some names, are left out
_DARK = 0.2  # luminance below which white is easier to read than black


@dataclass(frozen=True)
class Scale:
    """Colours of some cells: those of a value between two ends, and what the value is."""

    label: str
    colours: Colormap | str
    low: float = 0.0
    high: float = 1.0
    ticks: Mapping[float, str] | None = None
    logarithmic: bool = False

    @property
    def mapping(self) -> ScalarMappable:
        """Colours by value, as matplotlib knows them; NaN is white."""
        norm = (LogNorm if self.logarithmic else Normalize)(self.low, self.high)
        colours = mpl.colormaps.get_cmap(self.colours)
        white = {"bad": "white", **({"under": "white"} if self.logarithmic else {})}
        return ScalarMappable(norm, colours.with_extremes(**white))


def cells(
    table: pd.DataFrame,
    scales: Mapping[str, Scale] | Scale,
    *,
    ax: Axes | None = None,
    title: str = "",
    notes: Sequence[str] = (),
    bars: bool = True,
) -> Axes:
    """Draw a table as coloured cells, one for each of its lines.

    A figure has room for at most 100 rows and columns: with more, cells are smaller and without
    numbers, and only some are named.

    Parameters
    ----------
    table : DataFrame
        One line per cell: ``row``, ``column`` and ``value`` (the colour; NaN is white). Optional:
        ``text`` (what is written into the cell), ``scale`` (name of its scale), ``hatched`` and
        ``framed`` (whether the cell is), ``row_block`` and ``column_block`` (blocks of rows and
        columns, which are apart and have names).
    scales : Scale or mapping of str to Scale
        Colours, by the names of the column ``scale``; each has a bar below the table.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).
    title : str
        Title.
    notes : sequence of str
        Explanations below the table.
    bars : bool
        Whether to explain the colours by bars.

    Returns
    -------
    Axes
        Axes in which a cell is one unit wide and high; the first row is at the top.
    """
    table = table.assign(**{c: v for c, v in _DEFAULTS.items() if c not in table})
    scales = {"": scales} if isinstance(scales, Scale) else scales
    rows, columns = _places(table, "row"), _places(table, "column")
    crowd = max(len(rows), len(columns)) > _MOST
    heads = [_head(name) for _, name in columns]
    numbers = 0 if crowd else (1 + max(table["text"].str.len())) * _LETTER
    width = max(numbers, _LEAST / len(columns), 0.15)
    longest = max(len(line) for head in heads for line in head.split("\n")) * _LETTER
    upright = crowd or longest > max(width, 0.65)
    width = width if upright else max(width, longest + _LETTER)
    margin = max(len(style.words(name, 40)) for _, name in rows) * _LETTER + 0.3
    right = max(len(block) for block, _ in rows) * _LETTER
    above = longest + 0.1 if upright else 0.18 * (1 + max(h.count("\n") for h in heads))
    below = 0.65 * len(scales) + 0.2 * bool(notes)
    size = (
        margin + right + min(len(columns), _MOST) * width + 0.3,
        min(len(rows), _MOST) * _ROW + above + below + 0.9,
    )
    ax = style.single(ax, size)
    x = np.array([columns[key] for key in zip(table["column_block"], table["column"], strict=True)])
    y = np.array([rows[key] for key in zip(table["row_block"], table["row"], strict=True)])
    corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]]
    squares = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    fills = _fills(ax, table, squares, scales, edges=not crowd)
    if not crowd:
        inks = np.where(_luminance(fills) < _DARK, "white", style.INK)
        inks[table["hatched"] | table["value"].isna()] = style.QUIET
        look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": _LETTERS}
        for across, down, text, ink in zip(x + 0.5, y + 0.5, table["text"], inks, strict=True):
            if text:
                ax.text(across, down, text, color=ink, **look)
    _name(ax, rows, columns, heads, upright=upright)
    ax.set_xlabel("; ".join(notes), fontsize=_LETTERS + 1)
    for scale in scales.values() if bars else ():
        _bar(ax, scale, *size)
    lines = _name_blocks(ax, rows, columns, above, width)
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]  # the layout
    style.title(ax, title, pad=10 + 13 * lines if lines else None)
    return ax


def _places(table: pd.DataFrame, name: str) -> dict[tuple[str, str], float]:
    """Return where rows or columns begin, by block and name."""
    pairs = dict.fromkeys(zip(table[f"{name}_block"], table[name], strict=True))
    blocks = list(dict.fromkeys(block for block, _ in pairs))
    return {pair: start + _GAP * blocks.index(pair[0]) for start, pair in enumerate(pairs)}


def _head(name: str) -> str:
    return "\n".join(style.words(line, 40) for line in str(name).split("\n"))


def _fills(
    ax: Axes,
    table: pd.DataFrame,
    squares: np.ndarray,
    scales: Mapping[str, Scale],
    *,
    edges: bool,
) -> np.ndarray:
    """Draw the cells, and return their colours."""
    fills = np.ones((len(table), 4))
    for name, scale in scales.items():
        chosen = (table["scale"] == name).to_numpy()
        fills[chosen] = scale.mapping.to_rgba(table["value"][chosen].to_numpy(dtype=float))
    hatched, framed = (table[name].to_numpy(dtype=bool) for name in ("hatched", "framed"))
    fills[hatched] = 1.0
    shapes: dict[str, Any] = {"linewidths": 0.6 if edges else 0, "edgecolors": style.RULE}
    ax.add_collection(PolyCollection(list(squares), facecolors=fills, **shapes))
    if hatched.any():
        shapes = {"facecolors": "none", "edgecolors": style.FAINT, "hatch": "////", "linewidths": 0}
        ax.add_collection(PolyCollection(list(squares[hatched]), **shapes))
    if framed.any():
        shapes = {"facecolors": "none", "edgecolors": style.INK, "linewidths": 1.3, "zorder": 3}
        ax.add_collection(PolyCollection(list(squares[framed]), clip_on=False, **shapes))
    return fills


def _luminance(colours: np.ndarray) -> np.ndarray:
    """Compute the relative luminance of colours as WCAG 2 defines it, in [0, 1]."""
    light = colours[..., :3]
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


def _name(
    ax: Axes,
    rows: Mapping[tuple[str, str], float],
    columns: Mapping[tuple[str, str], float],
    heads: Sequence[str],
    *,
    upright: bool,
) -> None:
    """Name rows on the left and columns above them; frame and ticks are hidden."""
    ends = [max(starts.values()) + 1 for starts in (columns, rows)]
    ax.set(xlim=(0, ends[0]), ylim=(ends[1], 0))
    ax.xaxis.tick_top()
    steps = [-(-len(starts) // _MOST) for starts in (columns, rows)]
    across, down = (np.array([*starts.values()]) + 0.5 for starts in (columns, rows))
    names = [style.words(name, 40) for _, name in rows]
    ax.set_xticks(across[:: steps[0]], heads[:: steps[0]], rotation=90 if upright else 0)
    ax.set_yticks(down[:: steps[1]], names[:: steps[1]])
    ax.tick_params(length=0, labelsize=_LETTERS)
    style.quiet_frame(ax)


def _name_blocks(
    ax: Axes,
    rows: Mapping[tuple[str, str], float],
    columns: Mapping[tuple[str, str], float],
    above: float,
    width: float,
) -> int:
    """Name blocks of columns above their names and blocks of rows at the right; count lines."""
    lines = 0
    look: dict[str, Any] = {"fontsize": _LETTERS + 1, "annotation_clip": False}
    for block, (first, last) in _blocks(columns).items():
        text = textwrap.wrap(
            style.words(block, 40), max(int(0.9 * width * (last - first) / _LETTER), 10)
        )
        lines = max(lines, len(text))
        offset: dict[str, Any] = {"xytext": (0, 72 * above), "textcoords": "offset points"}
        middle = (first + last) / 2, 0.0
        ax.annotate("\n".join(text), middle, ha="center", va="bottom", **offset, **look)
    for block, (first, last) in _blocks(rows).items():
        middle = max(columns.values()) + 1.15, (first + last) / 2
        ax.annotate(style.words(block, 40), middle, va="center", **look)
    return lines


def _blocks(starts: Mapping[tuple[str, str], float]) -> dict[str, tuple[float, float]]:
    """Return the ends of blocks with a name."""
    ends: dict[str, tuple[float, float]] = {}
    for (block, _), start in starts.items():
        if block.strip():
            ends[block] = ends.get(block, (start, 0))[0], start + 1
    return ends


def _bar(ax: Axes, scale: Scale, width: float, height: float) -> None:
    """Explain the colours by a bar below the table."""
    shape: dict[str, Any] = {"shrink": min(1.0, _BAR / width), "aspect": 27, "pad": 0.1 / height}
    extend = "min" if scale.logarithmic else "neither"
    bar = ax.figure.colorbar(scale.mapping, ax=ax, location="bottom", extend=extend, **shape)
    bar.set_label(scale.label, fontsize=_LETTERS + 1)
    bar.ax.tick_params(labelsize=_LETTERS)
    if scale.ticks is not None:
        bar.set_ticks(list(scale.ticks), labels=list(scale.ticks.values()))
        bar.minorticks_off()
