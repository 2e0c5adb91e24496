"""Parts of figures of characteristic curves: the line, the bins, the ability."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..batteries.characteristic import CharacteristicCurves
from ..common.digits import significant, with_interval
from ..layouts.drawing.style import STYLES
from . import style

COLOUR = STYLES["capability"].border
BELOW = -0.06  # height of the ability's interval, below the curve

_SMALLEST, _LARGEST = 10.0, 90.0  # marker areas, in square points
_POINTS = 301


def reach(curves: CharacteristicCurves, rows: pd.DataFrame) -> float:
    """Return the right end of a figure of curves: all levels, abilities, and most intervals."""
    top = float(curves.bins["level"].max()) + 1
    highs = rows["high"].astype(float).clip(upper=2 * top - curves.lowest - 1)
    return float(np.nanmax([top, *(rows["ability"] + 0.5), *(highs + 0.2)]))


def draw_line(
    ax: Axes,
    curves: CharacteristicCurves,
    row: pd.Series,
    most: float,
    *,
    colour: object = COLOUR,
    band: bool = True,
) -> None:
    """Draw a curve, dashed beyond the levels with items, and its band."""
    bins = curves.bins_of(row["subject"], row["dimension"])
    seen = bins.loc[bins["items"] > 0, "level"]
    if seen.empty:
        return
    at = np.union1d(np.linspace(curves.lowest, most, _POINTS), seen)
    line = curves.curve(row["subject"], row["dimension"], at)
    inside = line["level"].between(seen.min(), seen.max())
    look: dict[str, Any] = {"color": colour, "linewidth": 1.6}
    ax.plot(at, line["success"].where(inside), label="curve", **look)
    before, after = line["level"] <= seen.min(), line["level"] >= seen.max()
    for part, name in ((before, "beyond the items' levels"), (after, "_")):
        ax.plot(at, line["success"].where(part), linestyle=(0, (3, 2)), label=name, **look)
    if band and np.isfinite(row["low"]):
        name = f"its {style.percent(curves.prob)} band"
        ends = line["low"], line["high"]
        ax.fill_between(at, *ends, color=colour, alpha=0.18, linewidth=0, label=name)


def draw_bins(ax: Axes, bins: pd.DataFrame, most: int, prob: float) -> None:
    """Draw success rates with Wilson's intervals, larger where there are more items."""
    there = bins[bins["items"] > 0]
    ax.vlines(there["level"], there["rate_low"], there["rate_high"], color=style.INK, linewidth=0.9)
    area = _SMALLEST + (_LARGEST - _SMALLEST) * there["items"] / max(most, 1)
    name = f"success rate and {style.percent(prob)} interval; larger: more items"
    look: dict[str, Any] = {"facecolors": style.FAINT, "edgecolors": style.INK, "linewidths": 0.9}
    ax.scatter(there["level"], there["rate"], s=area, zorder=3, label=name, **look)


def draw_ability(ax: Axes, curves: CharacteristicCurves, row: pd.Series, most: float) -> None:
    """Mark the ability below the curve, and draw its interval there."""
    ability = row["ability"]
    if not np.isfinite(ability):
        return
    colour = style.METHODS[1][0]
    look: dict[str, Any] = {
        "color": colour,
        "linewidth": 2.6,
        "solid_capstyle": "butt",
        "clip_on": False,
    }
    ax.plot(
        np.minimum([row["low"], ability, row["high"]], most),
        [BELOW] * 3,
        marker="^",
        markevery=[1],
        markersize=6,
        zorder=4,
        label=f"ability and {style.percent(curves.prob)} interval",
        **look,
    )
    line = curves.curve(row["subject"], row["dimension"], np.array([ability]))
    ax.vlines(ability, BELOW, line["success"], linestyle=":", linewidth=1.1, color=colour)


def frame(ax: Axes, curves: CharacteristicCurves, most: float) -> None:
    """Set limits and ticks of levels and of the probability of success."""
    ax.axhline(0.5, color=style.RULE, linewidth=0.9, zorder=0)
    ax.set(xlim=(curves.lowest - 0.15, most), ylim=(2 * BELOW, 1.05), yticks=[0, 0.5, 1])
    step = 1 if most - curves.lowest < 8 else 2
    last = max(most, float(curves.bins["level"].max()))
    ax.set_xticks(np.arange(curves.lowest, last + 0.01, step))
    style.quiet_frame(ax, "left", "bottom")


def ability_text(row: pd.Series) -> str:
    """Write an ability and its interval.

    Examples
    --------
    >>> ability_text(pd.Series({"ability": 4.31, "low": 4.1, "high": 4.5}))
    '4.31 [4.10, 4.50]'
    """
    if not np.isfinite(row["ability"]):
        return "no curve"
    if not np.isfinite(row["low"]):
        return significant(row["ability"])
    return with_interval(row["ability"], row["low"], row["high"])
