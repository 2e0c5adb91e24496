"""Share of the items' difficulty that the declared demands explain."""

import numpy as np
from matplotlib.axes import Axes

from ..common.digits import fixed
from ..common.errors import DataError
from ..validation.criticism.population.explained import Explained
from . import style

_SIZE = (6.2, 3.4)  # inches
_BINS = 40
_TALLEST = 0.8  # height of the tallest column, as a share of the distance of two rows


def explained_plot(explained: Explained, *, ax: Axes | None = None) -> Axes:
    """Draw the share of the items' difficulty that demands explain, for these and for new items.

    Each row has a histogram of posterior draws, with the mean as a point and the interval as a
    line. Below one half, the items' own effects vary more than their demands.

    Parameters
    ----------
    explained : Explained
        Result of `explained`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: the share, from 0 to 1.

    Raises
    ------
    DataError
        When `explained` is something else, or there is no share to draw.

    Examples
    --------
    >>> import pandas as pd
    >>> draws = pd.DataFrame({"these items": [0.4, 0.5, 0.6], "new items": [0.3, 0.5, 0.7]})
    >>> table = pd.DataFrame({"share": 0.5, "low": [0.4, 0.3], "high": [0.6, 0.7],
    ...                       "demands_sd": 1.0, "own_sd": 1.0, "remark": ""}, draws.columns)
    >>> panel = explained_plot(Explained(table, draws, 0.9))
    >>> [label.get_text().splitlines()[0] for label in panel.get_yticklabels()]
    ['these items', 'new items']
    """
    table = explained.table
    if table["share"].isna().any():
        raise DataError(f"there is no share to draw: {table['remark'].iloc[0]}")
    panel = style.single(ax, _SIZE)
    hills = {name: np.histogram(explained.draws[name], _BINS, (0, 1)) for name in table.index}
    most = max(int(each.max()) for each, _ in hills.values())
    for place, (name, (each, edges)) in enumerate(hills.items()):
        floor, row = float(len(table) - 1 - place), table.loc[name]
        colour, marker = style.METHODS[place]
        panel.stairs(
            floor + _TALLEST * each / most,
            edges,
            baseline=floor,
            fill=True,
            color=colour,
            alpha=0.25,
            linewidth=0,
        )
        level = floor - 0.08
        panel.hlines(level, row["low"], row["high"], color=colour, linewidth=2)
        panel.plot([row["share"]], [level], marker, color=colour, markersize=6)
    panel.axvline(0.5, color=style.QUIET, linestyle=":", linewidth=0.9, zorder=0)
    names = [
        f"{name}\nown part: sd {fixed(own, 1)} log-odds" for name, own in table["own_sd"].items()
    ]
    panel.set_yticks(np.arange(len(table))[::-1], names, fontsize=9)
    panel.tick_params(axis="y", length=0)
    panel.set(xlim=(0, 1), ylim=(-0.3, len(table) - 1 + 0.95))
    panel.set_xlabel(
        f"share of the items' difficulty explained by demands\n"
        f"(posterior draws; mean and {style.percent(explained.prob)} interval)\n"
        f"(demands' part: sd {fixed(float(table['demands_sd'].iloc[0]), 1)} log-odds)"
    )
    style.title(panel, "How much the demands explain")
    style.quiet_frame(panel, "bottom")
    return panel
