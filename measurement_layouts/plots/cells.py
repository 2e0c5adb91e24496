"""Parts of figures that are tables of coloured cells, one unit wide and high."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.patches import Rectangle

from . import style

LETTERS, LETTER = 7.5, 0.066  # size of the names in points, width of a letter in inches
ROW = 0.24  # height of a row, in inches
BAR = 3.6  # longest colour bar, in inches
_DARK = 0.2  # luminance below which white is easier to read than black


def fill(ax: Axes, values: np.ndarray, *edges: np.ndarray, **look: Any) -> QuadMesh:
    """Colour the cells that are not NaN, between edges if they are not one unit wide and high."""
    borders: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.8}
    return ax.pcolormesh(*edges, np.ma.masked_invalid(values), **borders | look)


def inks(mesh: QuadMesh, values: np.ndarray) -> np.ndarray:
    """Choose a readable colour for a text on each value's colour, quiet where there is no value."""
    dark = _luminance(mesh.to_rgba(values)) < _DARK
    return np.select([np.isnan(values), dark], [style.QUIET, "white"], style.INK)


def _luminance(colours: np.ndarray) -> np.ndarray:
    """Compute the relative luminance of colours as WCAG 2 defines it, in [0, 1]."""
    light = colours[..., :3]
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


def write(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a text about a point, such as the middle of a cell."""
    ax.text(x, y, text, ha="center", va="center_baseline", fontsize=LETTERS, color=colour)


def hatch(ax: Axes, cells: np.ndarray) -> None:
    """Cover the cells of prior-dominated values."""
    look: dict[str, Any] = {"facecolor": "white", "edgecolor": style.FAINT, "hatch": "////"}
    for row, column in np.argwhere(cells):
        ax.add_patch(Rectangle((column, row), 1, 1, linewidth=0, zorder=1.5, **look))


def name_cells(
    ax: Axes, rows: Sequence[str], heads: Sequence[str], *, upright: bool, letters: float = LETTERS
) -> None:
    """Name rows from the top on the left, and columns above them; frame and ticks are hidden."""
    ax.set(xlim=(0, len(heads)), ylim=(len(rows), 0))
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(heads)) + 0.5, heads, rotation=90 if upright else 0)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0, labelsize=letters)
    style.quiet_frame(ax)


def bar_below(
    ax: Axes, mesh: QuadMesh, label: str, width: float, letters: float = LETTERS, **options: Any
) -> Colorbar:
    """Explain the colours by a bar below a table of a width in inches."""
    shape = {"shrink": min(1.0, BAR / width), "aspect": 25} | options
    bar = ax.figure.colorbar(mesh, ax=ax, location="bottom", **shape)
    bar.set_label(label, fontsize=letters)
    bar.ax.tick_params(labelsize=LETTERS)
    return bar
