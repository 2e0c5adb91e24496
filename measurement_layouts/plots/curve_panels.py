"""All characteristic curves of one subject."""

import numpy as np

from ..batteries.characteristic import CharacteristicCurves
from ..batteries.demands import short_names
from . import style
from .curve_marks import ability_text, draw_ability, draw_bins, draw_line, frame, reach

_COLUMNS = 6
_PANEL = (2.0, 1.75)  # inches


def curve_panels(
    curves: CharacteristicCurves,
    subject: object,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw all characteristic curves of one subject, one panel per dimension.

    Parameters
    ----------
    curves : CharacteristicCurves
        Result of `characteristic_curves`.
    subject : object
        Subject to draw.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each dimension (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per dimension, in order, whose title has the ability and its interval. All panels
        have the same limits, and markers of the same size mean the same number of items.

    Raises
    ------
    FitError
        When the subject is unknown, or the number of axes is wrong.

    References
    ----------
    General scales paper, figures 17 to 31.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1, "volume": 1})
    >>> solved = np.random.default_rng(1).random(400) * items["logic"] < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> axes = curve_panels(characteristic_curves(evaluation, ["logic", "volume"]), "Ann")
    >>> [panel.get_title().split(": ")[0] for panel in axes]
    ['logic', 'volume']
    """
    rows = [curves.row(subject, name) for name in curves.dimensions]
    axes, figure, columns = style.grid(ax, len(rows), _COLUMNS, _PANEL, (0.5, 1.2), 4.8)
    own = curves.table[curves.table["subject"] == str(subject)]
    bins = [curves.bins_of(subject, name) for name in curves.dimensions]
    largest = max(int(part["items"].max()) for part in bins)
    most = reach(curves, own)
    names = short_names(curves.dimensions)
    for panel, name, row, part in zip(axes, names, rows, bins, strict=True):
        draw_line(panel, curves, row, most)
        draw_bins(panel, part, largest, curves.prob)
        draw_ability(panel, curves, row, most)
        frame(panel, curves, most)
        panel.tick_params(labelsize=8)
        panel.set_title(f"{style.words(name, 20)}: {ability_text(row)}", fontsize=9)
    style.outer_labels(axes, columns, "demand level", "success", fontsize=9)
    style.heading(figure, f"Characteristic curves of {style.words(subject)}")
    if figure is not None:
        style.legend(axes, figure, 3 if columns > 4 else 1)
    return axes
