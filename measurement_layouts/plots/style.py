"""Style of all figures: colours, markers, titles, legends, and text without mathematics."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from ..common.errors import DataError, FitError
from ..layouts import Layout
from ..layouts.drawing.style import STYLES
from ..layouts.elements import Element
from ..linking import units
from ..linking.errors import short

INK, QUIET, FAINT, RULE = "#1A1A1A", "#6B7178", "#C9CCD0", "#E3E5E8"
PRIOR = "#9AA0A6"
EXTRAPOLATED = "#B36B00"
RATE = "RdYlBu"  # failure to success; its middle is yellow, so that white can mean "no data"
AMOUNT, AMOUNT_END = "plasma", 0.88  # perceptually even; its pale end would vanish on white
METHODS = (  # Okabe and Ito's palette, and a marker each for black-and-white print
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
)
CROSS: dict[str, Any] = {"color": INK, "marker": "x", "linewidths": 1.1}
SPLIT = "crossed: separate modes"
_WIDER = 2.2  # area of a cross, in those of the point
_TITLE = 11.0  # size of titles, in points
AGGREGATE = ("#5A5A5A", "X")

type Panels = Axes | Sequence[Axes] | np.ndarray
"""Axes that are given for the panels of a figure."""


def colour(element: Element) -> str:
    """Colour of a kind of node, as in the layout's diagram."""
    return STYLES[element.latent.kind].border


