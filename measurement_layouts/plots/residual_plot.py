"""Observed success and the layout's expectation, by level of a property."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..validation.criticism.criticise import Criticism
from . import style

_SPREAD = 0.6  # share of the distance between levels over which series are side by side
_LETTER = 0.075  # width of a letter of a level's name, in inches


def residual_plot(
    criticism: Criticism,
    subject: object,
    property: str,
    by: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw success by level of a property, and the interval in which the layout expects it.

    Filled points are outside their interval. The number below a level is its number of items, one
    number for each level of `by`.

    Parameters
    ----------
    criticism : Criticism
        Result of `criticise`.
    subject : object
        Subject to draw.
    property : str
        Column of the items.
    by : str, optional
        Another column, whose levels are drawn side by side in different colours.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: levels, one unit apart; vertical axis: success rate.

    Raises
    ------
    DataError
        When there is no such column.
    FitError
        When the subject is not in the fit.

    Examples
    --------
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> criticism = criticise(result, cohort.evaluation, candidates=["size"])
    >>> residual_plot(criticism, "sim-30", "size", "rewardBehind").get_ylabel()
    'success rate'
    """
    names = [property] if by is None else [property, by]
    table = criticism.residuals(subject, *names).reset_index()
    levels = list(dict.fromkeys(table[property]))
    groups = [""] if by is None else list(dict.fromkeys(table[by]))
    parts = {group: table if by is None else table[table[by] == group] for group in groups}
    longest = max(map(len, levels))
    width = max(4.5, 1.2 + len(levels) * max(0.45 * len(groups), _LETTER * longest + 0.15))
    ax = style.single(ax, (width, 4.0))
    looks = style.method_styles(groups)
    step = _SPREAD / len(groups)
    for place, (group, part) in enumerate(parts.items()):
        shift = (place - (len(groups) - 1) / 2) * step
        _series(ax, part, part[property].map(levels.index) + shift, *looks[group], group)
    ax.set_xticks(range(len(levels)), [_tick(level, property, parts.values()) for level in levels])
    ax.tick_params(axis="x", length=0, labelsize=8)
    ax.set_xlim(-0.6, len(levels) - 0.4)
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.set_xlabel(f"{style.words(property)}, and number of items (filled: outside its interval)")
    ax.set_ylabel("success rate")
    if by is not None:
        ax.legend(
            title=style.words(by, 40),
            fontsize=8,
            title_fontsize=8,
            frameon=False,
            loc="center left",
            bbox_to_anchor=(1, 0.5),
        )
    style.quiet_frame(ax, "left", "bottom")
    mass = style.percent(criticism.prob)
    style.title(
        ax,
        f"{style.words(subject, 30)}: observed (points), expected by the layout ({mass} intervals)",
    )
    return ax


def _series(
    ax: Axes, part: pd.DataFrame, at: pd.Series, colour: str, marker: str, group: str
) -> None:
    ax.vlines(at, part["low"], part["high"], color=colour, linewidth=6, alpha=0.3)
    inside = np.where(part["surprising"], colour, "white")
    ax.plot([], [], color=colour, marker=marker, linestyle="", label=style.legend_words(group))
    ax.scatter(
        at, part["observed"], marker=marker, s=34, facecolors=inside, edgecolors=colour, zorder=3
    )


def _tick(level: str, name: str, parts: Iterable[pd.DataFrame]) -> str:
    counts = [int(part.loc[part[name] == level, "items"].sum()) for part in parts]
    return f"{style.words(level, 24)}\n{', '.join(map(str, counts))}"
