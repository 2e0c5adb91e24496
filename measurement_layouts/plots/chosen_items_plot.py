"""Items of a bank that a designed battery has, by the demands of the items."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..batteries.demands import short_names
from ..batteries.design.result import Design
from ..common.errors import DataError
from . import style

_LEVELS = 8  # largest number of different values of all columns for which these share an axis
_AREA = 420.0  # square points of the largest circle
_ROW, _BESIDE = 0.34, 1.7  # inches


def chosen_items_plot(design: Design, *, ax: Axes | None = None) -> Axes:
    """Draw the number of items of a battery and of its bank at each demand level.

    The area of a pale circle is the share of the bank with a value of a column, and that of a dark
    circle is the share of the battery. The number is the number of chosen items, including repeats.
    A column with more than eight values is shown in eight ranges of equal width.

    Parameters
    ----------
    design : Design
        Result of `batteries.design`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes with one row for each column of the bank that the layout uses.

    Raises
    ------
    DataError
        When `design` is something else, or the layout uses no column.

    Examples
    --------
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight = ml.Capability("sight", low=0, high=5)
    >>> smallness = ml.MetaFeature("smallness", low=0, high=5)
    >>> layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": [0, 1, 2, 3, 4, 5] * 5}, index=range(30))
    >>> chosen_items_plot(ml.batteries.design(layout, bank, n=8)).get_xlabel()
    'level'
    """
    columns = list(design.bank.columns)
    if not columns:
        raise DataError(
            f"layout {design.layout!r} uses no column of the bank, so there is nothing to draw; "
            "draw a design for a layout with meta-features"
        )
    tables = [design.over(name) for name in columns]
    levels = sorted({low for table in tables for low in table["low"]})
    whole = all((table["low"] == table["high"]).all() for table in tables)
    shared = whole and len(levels) <= _LEVELS
    widest = len(levels) if shared else max(map(len, tables))
    axes = style.single(ax, (4.4 + 0.3 * widest, _ROW * len(columns) + _BESIDE))
    names = short_names(columns)
    for row, table in enumerate(tables):
        every, chosen = (table[name].to_numpy() for name in ("bank", "battery"))
        at = table["low"].to_numpy() if shared else np.arange(len(table))
        height = np.full(len(table), row)
        grey: dict[str, Any] = {"color": style.FAINT, "linewidths": 0, "zorder": 2}
        axes.scatter(at, height, s=_AREA * every / every.sum(), **grey)
        blue = style.METHODS[0][0]
        share = chosen / max(chosen.sum(), 1)
        axes.scatter(at, height, s=_AREA * share, facecolors="none", edgecolors=blue, zorder=3)
        radii = np.sqrt(_AREA * np.maximum(share, every / every.sum()) / np.pi)
        for x, count, radius in zip(at, chosen, radii, strict=True):
            if count:
                beside: dict[str, Any] = {"xytext": (radius + 1.5, 0)}
                beside["textcoords"] = "offset points"
                axes.annotate(f"{count}", (x, row), va="center", fontsize=6.5, **beside)
    axes.set_yticks(range(len(columns)))
    low_high = [(design.bank[name].min(), design.bank[name].max()) for name in columns]
    axes.set_yticklabels(
        [
            style.words(name, 36)
            + ("" if shared else f"  {low:.3g} to {high:.3g}".replace("-", "\u2212"))
            for name, (low, high) in zip(names, low_high, strict=True)
        ],
        fontsize=8,
    )
    axes.set_ylim(len(columns) - 0.4, -0.6)
    axes.margins(x=0.08)
    if shared:
        axes.set(xticks=levels, xlabel="level")
    else:
        axes.set(xticks=[], xlabel="from low to high")
    style.title(axes, f"{len(design.battery)} items chosen (blue) of {len(design.bank)} (grey)")
    style.rules(axes)
    style.quiet_frame(axes, "bottom")
    return axes
