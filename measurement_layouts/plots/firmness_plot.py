"""Place and firmness of propensities: their positions, and how much they vary."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..common.messages import many
from ..common.options import inside
from ..evaluations.tables import need_columns, need_conditions
from ..layouts.drawing.style import STYLES
from ..linking import units
from . import style

_SIZE = (7.2, 4.6)  # inches
_NAMED = 12  # largest number of subjects whose points are named
_ENDS = ("place", "place_low", "place_high", "wobble", "wobble_low", "wobble_high")


def firmness_plot(
    table: pd.DataFrame,
    conditions: pd.DataFrame | None = None,
    *,
    unit: str = "level",
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Draw subjects in the plane of place and wobble, with the intervals of both.

    Parameters
    ----------
    table : DataFrame
        Result of `firmness`. Subjects without a place or a wobble are not drawn; the title states
        their number.
    conditions : DataFrame, optional
        Conditions, indexed by subject: ``model``, and ``incited``, the level of the prompt, NaN
        without a prompt. Each model then has a colour, and a line through its prompts in the order
        of their levels.
    unit : str, default "level"
        Unit of both axes.
    prob : float, default 0.9
        Mass of the intervals, as given to `firmness`; the title states it.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: the place. Vertical axis: the wobble; a small wobble is a firm propensity.
        For hollow points the data only limit the wobble from above. Diamonds are subjects without a
        prompt.

    Raises
    ------
    DataError
        When `table` is something else, a column is missing, or a subject has no condition.
    FitError
        When `prob` is not between 0 and 1.

    References
    ----------
    Propensities paper, section 6.

    Examples
    --------
    >>> table = pd.DataFrame({"place": [0.5], "place_low": [0.2], "place_high": [0.8],
    ...                       "wobble": [0.4], "wobble_low": [0.1], "wobble_high": [0.9],
    ...                       "reason": [""]}, index=["Ann"])
    >>> firmness_plot(table).get_ylabel()
    'wobble (level)'
    """
    mass = style.percent(inside("prob", prob, such_as=0.9))
    need_columns(table.columns, [*_ENDS, "reason"], "the table of firmness has")
    groups = _groups(table, conditions)
    drawn = table[["place", "wobble"]].notna().all(axis=1)
    axes = style.single(ax, _SIZE)
    looks = style.method_styles(list(groups))
    for name, subjects in groups.items():
        own = table.loc[[subject for subject in subjects if drawn[subject]]]
        colour = looks[name][0] if conditions is not None else STYLES["propensity"].border
        plain = np.zeros(len(own), dtype=bool)
        if conditions is not None:
            levels = conditions.loc[own.index, "incited"].astype(float)
            own, plain = own.loc[levels.sort_values().index], np.sort(levels.isna().to_numpy())
            axes.plot(*own.loc[~plain, ["place", "wobble"]].to_numpy().T, color=colour, alpha=0.5)
        _points(axes, own, plain, colour, name)
        for subject, row in own.iterrows():
            text = _text(subject, conditions, len(table))
            if text:
                axes.annotate(
                    text,
                    (row["place"], row["wobble"]),
                    xytext=(4, 4),
                    textcoords="offset points",
                    fontsize=7.5,
                    color=colour if conditions is not None else style.INK,
                )
    axes.set_xlabel(style.with_unit("place of the leaning", units.parse(unit)))
    axes.set_ylabel(style.with_unit("wobble", units.parse(unit)))
    axes.set_ylim(bottom=0)
    lost = int((~drawn).sum())
    style.title(axes, _title(len(table), lost, mass))
    _legend(axes, table[drawn], groups, conditions)
    style.rules(axes)
    style.quiet_frame(axes, "left", "bottom")
    return axes


def _title(subjects: int, lost: int, mass: str) -> str:
    who = many(subjects, "subject")
    if lost:
        return f"Place and firmness, {mass} intervals: {subjects - lost} of {who} identified"
    return f"Place and firmness of {who}, {mass} intervals"


def _groups(table: pd.DataFrame, conditions: pd.DataFrame | None) -> dict[str, list[str]]:
    """List the subjects of each model; without conditions all subjects are one group."""
    if conditions is None:
        return {"": list(table.index)}
    need_conditions(conditions, table.index)
    models = conditions.loc[table.index, "model"]
    return {str(model): list(own.index) for model, own in models.groupby(models, sort=False)}


def _text(subject: object, conditions: pd.DataFrame | None, count: int) -> str:
    """Return the name of a point: its level, or the subject's name if there are few."""
    if conditions is None:
        return style.words(subject, 24) if count <= _NAMED else ""
    level = float(conditions["incited"][str(subject)])
    return "" if np.isnan(level) else f"{level:+g}".replace("-", "\u2212").replace("+0", "0")


def _points(ax: Axes, own: pd.DataFrame, plain: np.ndarray, colour: str, name: str) -> None:
    """Draw crosses of intervals, and points, hollow if the wobble is limited from above only."""
    ends = own[list(_ENDS)].to_numpy(dtype=float).T
    place, left, right, wobble, low, high = ends
    look: dict[str, Any] = {"color": colour, "linewidth": 1.0, "alpha": 0.45}
    ax.hlines(wobble, left, right, **look)
    ax.vlines(place, low, high, **look)
    fill = np.where(own["reason"].eq(""), colour, "white")
    for marker, which in (("o", ~plain), ("D", plain)):
        if which.any():
            ax.scatter(
                place[which],
                wobble[which],
                s=30,
                marker=marker,
                facecolors=fill[which],
                edgecolors=colour,
                linewidths=1.2,
                zorder=3,
            )


def _legend(
    ax: Axes,
    drawn: pd.DataFrame,
    groups: dict[str, list[str]],
    conditions: pd.DataFrame | None,
) -> None:
    """Explain colours, hollow points and diamonds, if there are any."""
    entries: list[Line2D] = []
    if conditions is not None:
        looks = style.method_styles(list(groups))
        entries += [style.entry(style.legend_words(name), looks[name][0], "o") for name in groups]
        if conditions.loc[drawn.index, "incited"].isna().any():
            entries.append(style.entry("unprompted", style.INK, "D", linestyle="none"))
    if drawn["reason"].ne("").any():
        hollow = {"linestyle": "none", "markerfacecolor": "white"}
        entries.append(style.entry("wobble known from above only", style.INK, "o", **hollow))
    if entries:
        ax.legend(
            handles=entries, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1)
        )
