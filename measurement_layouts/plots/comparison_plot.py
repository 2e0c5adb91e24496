"""Differences of profiles, pair by pair."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.digits import chance
from ..common.errors import FitError
from ..common.messages import many
from ..layouts.elements import Element, find_elements
from ..validation.comparison import ProfileComparison
from . import style

_MOST = 120  # largest number of rows of a figure
_CLOSE = 20  # number of rows from which they are closer together, in smaller letters
_COLUMNS = 4
_PANEL, _LETTER = 2.6, 0.066  # inches


def comparison_plot(
    comparison: ProfileComparison,
    *,
    nodes: str | Sequence[str] | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw differences of profiles with their intervals, one panel per profile element.

    Pairs are in the order of the first panel, the largest difference at the top. The number beside
    each pair is the probability that the subject's value is larger than the reference's, with the
    digits that its Monte Carlo error supports. A point is hollow if one of the two values is
    prior-dominated, and crossed if one has separate modes. A dagger marks a pair of which one
    subject did not converge (see `diagnose`).

    Parameters
    ----------
    comparison : ProfileComparison
        Result of `compare_profiles`.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure, with a row per pair).

    Returns
    -------
    ndarray of Axes
        One Axes per element. Horizontal axis: subject minus reference, in the node's unit.

    Raises
    ------
    FitError
        When a node is unknown, the number of axes wrong, or there are more than 120 pairs.

    Examples
    --------
    >>> from measurement_layouts.validation.comparison import compare_profiles
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> len(comparison_plot(compare_profiles(result, reference="sim-01")))
    4
    """
    found = find_elements(comparison.fit.elements, nodes)
    first = comparison.rows(found[0].name)
    if len(first) > _MOST:
        raise FitError(
            f"there are {len(first)} pairs, more than {_MOST}; compare fewer subjects, or with "
            "one reference="
        )
    order = first["difference"].to_numpy().argsort(kind="stable")
    parts = [comparison.rows(element.name).iloc[order] for element in found]
    doubted = [
        any(part["warning"].iloc[row].count("not converged") for part in parts)
        for row in range(len(order))
    ]
    names = _names(comparison, order, doubted)
    close = len(names) > _CLOSE
    panel = _PANEL, len(names) * (0.165 if close else 0.3) + 0.9
    around = max(map(len, names)) * _LETTER + 0.3, 0.9
    axes, figure, columns = style.grid(ax, len(found), _COLUMNS, panel, around, 5.0, sharey=True)
    for place, (element, panel, part) in enumerate(zip(found, axes, parts, strict=True)):
        _draw(panel, element, part, 7.5 if close else 8.5)
        left = place % columns == 0 if figure is not None else place == 0
        style.row_names(panel, names, 7.5 if close else 9, shown=left)
    style.heading(figure, _title(comparison, len(names)))
    if figure is not None:
        notes = f"point: mean; line: {style.percent(comparison.prob)} interval; number: P(larger)"
        vague = any(part["warning"].str.contains("prior-dominated").any() for part in parts)
        split = any(part["warning"].str.contains("separate modes").any() for part in parts)
        notes += "; hollow: prior-dominated" * vague + f"; {style.SPLIT}" * split
        notes += "; † not converged" * any(doubted)
        figure.supxlabel(notes, fontsize=8, color=style.QUIET)
    return axes


def _draw(panel: Axes, element: Element, part: pd.DataFrame, letters: float) -> None:
    colour = style.colour(element)
    hollow = part["warning"].str.contains("prior-dominated").to_numpy()
    panel.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
    split, area = part["warning"].str.contains("separate modes"), 20 if letters < 8 else 36
    style.forest_rows(panel, part["difference"], part, hollow, split, colour, size=area, alpha=0.6)
    chances = map(chance, part["superiority"], part["superiority_error"])
    style.row_notes(panel, chances, letters)
    low, high = min(part["low"].min(), 0), max(part["high"].max(), 0)
    panel.set_xlim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    panel.set_xlabel(f"difference in\n{style.element_label(element)}", fontsize=9)
    style.quiet_frame(panel, "bottom")


def _names(comparison: ProfileComparison, order: np.ndarray, doubted: list[bool]) -> list[str]:
    pairs = comparison.rows(find_elements(comparison.fit.elements)[0].name).iloc[order]
    alone = _single(comparison)
    names = [
        style.words(row.subject, 40)
        if alone
        else f"{style.words(row.subject, 30)} \u2212 {style.words(row.reference, 30)}"
        for row in pairs.itertuples()
    ]
    return [name + " †" * doubt for name, doubt in zip(names, doubted, strict=True)]


def _single(comparison: ProfileComparison) -> bool:
    return comparison.table["reference"].nunique() == 1


def _title(comparison: ProfileComparison, pairs: int) -> str:
    if _single(comparison):
        subject, reference = comparison.table[["subject", "reference"]].iloc[0]
        return f"{subject if pairs == 1 else many(pairs, 'subject')} minus {reference}"
    return f"Differences of profiles: {many(pairs, 'pair')}"
