"""Names beside points, placed without overlaps."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from . import style

_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_NEAR, _FAR = (3.0, 10.0), (3.0, 10.0, 20.0, 32.0, 46.0, 62.0, 80.0)  # points from the marker
_CLEAR = 5.0  # least distance of a name from other points, in pixels
_ALIGN = {-1: "right", 0: "center", 1: "left"}
_ALIGN_Y = {-1: "top", 0: "center", 1: "bottom"}


def spread(points: np.ndarray, count: int) -> list[int]:
    """Choose points far from each other: first the extremes, then repeatedly the farthest one.

    Parameters
    ----------
    points : ndarray, shape (points, 2)
        Coordinates, on comparable scales.
    count : int
        Number of points to choose.

    Returns
    -------
    list of int
        Positions of the points, in the order chosen.
    """
    ends = [*points.argmin(axis=0), *points.argmax(axis=0)]
    chosen = [int(place) for place in dict.fromkeys(ends)][:count]
    distance = np.min([np.hypot(*(points - points[place]).T) for place in chosen], axis=0)
    while len(chosen) < min(count, len(points)):
        place = int(distance.argmax())
        if distance[place] <= 0:
            break
        chosen.append(place)
        distance = np.minimum(distance, np.hypot(*(points - points[place]).T))
    return chosen


def write_names(
    ax: Axes,
    points: np.ndarray,
    area: np.ndarray,
    names: Sequence[str],
    order: Sequence[int],
    *,
    all_of_them: bool,
) -> list[Annotation]:
    """Write names beside their points where there is room.

    Parameters
    ----------
    ax : Axes
        Axes that are complete except for the names: they have limits, legend and colour bar.
    points : ndarray, shape (points, 2)
        Coordinates of the markers.
    area : ndarray, shape (points,)
        Areas of the markers, in square points as for ``scatter``.
    names : sequence of str
        Name of each point.
    order : sequence of int
        Points to name, the most important first.
    all_of_them : bool
        Whether to write a name even if it covers something; otherwise such a name is left out.

    Returns
    -------
    list of Annotation
        The names that were written.
    """
    figure = ax.get_figure(root=True)
    if figure is None or not len(order):
        return []
    figure.draw_without_rendering()  # settles the layout, so that places are final
    pixels = figure.dpi / 72
    centres = ax.transData.transform(points)
    radii = np.sqrt(area) / 2 * pixels
    markers = [
        Bbox.from_bounds(cx - r, cy - r, 2 * r, 2 * r)
        for (cx, cy), r in zip(centres, radii, strict=True)
    ]
    legend = ax.get_legend()
    taken = [] if legend is None else [legend.get_window_extent()]
    written = []
    for place in order:
        note = ax.annotate(
            names[place],
            (points[place, 0], points[place, 1]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            color=style.INK,
            zorder=6,
            arrowprops={
                "arrowstyle": "-",
                "color": style.QUIET,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": radii[place] / pixels,
            },
            path_effects=[withStroke(linewidth=2.2, foreground="white")],
        )
        note.set_in_layout(False)  # the layout is settled
        others = [box for which, box in enumerate(markers) if which != place]
        cost = _least_cost(
            note, ax, radii[place] / pixels, others, taken, _FAR if all_of_them else _NEAR
        )
        if cost and not all_of_them:
            note.remove()
            continue
        taken.append(_frame(note))
        written.append(note)
    return written


def _least_cost(
    note: Annotation,
    ax: Axes,
    radius: float,
    markers: list[Bbox],
    texts: list[Bbox],
    rings: Sequence[float],
) -> float:
    """Move a name to the nearest free place; return the area that it covers there."""
    inside = ax.get_window_extent()
    best: tuple[float, tuple[float, float], tuple[int, int], bool] | None = None
    for ring in rings:
        for right, up in _DIRECTIONS:
            away = (radius + ring) / np.hypot(right, up)
            offset = (right * away, up * away)
            _move(note, offset, (right, up))
            box = _frame(note).padded(1)
            cost = sum(_overlap(box.padded(_CLEAR), other) for other in markers)
            cost += 4 * sum(_overlap(box, other) for other in texts)
            cost += 8 * (box.width * box.height - _overlap(box, inside))
            if best is None or cost < best[0] - 1e-6:
                best = (cost, offset, (right, up), ring > rings[0])
            if cost <= 1e-6:
                break
        if best is not None and best[0] <= 1e-6:
            break
    if best is None:
        return 0.0
    _move(note, best[1], best[2])
    if note.arrow_patch is not None:
        note.arrow_patch.set_visible(best[3])  # a line leads to a point that is not next to it
    return best[0] if best[0] > 1e-6 else 0.0


def _frame(note: Annotation) -> Bbox:
    """Return the box of a name, without its line."""
    note.get_window_extent()  # moves the text to its point
    return Text.get_window_extent(note)


def _move(note: Annotation, offset: tuple[float, float], side: tuple[int, int]) -> None:
    note.set_position(offset)
    note.set_horizontalalignment(_ALIGN[side[0]])  # type: ignore[arg-type]
    note.set_verticalalignment(_ALIGN_Y[side[1]])  # type: ignore[arg-type]


def _overlap(one: Bbox, other: Bbox) -> float:
    """Compute the area in common, in square pixels."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return float(max(width, 0) * max(height, 0))
