"""Which items of a bank a designed battery has, over what items ask for."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..batteries.demands import short_names
from ..batteries.design.result import Design
from ..common.errors import DataError
from . import style
from .kinds import of_its_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 8  # different values that are shown as they are; of more, as many ranges
_AREA = 420.0  # square points of the largest circle
_ROW, _BESIDE = 0.34, 1.7  # inches


@of_its_kind
def chosen_items_plot(design: Design, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how many items of each demand level a battery has, beside those of its bank.

    A pale circle is the part of the bank that has the value of a column, a dark one the part of the
    battery; areas are in proportion, and the number is that of the chosen items, repeats counted. A
    column of more than eight values is shown in eight ranges of equal width.

    Parameters
    ----------
    design : Design
        What `batteries.design` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A row for each column of the bank that the layout uses.

    Raises
    ------
    DataError
        When the layout uses no column.

    Examples
    --------
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
            f"layout {design.layout!r} uses no column of the bank, so there is nothing to draw "
            "items over; draw a design for a layout with meta-features"
        )
    values = [_values(design.bank[name]) for name in columns]
    levels = np.unique(np.concatenate([ticks for ticks, _ in values]))
    shared = len(levels) <= _LEVELS and not any(ranged for _, ranged in values)
    if shared:
        values = [(levels, False) for _ in columns]
    widest = max(len(ticks) for ticks, _ in values)
    axes = style.single(ax, (4.4 + 0.3 * widest, _ROW * len(columns) + _BESIDE))
    names = short_names(columns)
    for row, (name, (ticks, ranged)) in enumerate(zip(columns, values, strict=True)):
        every = _counts(design.bank[name], ticks, ranged)
        chosen = _counts(design.battery[name], ticks, ranged)
        at = np.arange(len(every)) if not shared else ticks
        height = np.full(len(every), row)
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
            style.words(name, 36) + ("" if shared else f"  {low:.3g} to {high:.3g}")
            for name, (low, high) in zip(names, low_high, strict=True)
        ],
        fontsize=8,
    )
    axes.set_ylim(len(columns) - 0.4, -0.6)
    axes.margins(x=0.08)
    if shared:
        axes.set_xticks(values[0][0])
        axes.set_xlabel("level")
    else:
        axes.set_xticks([])
        axes.set_xlabel("from low to high")
    style.title(axes, f"{len(design.battery)} items chosen (blue) of {len(design.bank)} (grey)")
    style.rules(axes)
    style.quiet_frame(axes, "bottom")
    return axes


def _values(column: pd.Series) -> tuple[np.ndarray, bool]:
    """Find the values of a column, or the ends of ranges where they are many."""
    found = np.unique(column.dropna().to_numpy(dtype=float))
    found = found[np.isfinite(found)]
    if len(found) <= _LEVELS:
        return found, False
    return np.linspace(found[0], found[-1], _LEVELS + 1), True


def _counts(column: pd.Series, ticks: np.ndarray, ranged: bool) -> np.ndarray:
    """Count items at each value, or in each range."""
    values = column.to_numpy(dtype=float)
    if ranged:
        return np.asarray(np.histogram(values, ticks)[0])
    return np.asarray((values[:, None] == ticks).sum(axis=0))
