"""Characteristic curves of one demand, with all subjects in one panel."""

import numpy as np
from matplotlib.axes import Axes

from ..batteries.characteristic import CharacteristicCurves
from ..common.errors import FitError
from . import style
from .curve_marks import ability_text, draw_line, frame


def curves_by_subject(
    curves: CharacteristicCurves, dimension: str, *, ax: Axes | None = None
) -> Axes:
    """Draw the characteristic curves of all subjects for one demand.

    Parameters
    ----------
    curves : CharacteristicCurves
        Result of `characteristic_curves`.
    dimension : str
        Demand on the horizontal axis.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: demand level; vertical axis: success. The legend goes from the highest
        ability to the lowest, and so do the colours, from orange to blue. Subjects without a curve
        are last.

    Raises
    ------
    FitError
        When the dimension is unknown, or no subject has a curve.

    References
    ----------
    General scales paper, figure 7.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> solved = np.random.default_rng(1).random(400) * items["logic"] < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> curves_by_subject(characteristic_curves(evaluation, ["logic"]), "logic").get_title()
    'logic: success of 1 subject'
    """
    rows = [curves.row(name, dimension) for name in curves.subjects]
    abilities = np.array([row["ability"] for row in rows], dtype=float)
    if not np.isfinite(abilities).any():
        raise FitError(f"{dimension}: no subject has a curve; see the reasons in table")
    ax = style.single(ax, (7.2, 4.2))
    most = float(curves.bins["level"].max()) + 1
    order = np.argsort(np.where(np.isnan(abilities), -np.inf, abilities))[::-1]
    colours = style.amount_map()(np.linspace(1, 0, max(len(rows), 2)))
    handles = []
    for place, who in enumerate(order):
        row, colour = rows[who], colours[place]
        draw_line(ax, curves, row, most, colour=colour, band=False)
        bins = curves.bins_of(row["subject"], dimension)
        ax.scatter(bins["level"], bins["rate"], s=14, color=colour, alpha=0.8, zorder=3)
        name = f"{style.legend_words(row['subject'])}: {ability_text(row)}"
        handles += ax.plot([], [], color=colour, linewidth=2, label=name)
    frame(ax, curves, most)
    ax.set(xlabel=f"demand level of {style.words(dimension)}", ylabel="success")
    count = f"{len(rows)} subject{'s' if len(rows) > 1 else ''}"
    style.title(ax, f"{style.words(dimension)}: success of {count}")
    ax.legend(
        handles=handles,
        title=f"ability and {style.percent(curves.prob)} interval",
        title_fontsize=8,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        fontsize=8,
        frameon=False,
    )
    return ax
