"""Demands of batteries: one rosette per battery, one petal per dimension, one ring per level."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Patch, Wedge

from ..batteries.demands import DemandProfile, short_names
from ..common.errors import FitError
from ..common.messages import many
from . import style

_COLUMNS = 3
_PANEL, _ALONE, _TITLE = 3.3, 4.4, 0.15  # inches
_HOLE = 0.15  # radius at which petals begin; they end at 1
_PETAL = 0.9  # width of a petal, as a share of a dimension's angle
_NAMES = 1.06  # radius of the dimensions' names
_ENTRIES = 11  # number of levels in a line of the legend
_COLOURS, _PALEST = "YlGnBu", 0.24  # pale to dark, in grey too


def demand_profile_plot(
    profiles: DemandProfile | Mapping[str, DemandProfile],
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the levels that the items of batteries demand, one panel per battery.

    Each dimension is a petal, which has one ring per level from the lowest (inside) to the highest.
    The area of a ring, not its length, is the share of items at that level, since outer rings are
    wider. A dark petal is thus a dimension with high demands, a pale petal one with low demands,
    and a petal of many colours one with many levels.

    Parameters
    ----------
    profiles : DemandProfile or mapping of str to DemandProfile
        Result of `demand_profile`, or several results by name; names are the titles.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each profile (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per profile. Petals start at the top and go clockwise, from radius 0.15 to 1.

    Raises
    ------
    FitError
        When there is no profile, or the number of axes is wrong.

    References
    ----------
    General scales paper, Figures 5 and 6.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts.batteries.demands import demand_profile
    >>> items = pd.DataFrame({"QLl": [3, 4, 4], "MS": [0, 0, 1], "KNf": [3, 3, 2]})
    >>> [ax] = demand_profile_plot({"puzzles": demand_profile(items, ["QLl", "MS", "KNf"])})
    >>> ax.get_title()
    'puzzles: 3 items'
    """
    named = {"": profiles} if isinstance(profiles, DemandProfile) else dict(profiles)
    if not named:
        raise FitError("there is no demand profile to draw; give at least one")
    side = _ALONE if len(named) == 1 else _PANEL
    axes, figure, _ = style.grid(ax, len(named), _COLUMNS, (side, side + _TITLE), (0, 0.5))
    colours = _colours(sorted({x for profile in named.values() for x in profile.levels}))
    for panel, (name, profile) in zip(axes, named.items(), strict=True):
        _rosette(panel, profile, colours)
        count = many(profile.items, "item")
        style.title(panel, f"{name}: {count}" if name else count)
    entries = [
        Patch(facecolor=fill, edgecolor=style.FAINT, linewidth=0.5, label=f"{level:g}")
        for level, fill in colours.items()
    ]
    look: dict[str, Any] = {"title": "level", "title_fontsize": 8}
    look |= {"handlelength": 1.4, "columnspacing": 1.2}
    per_row = min(len(entries), _ENTRIES)
    if figure is not None:
        style.legend(axes, figure, per_row, entries, **look)
    else:
        look |= {"ncols": per_row, "fontsize": 8, "frameon": False, "bbox_to_anchor": (0.5, 0)}
        axes[0].legend(handles=entries, loc="upper center", **look)
    return axes


def _colours(levels: list[float]) -> dict[float, str]:
    """Return each level's colour; on a scale that begins at 0, no demand is white."""
    white = levels[:1] if levels[0] == 0 else []
    coloured = [level for level in levels if level not in white]
    shades = colormaps[_COLOURS](np.linspace(_PALEST, 1, max(len(coloured), 1)))
    return dict.fromkeys(white, "white") | {
        level: to_hex(shade) for level, shade in zip(coloured, shades, strict=False)
    }


def _rosette(ax: Axes, profile: DemandProfile, colours: dict[float, str]) -> None:
    shares = profile.shares
    step = 360 / len(shares)
    petals, fills = [], []
    names = short_names(shares.index)
    for number, (name, (_, row)) in enumerate(zip(names, shares.iterrows(), strict=True)):
        angle = 90 - number * step
        ends = np.sqrt(_HOLE**2 + (1 - _HOLE**2) * np.append(0, row.to_numpy().cumsum()))
        for level, inner, outer in zip(profile.levels, ends[:-1], ends[1:], strict=True):
            if outer > inner:
                half = _PETAL * step / 2
                petals.append(Wedge((0, 0), outer, angle - half, angle + half, width=outer - inner))
                fills.append(colours[level])
        _write(ax, name, angle)
    ax.add_collection(
        PatchCollection(petals, facecolors=fills, edgecolors=style.FAINT, linewidths=0.5)
    )
    ax.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.22, 1.22), xticks=[], yticks=[])
    style.quiet_frame(ax)


def _write(ax: Axes, dimension: str, angle: float) -> None:
    """Name a petal just outside it."""
    x, y = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    ax.text(
        _NAMES * x,
        _NAMES * y,
        style.words(dimension, 12),
        ha="center" if abs(x) < 0.15 else "left" if x > 0 else "right",
        va="center" if abs(y) < 0.9 else "bottom" if y > 0 else "top",
        fontsize=7.5,
        color=style.INK,
    )
