"""Ranks of true values among posterior draws, compared with uniform ranks."""

import textwrap
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from ..common.errors import DataError
from ..common.messages import many
from ..validation.calibration.result import SimulationBasedCalibration
from . import style

_COLUMNS = 4
_PANEL = (2.6, 2.3)  # inches
_ALONE = (5.6, 4.0)
_TITLE = 40  # largest number of letters in a line
_NAMED = 4  # largest number of quantities outside the band whose names are shown


def rank_ecdf(
    found: SimulationBasedCalibration | Mapping[str, SimulationBasedCalibration],
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw the differences of ranks of true values from uniform ranks, one panel per layout.

    A line is a quantity's distribution function of ranks minus the uniform one. All lines of a
    calibrated layout are in the band, except with probability `alpha`. Lines outside the band are
    coloured and named. A line that goes first up and then down, shaped as an S, means intervals
    that are too narrow, and the reverse means intervals that are too wide. A hill means posteriors
    above the true values, and a valley posteriors below them. Titles state the verdict. If it is
    inconclusive, too few simulations converged for the lines to be evidence.

    Parameters
    ----------
    found : SimulationBasedCalibration or mapping of str to SimulationBasedCalibration
        Calibration of one layout, or of several by name.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each layout (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per layout. Horizontal axis: rank, divided by the number of ranks; vertical axis:
        the difference.

    Raises
    ------
    DataError
        When there is no layout.
    FitError
        When the number of axes is wrong.

    References
    ----------
    Säilynoja, Bürkner and Vehtari (2022), Statistics and Computing 32.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Layout, Success
    >>> from measurement_layouts.validation.calibration.run import sbc
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame(index=[f"toss {number}" for number in range(10)])
    >>> calibration = sbc(layout, items, simulations=50, method="grid", progressbar=False)
    >>> rank_ecdf(calibration)[0].get_title()
    'coin\ncalibrated, 50 simulations'
    """
    given = dict(found) if isinstance(found, Mapping) else {found.layout.name: found}
    if not given:
        raise DataError("no calibration: give at least one")
    panel_size, around = (_ALONE, (0, 0)) if len(given) == 1 else (_PANEL, (0.4, 0.9))
    axes, figure, columns = style.grid(ax, len(given), _COLUMNS, panel_size, around)
    for panel, (name, one) in zip(axes, given.items(), strict=True):
        _draw(panel, name, one, alone=len(given) == 1)
    style.outer_labels(axes, columns, "rank / number of ranks", "ECDF − uniform", fontsize=8)
    if len(given) > 1:
        alpha = style.percent(max(one.alpha for one in given.values()))
        style.heading(
            figure,
            "Ranks of true values among posterior draws; bands that a calibrated layout leaves "
            f"with a probability of at most {alpha}",
        )
    return axes


def _draw(panel: Axes, name: str, one: SimulationBasedCalibration, *, alone: bool) -> None:
    inside = one.table()["inside"]
    outside = list(inside.index[~inside])
    for quantity, rows in one.differences().groupby("quantity", sort=False):
        place, line, low, high = (
            np.concatenate([[0], rows[column], [last]])
            for column, last in (("place", 1), ("difference", 0), ("low", 0), ("high", 0))
        )
        panel.fill_between(place, low, high, color=style.RULE, linewidth=0, zorder=0)
        if quantity not in outside:
            panel.plot(place, line, color=style.QUIET, linewidth=0.7)
            continue
        number = outside.index(quantity)
        colour, _ = style.METHODS[number % len(style.METHODS)]
        label = style.legend_words(quantity) if number < _NAMED else None
        panel.plot(place, line, color=colour, linewidth=1.6, zorder=3, label=label)
    panel.axhline(0, color=style.QUIET, linestyle=":", linewidth=0.8, zorder=1)
    said = "calibrated" if one.calibrated else "NOT calibrated"
    said = "INCONCLUSIVE" if one.inconclusive else said
    counted = many(one.simulations, "simulation")
    lost = {"not converged": one.not_converged, "failed": one.failed}
    lost_counts = ", ".join(f"{count} {what}" for what, count in lost.items() if count)
    if lost_counts:  # beside another panel a line has no room for it
        counted += f",{' ' if alone else chr(10)}{lost_counts}"
    title = "\n".join(textwrap.wrap(style.words(name), _TITLE))
    panel.set_title(f"{title}\n{said}, {counted}", fontsize=10 if alone else 7.5)
    panel.set_xlim(0, 1)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    panel.tick_params(labelsize=8 if alone else 7)
    if outside:  # with room above for their names
        bottom, top = panel.get_ylim()
        panel.set_ylim(bottom, top + 0.11 * min(len(outside), _NAMED) * (top - bottom))
        panel.legend(fontsize=8 if alone else 6.5, frameon=False, loc="upper right")
    style.quiet_frame(panel, "left", "bottom")
