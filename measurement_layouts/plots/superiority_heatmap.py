"""Probabilities that one subject has more than another, as a table of coloured numbers."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes

from ..common.digits import chance
from ..common.errors import FitError
from ..layouts.elements import find_elements
from ..validation.comparison import ProfileComparison
from . import cells, style

_COLOURS = "Blues"  # pale to dark, in grey too
_WRITTEN = 30  # largest number of subjects for which cells have numbers
_CELL, _SMALL = 0.36, 0.15  # inches


def superiority_heatmap(
    comparison: ProfileComparison, element: str, *, ax: Axes | None = None
) -> Axes:
    """Draw the probability that the row's subject has more than the column's.

    Subjects are in the order of their mean probability against all others, the largest first. If
    there are at most 30 subjects, cells have percentages, rounded to tens if the Monte Carlo error
    supports no more. A cell is hatched and has no colour if one of the two values is
    prior-dominated (see `diagnostics.profiles`). A dagger marks a subject that did not converge, a
    double dagger one with separate modes.

    Parameters
    ----------
    comparison : ProfileComparison
        Result of `compare_profiles` for subjects of one fit.
    element : str
        Node, or element ``node[label]``.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a subject is one unit wide and high; with a single reference there is one
        column.

    Raises
    ------
    DataError
        When `comparison` is something else.
    FitError
        When there is no such element, or the comparison is of two fits.

    Examples
    --------
    >>> from measurement_layouts.validation.comparison import compare_profiles
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> superiority_heatmap(compare_profiles(result), "navigationAbility").get_title()
    'Probability of a larger navigationAbility'
    """
    if comparison.other is not None:
        raise FitError("the comparison is of two fits; draw comparison_plot instead")
    rows = comparison.rows(element)
    (one,) = find_elements(comparison.fit.layout, element)
    warned = rows["warning"].str
    rows = rows.assign(vague=warned.contains("prior-dominated").astype(float))
    wide, errors, vague = (
        _table(rows, name, comparison.subjects)
        for name in ("superiority", "superiority_error", "vague")
    )
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    if len(wide.columns) > 1:
        wide = wide[wide.index]
    error, hatched = (
        table.loc[wide.index, wide.columns].to_numpy() for table in (errors, vague == 1)
    )
    doubted = set(_warned(rows, "not converged"))
    split = set(_warned(rows, "separate modes"))
    names, heads = (
        [style.words(name, 40) + " ‡" * (name in split) + " †" * (name in doubted) for name in side]
        for side in (wide.index, wide.columns)
    )
    cell = _CELL if len(names) <= _WRITTEN else _SMALL
    long = max(map(len, [*names, *heads])) * cells.LETTER
    width = long + max(len(heads) * cell, 3.6) + 0.6
    ax = style.single(ax, (width, len(names) * cell + long + 1.9))
    values = wide.to_numpy()
    colours, thick = colormaps[_COLOURS].with_extremes(bad="white"), 0.4 if cell == _CELL else 0.1
    look: dict[str, Any] = {"edgecolors": style.RULE, "linewidth": thick}
    mesh = cells.fill(ax, values, cmap=colours, vmin=0, vmax=1, **look)
    cells.hatch(ax, hatched)
    inks = np.where(hatched, style.QUIET, cells.inks(mesh, values))
    if cell == _CELL:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                text = _percent(float(value), float(error[row, column]))
                cells.write(ax, column + 0.5, row + 0.5, text, str(inks[row, column]))
    letters = cells.LETTERS if cell == _CELL else 6.5
    cells.name_cells(ax, names, heads, upright=True, letters=letters)
    label = "probability that the row's is larger (%)"
    bar = cells.bar_below(ax, mesh, label, width, cells.LETTERS + 0.5)
    bar.set_ticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100"])
    notes = ["hatched: one of the two is prior-dominated"] if hatched.any() else []
    notes += ["‡ separate modes"] if split & {*wide.index, *wide.columns} else []
    notes += ["† not converged"] if doubted & {*wide.index, *wide.columns} else []
    ax.set_xlabel("\n".join(notes), fontsize=cells.LETTERS)
    style.title(ax, f"Probability of a larger {style.words(one.name)}")
    return ax


def _table(rows: pd.DataFrame, column: str, everybody: list[str]) -> pd.DataFrame:
    """Arrange a column with a row per subject; fill in the reverse pairs if each occurs once."""
    wide = rows.pivot_table(index="subject", columns="reference", values=column)
    if rows["reference"].nunique() > 1 or len(rows) == 1:
        wide = wide.reindex(index=everybody, columns=everybody)
        wide = wide.fillna(1 - wide.T if column == "superiority" else wide.T)
    return wide


def _warned(rows: pd.DataFrame, what: str) -> list[str]:
    """Name the subjects that have a warning."""
    found = []
    for warning in rows["warning"]:
        for part in str(warning).split("; "):
            name, _, why = part.rpartition(": ")
            found += [name] if what in why else []
    return found


def _percent(value: float, error: float) -> str:
    """Write a probability in percent, with the digits that its error supports, but not 0 or 100."""
    text = chance(value, error)
    sign = text[0] if text[0] in "<>" else ""
    return text if text == "–" else f"{sign}{100 * float(text.removeprefix(sign)):.0f}"
