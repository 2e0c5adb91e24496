"""Rank correlations of the demands of a battery with each other and with success."""

import numpy as np
from matplotlib.axes import Axes

from ..batteries.demands import DemandCorrelations, short_names
from ..common.digits import fixed
from . import cells, style

_COLOURS = "PuOr"  # orange below 0, white, purple above
_COLUMN, _GAP = 0.4, 0.5  # inches, rows


def demand_correlation_plot(correlations: DemandCorrelations, *, ax: Axes | None = None) -> Axes:
    """Draw rank correlations as a table: of dimensions with each other, and below with success.

    Each pair of dimensions occurs once. If there are outcomes, the rows below are the success rates
    of the items over all subjects, and each subject's outcomes. Numbers are hundredths: -35 is
    -0.35. A dash means that one of the two does not vary.

    Parameters
    ----------
    correlations : DemandCorrelations
        Result of `demand_correlations`.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a dimension is one unit wide and a row one unit high.

    References
    ----------
    General scales paper, Figure 4.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts.batteries.demands import demand_correlations
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]})
    >>> demand_correlation_plot(demand_correlations(items, ["QLl", "MS"])).get_title()
    'Rank correlations of 2 demands'
    """
    between, success = correlations.between, correlations.success
    count = len(between)
    values, dimensions = between.to_numpy(copy=True), short_names(between.index)
    names = dimensions.copy()
    above = np.triu(np.ones((count, count), dtype=bool))
    values[above] = np.nan
    edges = np.arange(count + 1.0)
    if correlations.overall is not None:
        values = np.vstack([values, np.full(count, np.nan), correlations.overall, success])
        names += ["success, all subjects", *success.index]
        edges = np.append(edges, count + _GAP + np.arange(len(success) + 2))
    rows = [style.words(name, 40) for name in names]
    heads = [style.words(name, 12) for name in dimensions]
    width = 0.5 + max(map(len, rows)) * cells.LETTER + max(count * _COLUMN, cells.BAR)
    height = 1.5 + edges[-1] * cells.ROW + 2 * max(map(len, heads)) * cells.LETTER
    ax = style.single(ax, (width, height))
    mesh = cells.fill(ax, values, np.arange(count + 1), edges, cmap=_COLOURS, vmin=-1, vmax=1)
    centres, inks = (edges[:-1] + edges[1:]) / 2, cells.inks(mesh, values)
    for (row, column), value in np.ndenumerate(values):
        if row > count or column < row < count:  # neither above the diagonal nor in the gap
            text = fixed(100 * value, 0)
            cells.write(ax, column + 0.5, float(centres[row]), text, str(inks[row, column]))
    where = np.delete(centres, count) if len(centres) > count else centres  # the gap has no name
    ax.set(xlim=(0, count), ylim=(edges[-1], 0))
    ax.set_xticks(np.arange(count) + 0.5, heads, rotation=90)
    ax.set_yticks(where, rows)
    ax.tick_params(length=0, labelsize=cells.LETTERS, labeltop=True)
    style.quiet_frame(ax)
    cells.bar_below(ax, mesh, "Spearman's rank correlation (in cells: hundredths)", width)
    many_subjects = f", and with the success of {len(success)} subjects" if len(success) else ""
    style.title(ax, f"Rank correlations of {count} demands{many_subjects}")
    return ax
