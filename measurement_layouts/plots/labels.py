"""Names beside points, as many as there is room for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from . import style

_SIDES = (("left", "bottom"), ("left", "top"), ("right", "bottom"), ("right", "top"))
_AWAY = 4.0  # distance of a name from its point, in points
_MOST = 25  # largest number of names that are tried


def write_names(ax: Axes, x: Any, y: Any, names: Sequence[object], *, every: bool = False) -> None:
    """Write names beside points, first those far from the others, without covering anything.

    Parameters
    ----------
    ax : Axes
        Axes that are complete except for the names: they have limits, legend and colour bar.
    x, y : array_like
        Coordinates of the points.
    names : sequence
        Name of each point; an empty one is not written.
    every : bool
        Whether to write names for which there is no room.
    """
    points_at = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
    if not len(points_at):
        return
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()  # type: ignore[union-attr]  # the layout is settled
    centres = ax.transData.transform(points_at)
    taken = [Bbox.from_bounds(centre[0] - 3, centre[1] - 3, 6, 6) for centre in centres]
    legend = ax.get_legend()
    taken += [] if legend is None else [legend.get_window_extent()]
    order, pale = _spread(centres), [withStroke(linewidth=2.2, foreground="white")]
    for index in order[: None if every else _MOST]:
        text = style.words(list(names)[index], 40)
        for across, up in _SIDES if text else ():
            offset = _AWAY * (1 - 2 * (across == "right")), _AWAY * (1 - 2 * (up == "top")) / 2
            look: dict[str, Any] = {"ha": across, "va": up, "fontsize": 8, "zorder": 6}
            look |= {"textcoords": "offset points", "path_effects": pale}
            note = ax.annotate(text, tuple(points_at[index]), offset, **look)
            note.set_in_layout(False)
            box = note.get_window_extent()
            beside = [other for which, other in enumerate(taken) if which != index]
            inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 and box.y1 <= ax.bbox.y1
            if (inside and not box.count_overlaps(beside)) or (
                every and (across, up) == _SIDES[-1]
            ):
                taken.append(box)
                break
            note.remove()


def _spread(points: np.ndarray) -> list[int]:
    """Order points: first the extremes, then repeatedly the one farthest from those before."""
    ends = [*points.argmin(axis=0), *points.argmax(axis=0)]
    order = [int(index) for index in dict.fromkeys(ends)]
    distance = np.min([np.hypot(*(points - points[index]).T) for index in order], axis=0)
    while len(order) < len(points):
        distance[order] = -1.0
        order.append(int(distance.argmax()))
        distance = np.minimum(distance, np.hypot(*(points - points[order[-1]]).T))
    return order
