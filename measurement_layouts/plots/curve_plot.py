"""One subject's success by the levels of one demand, and its ability."""

from typing import Any

from matplotlib.axes import Axes

from ..batteries.characteristic import CharacteristicCurves
from . import style
from .curve_marks import ability_text, draw_ability, draw_bins, draw_line, frame, reach


def curve_plot(
    curves: CharacteristicCurves, subject: object, dimension: str, *, ax: Axes | None = None
) -> Axes:
    """Draw one characteristic curve.

    Parameters
    ----------
    curves : CharacteristicCurves
        Result of `characteristic_curves`.
    subject : object
        Subject to draw.
    dimension : str
        Demand on the horizontal axis.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: demand level; vertical axis: success. Numbers above the curve are the
        numbers of items at each level; the curve is dashed below and above the levels with items.
        The ability, which is the area under the curve, is marked below it.

    Raises
    ------
    FitError
        When the subject or the dimension is unknown.

    References
    ----------
    General scales paper, figure 3.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> solved = np.random.default_rng(1).random(400) * items["logic"] < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> curve_plot(characteristic_curves(evaluation, ["logic"]), "Ann", "logic").get_xlabel()
    'demand level of logic'
    """
    row, bins = curves.row(subject, dimension), curves.bins_of(subject, dimension)
    ax = style.single(ax, (5.8, 4.2))
    most = reach(curves, row.to_frame().T)
    draw_line(ax, curves, row, most)
    draw_bins(ax, bins, int(bins["items"].max()), curves.prob)
    draw_ability(ax, curves, row, most)
    frame(ax, curves, most)
    above = ax.get_xaxis_transform()
    look: dict[str, Any] = {"fontsize": 8, "color": style.QUIET, "va": "bottom"}
    for level, items in zip(bins["level"], bins["items"], strict=True):
        ax.text(level, 1.0, f"{items}", transform=above, ha="center", **look)
    ax.text(0, 1.0, "items", transform=ax.transAxes, ha="right", **look)
    ax.set(xlabel=f"demand level of {style.words(dimension)}", ylabel="success")
    name = f"{style.words(subject, 30)}, {style.words(dimension, 30)}: ability {ability_text(row)}"
    style.title(ax, name, pad=18)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=8, frameon=False)
    return ax
