"""One subject's success by two properties of the items."""

import re
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from ..batteries.grids import characteristic_grid, edge_labels
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
    successes, trials = characteristic_grid(evaluation, subject, x, y, bins=bins)
    rates, edges = (successes / trials).to_numpy(), [_edges(trials.columns), _edges(trials.index)]
    ax = style.single(ax, (5.6, 4.4))
    scale: dict[str, Any] = {"cmap": style.RATE, "vmin": 0, "vmax": 1, "linewidth": 1.5}
    mesh = cells.fill(ax, rates, *edges, **scale)
    inks = cells.inks(mesh, rates)
    middle_x, middle_y = ((borders[:-1] + borders[1:]) / 2 for borders in edges)
    for row, column in np.argwhere(trials.to_numpy() > 0):
        ax.text(
            middle_x[column],
            middle_y[row],
            f"{trials.iloc[row, column]}",
            ha="center",
            va="center",
            color=inks[row, column],
            fontsize=9,
        )
    for axis, cut in ((ax.xaxis, trials.columns), (ax.yaxis, trials.index)):
        _ticks(axis, cut)
    ax.set(xlabel=style.column_label(x, layout), ylabel=style.column_label(y, layout))
    won, total = int(successes.to_numpy().sum()), int(trials.to_numpy().sum())
    style.title(ax, f"{subject}: {won} of {many(total, 'trial')} ({won / total:.2f})")
    ax.tick_params(length=0)
    style.quiet_frame(ax)
    if colour_bar:
        ax.figure.colorbar(mesh, ax=ax, label="success rate (number: trials)")
    return ax


def _edges(cut: pd.Index) -> np.ndarray:
    """Borders of cells; cells of one value each are counted from -0.5."""
    if isinstance(cut, pd.IntervalIndex):
        return np.append(cut.left, cut.right[-1])
    return np.arange(len(cut) + 1) - 0.5


def _ticks(axis: Axis, cut: pd.Index) -> None:
    if isinstance(cut, pd.IntervalIndex):
        axis.set_ticks(_edges(cut), [_minus(edge) for edge in edge_labels(_edges(cut))])
    else:
        axis.set_ticks(range(len(cut)), [_minus(style.words(level)) for level in cut])


def _minus(number: str) -> str:
    """Write a leading hyphen as a minus sign, as matplotlib does."""
    return re.sub(r"^-(?=[\d.])", "\u2212", number)
