"""Differences of subjects to the best one, and which of them cannot be told apart."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..common.digits import fixed
from ..common.errors import FitError
from ..validation.comparing.result import Comparison
from . import style

_MOST = 120  # largest number of rows of a figure
_CLOSE = 20  # number of rows from which they are closer together, in smaller letters
_APART = 0.22  # vertical distance of two readings of one subject


def comparison_plot(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the difference of each subject to the first one, with intervals, and its rank.

    The best subject is at the top. Subjects that cannot be told apart from it are dark, with a band
    behind them; the others are pale. Each reading has a marker. To the right of each subject is the
    interval of its rank. A dagger marks a subject whose row has a warning.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: subject minus the first subject.

    Raises
    ------
    FitError
        When there are more than 120 subjects.

    Examples
    --------
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> outcomes = pd.DataFrame([[1, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]], ["Ann", "Bob"])
    >>> evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> [name.get_text() for name in comparison_plot(ml.compare(evaluation)).get_yticklabels()]
    ['Ann', 'Bob']
    """
    readings = comparison.readings
    ranking = comparison.ranking[comparison.ranking["reading"] == readings[0]]
    subjects = ranking["subject"].tolist()
    if len(subjects) > _MOST:
        raise FitError(
            f"there are {len(subjects)} subjects, more than {_MOST}; compare fewer, by subjects="
        )
    letters = 7.5 if len(subjects) > _CLOSE else 9
    height = len(subjects) * (0.2 if len(subjects) > _CLOSE else 0.38) + 1.2
    axes = style.single(ax, (6.4, height))
    leading = comparison.table[comparison.table["subject"] == subjects[0]]
    offsets = _APART * (np.arange(len(readings)) - (len(readings) - 1) / 2)
    for reading, offset, (colour, marker) in zip(readings, offsets, style.METHODS, strict=False):
        rows = leading[leading["reading"] == reading].set_index("reference")
        _draw(axes, rows.reindex(subjects), offset, colour, marker, ranking["tied"].to_numpy())
    for row in np.flatnonzero(ranking["tied"]):
        axes.axhspan(row - 0.5, row + 0.5, color=style.RULE, linewidth=0, zorder=0)
    axes.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
    axes.set_ylim(len(subjects) - 0.5, -0.5)
    doubted = set(leading["reference"][leading["warning"] != ""])
    names = [style.words(name, 40) + " †" * (name in doubted) for name in subjects]
    style.row_names(axes, names, letters)
    ends = zip(ranking["rank_low"], ranking["rank_high"], strict=True)
    style.row_notes(axes, (_ranks(low, high) for low, high in ends), letters)
    axes.set_xlabel(f"{comparison.name}: subject minus {style.words(subjects[0], 30)}", fontsize=9)
    style.quiet_frame(axes, "bottom")
    looks = dict(zip(readings, style.METHODS, strict=False))
    notes = [Patch(color=style.RULE, label="cannot be told apart from the first")]
    notes += [Patch(alpha=0, label="† with a warning")] * bool(doubted)
    axes.legend(
        handles=[*style.named_entries(looks, linestyle="-", markersize=5), *notes],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.75 / height),
        ncols=2,
        fontsize=8,
        frameon=False,
    )
    interval = style.percent(comparison.prob)
    style.title(axes, f"Behind {style.words(subjects[0], 30)}, {interval} intervals; right: ranks")
    return axes


def _draw(
    ax: Axes, rows: pd.DataFrame, offset: float, colour: str, marker: str, tied: np.ndarray
) -> None:
    """Draw one reading: the negative of each difference of the first subject to another."""
    height = np.arange(len(rows)) + offset
    for chosen, alpha in ((tied, 1.0), (~tied, 0.55)):
        look: dict[str, Any] = {"color": colour, "alpha": alpha}
        shown = rows[chosen]
        ax.hlines(height[chosen], -shown["high"], -shown["low"], linewidth=1.4, **look)
        ax.scatter(-shown["difference"], height[chosen], s=22, marker=marker, zorder=3, **look)


def _ranks(low: float, high: float) -> str:
    return fixed(low, 0) if low == high else f"{fixed(low, 0)} to {fixed(high, 0)}"
