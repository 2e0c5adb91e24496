"""Explanation of a forecast: shares of a failure, and success if something were different."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from ..common.digits import short
from ..common.errors import DataError
from ..inference.explanations.explanation import Explanation, ends_of
from . import style

_ROW, _AROUND, _WIDE = 0.34, 1.9, 9.6  # inches
_GAP = 0.7  # distance between two groups, in rows
_LETTERS = 44


class _Row(NamedTuple):
    """A name, its share of the failure if it has one, and success without it."""

    name: str
    share: tuple[float, float, float] | None
    success: tuple[float, float, float]
    look: tuple[str, str]


def explanation_plot(explanation: Explanation, *, ax: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw shares of a failure, and success if a part, a demand or an ability were different.

    The first rows (circles) are parts, with success if they could not fail. The next rows (squares)
    are demands, with success at their easiest value among the training items. The last rows
    (triangles) are changes that were asked for.

    Parameters
    ----------
    explanation : Explanation
        Result of `Fit.explain`.
    ax : sequence of Axes, optional
        Two axes to draw on (default: a new figure).

    Returns
    -------
    ndarray of Axes
        Two Axes. Left: shares of the failure; right: probabilities of success. Points are posterior
        means, and lines are the explanation's intervals. The pale column is the forecast of
        success.

    Raises
    ------
    DataError
        When the item has no parts that can fail and no changes.
    FitError
        When the number of axes is wrong.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> axes = explanation_plot(result.explain(aaio.battery(seed=2).iloc[[3]]))
    >>> [panel.get_xlabel().splitlines()[0] for panel in axes]
    ['share of the failure', 'probability of success if it were otherwise']
    """
    groups = {head: group for head, group in _groups(explanation).items() if group}
    if not groups:
        raise DataError(
            f"nothing can fail on {explanation.item}, and nothing was changed; give an "
            "explanation of another item, or one with changes="
        )
    count = sum(map(len, groups.values())) + (1 + _GAP) * len(groups)
    axes, figure = style.panels(ax, 2, 2, (_WIDE, _ROW * count + _AROUND), sharey=True)
    left, right = axes
    places, names, level = [], [], 0.0
    for head, group in groups.items():
        places.append(level)
        names.append(head)
        level -= 1
        for row in group:
            if row.share is not None:
                _mark(left, level, row.share, row.look)
            _mark(right, level, row.success, row.look)
            places.append(level)
            names.append(style.words(row.name, _LETTERS))
            level -= 1
        level -= _GAP
    mean, low, high = explanation.success
    right.axvspan(low, high, color=style.RULE, zorder=0, linewidth=0)
    right.axvline(mean, color=style.QUIET, linewidth=1, zorder=1)
    left.set_yticks(places, names, fontsize=9)
    for name, label in zip(names, left.get_yticklabels(), strict=True):
        if name in groups:
            label.set(color=style.QUIET, fontstyle="italic")
    left.set_ylim(level + _GAP + 0.4, 0.6)
    ends = [end for group in groups.values() for row in group if row.share for end in row.share]
    left.set_xlim(min(0.0, *ends, 0.0) - 0.02, max(1.0, *ends, 1.0) + 0.02)
    right.set_xlim(-0.02, 1.02)
    left.set_xlabel("share of the failure")
    right.set_xlabel("probability of success if it were otherwise\n(pale: as it is forecast)")
    for panel in (left, right):
        style.rules(panel, "x")
        style.quiet_frame(panel, "bottom")
        panel.tick_params(axis="y", length=0)
    told = f"{explanation.subject} on {explanation.item}"
    told += f": success {explanation.written(explanation.success)}"
    style.heading(figure, f"{told} (means and {style.percent(explanation.prob)} intervals)")
    return axes


def _groups(explanation: Explanation) -> dict[str, list[_Row]]:
    """List parts, demands and changes, by heading."""
    parts = [
        _Row(str(name), _three(row, "share"), _three(row, "without"), style.METHODS[0])
        for name, row in explanation.parts.to_dict("index").items()
        if row["share"] > 0
    ]
    demands = [
        _Row(_said(str(name), row), _three(row, "share"), _three(row, "success"), style.METHODS[1])
        for name, row in explanation.demands.to_dict("index").items()
    ]
    changes = [
        _Row(str(name), None, _three(row, "success"), style.METHODS[2])
        for name, row in explanation.changes.to_dict("index").items()
    ]
    return {
        "parts, if they could not fail": parts,
        "demands, at their easiest": demands,
        "what if": changes,
    }


def _three(row: dict[Any, Any], what: str) -> tuple[float, float, float]:
    mean, low, high = (float(row[name]) for name in ends_of(what))
    return mean, low, high


def _said(name: str, row: dict[Any, Any]) -> str:
    """Name a demand, its value and its easiest one."""
    if row["easiest"] != row["easiest"]:
        return f"{name} as usual"
    unit = f" {row['unit']}" * bool(row["unit"])
    return f"{name} {short(row['value'])} → {short(row['easiest'])}{unit}"


def _mark(
    panel: Axes, level: float, estimate: tuple[float, float, float], look: tuple[str, str]
) -> None:
    """Draw a mean and its interval."""
    (mean, low, high), (colour, marker) = estimate, look
    panel.hlines(level, low, high, color=colour, linewidth=1.6, zorder=2)
    panel.plot([mean], [level], marker, color=colour, markersize=6, zorder=3)
