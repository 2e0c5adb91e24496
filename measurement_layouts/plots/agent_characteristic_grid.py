"""One subject's success by two properties of the items."""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from ..batteries.grids import GridAxis, characteristic_grid, edge_labels
from ..common.messages import many
from ..evaluations.evaluation import Evaluation
from ..layouts import Layout
from . import cells, style


def agent_characteristic_grid(
    evaluation: Evaluation,
    subject: object,
    x: str,
    y: str,
    *,
    bins: int = 6,
    layout: Layout | None = None,
    colour_bar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a subject's success rate by two properties of the items.

    The colour of a cell is its success rate, from red (failure) over yellow to blue (success); the
    number is its number of trials. A cell without trials is blank.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    subject : object
        Subject whose outcomes are drawn.
    x, y : str
        Columns of the items.
    bins : int
        Number of cells; see `characteristic_grid`.
    layout : Layout, optional
        Layout whose meta-features give the axes their units.
    colour_bar : bool
        Whether to draw a colour bar; one of several grids side by side is enough.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal `x`, vertical `y`.

    Raises
    ------
    DataError
        When the subject or a column is unknown, or the bins do not
        fit; see `characteristic_grid`.

    References
    ----------
    Burden et al. (2023), figure 8; Burnell et al. (2022).

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"far": [0, 1, 0, 1], "small": [0, 0, 1, 1]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 1, 0]], index=["Ann"], columns=list("abcd"))
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> agent_characteristic_grid(evaluation, "Ann", "far", "small").get_title()
    'Ann: 3 of 4 trials (0.75)'
    """
    grid = characteristic_grid(evaluation, subject, x, y, bins=bins)
    ax = style.single(ax, (5.6, 4.4))
    scale: dict[str, Any] = {"cmap": style.RATE, "vmin": 0, "vmax": 1, "linewidth": 1.5}
    mesh = cells.fill(ax, grid.rates, grid.x.edges, grid.y.edges, **scale)
    inks = cells.inks(mesh, grid.rates)
    middle_x, middle_y = ((axis.edges[:-1] + axis.edges[1:]) / 2 for axis in (grid.x, grid.y))
    for row, column in np.argwhere(grid.trials > 0):
        ax.text(
            middle_x[column],
            middle_y[row],
            f"{grid.trials[row, column]}",
            ha="center",
            va="center",
            color=inks[row, column],
            fontsize=9,
        )
    for axis, cut in ((ax.xaxis, grid.x), (ax.yaxis, grid.y)):
        _ticks(axis, cut)
    ax.set(xlabel=style.column_label(x, layout), ylabel=style.column_label(y, layout))
    won, total = int(grid.successes.sum()), int(grid.trials.sum())
    style.title(ax, f"{grid.subject}: {won} of {many(total, 'trial')} ({won / total:.2f})")
    ax.tick_params(length=0)
    style.quiet_frame(ax)
    if colour_bar:
        ax.figure.colorbar(mesh, ax=ax, label="success rate (number: trials)")
    return ax


def _ticks(axis: Axis, cut: GridAxis) -> None:
    if cut.levels:
        axis.set_ticks(range(len(cut.levels)), [_minus(style.words(level)) for level in cut.levels])
    else:
        axis.set_ticks(cut.edges, [_minus(edge) for edge in edge_labels(cut.edges)])


def _minus(number: str) -> str:
    """Write a leading hyphen as a minus sign, as matplotlib does."""
    return re.sub(r"^-(?=[\d.])", "\u2212", number)