def method_styles(methods: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; the aggregate's are always the same."""
    methods_named = [method for method in methods if method != "aggregate"]
    looks = {method: METHODS[number % len(METHODS)] for number, method in enumerate(methods_named)}
    return {method: looks.get(method, AGGREGATE) for method in methods}


def group_styles(groups: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each group, in order of appearance.

    Raises
    ------
    DataError
        When there are more groups than colours.
    """
    names = list(dict.fromkeys(groups))
    if len(names) > len(METHODS):
        raise DataError(f"{len(names)} groups; a figure can show {len(METHODS)}: join some")
    return method_styles(names)


def words(text: object, most: int = 60) -> str:
    """Write a text literally, on one line, without mathematics and the middle of a long text."""
    return _unmathematical(short(" ".join(str(text).split()), most))


def legend_words(text: object) -> str:
    """Write a legend entry; matplotlib would leave out one that starts with an underscore."""
    plain = words(text)
    return f"\u200a{plain}" if plain.startswith("_") else plain


def rules(ax: Axes, which: Literal["x", "y"] = "y", width: float = 0.7) -> None:
    """Draw pale rules behind everything else."""
    ax.set_axisbelow(True)
    ax.grid(axis=which, color=RULE, linewidth=width)


def cross(ax: Axes, x: Any, y: Any, cells: Any, size: float | np.ndarray = 38.0) -> None:
    """Cross out the points of means that may lie between separate modes."""
    chosen = np.asarray(cells, dtype=bool)
    if chosen.any():
        areas = _WIDER * np.broadcast_to(size, chosen.shape)[chosen]
        across, up = (np.asarray(values, dtype=float)[chosen] for values in (x, y))
        ax.scatter(across, up, s=areas, zorder=5, **CROSS)


def title(ax: Axes, text: str, *, pad: float | None = None) -> None:
    """Write a title above axes, in as many lines as it needs."""
    figure = ax.get_figure(root=True)
    width = 1.1 * ax.get_position().width * (figure.get_figwidth() if figure is not None else 6)
    ax.set_title(_wrapped(text, width), fontsize=_TITLE, pad=pad)


def heading(figure: Figure | None, text: str) -> None:
    """Write a title above a new figure, or above the middle of its only panel, if there is one."""
    if figure is None:
        return
    shown = [ax for ax in figure.axes if ax.get_visible()]
    middle = 0.5
    if len(shown) == 1:
        figure.draw_without_rendering()  # the layout
        box = shown[0].get_position()
        middle = (box.x0 + box.x1) / 2
    width = 2 * min(middle, 1 - middle) * figure.get_figwidth()
    figure.suptitle(_wrapped(text, width), x=middle, fontsize=_TITLE)


def _wrapped(text: str, width: float) -> str:
    letters = max(20, int(width * 72 / (0.58 * _TITLE)))
    return _unmathematical("\n".join(textwrap.wrap(text, letters)))


def _unmathematical(text: str) -> str:
    """Escape dollar signs that are not escaped yet."""
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def percent(share: float) -> str:
    """Write a share without rounding it: ``97.5%``."""
    return f"{100 * share:g}%"


def with_unit(name: str, unit: Any) -> str:
    """Name and unit of an axis."""
    short = units.name(unit)
    return words(f"{name} ({short})" if short else name)


def element_label(element: Element) -> str:
    """Name and unit of a profile element."""
    return with_unit(element.name, element.latent.unit)


def column_label(column: str, layout: Layout | None) -> str:
    """Name of an item's column, with its unit where a layout declares one."""
    for feature in layout.meta_features if layout is not None else ():
        if column in feature.columns:
            return with_unit(column, feature.unit)
    return words(column)


def single(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure with a size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def panels(
    ax: Panels | None,
    count: int,
    columns: int,
    size: tuple[float, float],
    *,
    sharey: bool = False,
) -> tuple[np.ndarray, Figure | None]:
    """Return the given axes, one per panel, or those of a new figure with a size in inches.

    Returns
    -------
    ndarray of Axes, Figure or None
        As many axes as panels, and the figure if it was made here.

    Raises
    ------
    FitError
        When the number of axes is not that of the panels.
    """
    if ax is not None:
        given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(given) != count:
            raise FitError(
                f"ax= has {len(given)} axes and there are {count} panels; give one for each, or "
                "leave ax= out"
            )
        return given, None
    import matplotlib.pyplot as plt

    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharey=sharey, squeeze=False, layout="constrained"
    )
    for spare in grid.ravel()[count:]:
        spare.set_visible(False)
    return grid.ravel()[:count], figure


def grid(
    ax: Panels | None,
    count: int,
    most: int,
    panel: tuple[float, float],
    around: tuple[float, float],
    least: float = 0.0,
    *,
    sharey: bool = False,
) -> tuple[np.ndarray, Figure | None, int]:
    """Return axes as `panels` does, in at most `most` columns, and the number of columns.

    A new figure has room for panels of a size, and around them; all numbers are inches, and `least`
    is the least width.
    """
    columns = min(most, count)
    width, height = panel[0] * columns + around[0], panel[1] * -(-count // columns) + around[1]
    return *panels(ax, count, columns, (max(width, least), height), sharey=sharey), columns


def outer_labels(axes: np.ndarray, columns: int, x: str, y: str, **font: float) -> None:
    """Label the axes of panels once, to the left of and below all of them."""
    for panel in axes[-columns:]:
        panel.set_xlabel(x, **font)
    for panel in axes[::columns]:
        panel.set_ylabel(y, **font)


def legend(
    axes: np.ndarray,
    figure: Figure | None,
    columns: int = 1,
    handles: Sequence[Any] | None = None,
    *,
    above: bool = False,
    **look: Any,
) -> None:
    """Explain panels, by default each of their entries once, in columns below a new figure.

    In axes that were given, the legend is under the last of them or, if asked, above the first.
    """
    shown = list(entries(axes).values()) if handles is None else handles
    look = {"handles": shown, "fontsize": 8, "frameon": False} | look
    if figure is not None:
        figure.legend(loc="outside lower center", ncols=columns, **look)
        return
    if above:
        axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.15), ncols=columns, **look)
        return
    last = axes[-1]
    sheet = last.get_figure(root=True)
    sheet.draw_without_rendering()  # the texts of the axis
    depth = (last.xaxis.get_tightbbox().y0 - last.bbox.y0) / sheet.dpi
    below = last.transAxes + ScaledTranslation(0, depth, sheet.dpi_scale_trans)
    last.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, **look)


def entries(axes: np.ndarray) -> dict[str, Any]:
    """List the legend entries of panels by name, each once."""
    looks: dict[str, Any] = {}
    for panel in axes:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            looks.setdefault(name, handle)
    return looks


def entry(name: str, colour: str = QUIET, marker: str = "none", **look: Any) -> Line2D:
    """Make a legend entry: a line with a marker."""
    return Line2D([], [], color=colour, marker=marker, label=name, **look)


def amount_map() -> Colormap:
    """Return the colours of a quantity, from dark blue (little) to orange (much)."""
    colours_kept = colormaps[AMOUNT](np.linspace(0, AMOUNT_END, 256))
    return LinearSegmentedColormap.from_list("amount", colours_kept)


def range_ends(ax: Axes, element: Element, which: Literal["x", "y"]) -> None:
    """Draw dotted lines where a node's finite range ends."""
    line = ax.axvline if which == "x" else ax.axhline
    for end in (element.latent.range.low, element.latent.range.high):
        if np.isfinite(end):
            line(end, color=QUIET, linestyle=":", linewidth=0.9, zorder=0)


def quiet_frame(ax: Axes, *sides: str) -> None:
    """Keep only some sides of the frame."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
