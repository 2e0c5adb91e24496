"""Parts of figures of dispositions: groups of models, lines over bins, means with bands."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..dispositions.judgments import SituationalJudgments
from ..errors import DataError
from ..tables import known_names
from ..wording import some
from . import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ONE = "models"  # the group of all models where none are given
_ENTRY = 2.2  # width of an entry of a legend, in inches
_THIN: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.35, "zorder": 1}


class Shown(NamedTuple):
    """The judgments in a figure, their models in order, and the group of each."""

    judgments: SituationalJudgments
    models: list[str]
    groups: dict[str, str]

    @property
    def members(self) -> dict[str, list[str]]:
        """Models of each group, groups in order of appearance."""
        found: dict[str, list[str]] = {}
        for model in self.models:
            found.setdefault(self.groups[model], []).append(model)
        return found

    @property
    def styles(self) -> dict[str, tuple[str, str]]:
        """Colour and marker of each group."""
        names = list(self.members)
        return {_ONE: (style.INK, "o")} if names == [_ONE] else style.method_styles(names)


def shown(
    judgments: SituationalJudgments,
    models: Sequence[str] | None,
    groups: Mapping[str, str] | None,
) -> Shown:
    """Choose models, and give each its group.

    Raises
    ------
    DataError
        When there is no model, one is unknown, one has no group, or there are too many groups.
    """
    if not judgments.models:
        raise DataError("no model answered these scenarios; give samples to from_long")
    known = pd.Index(judgments.models)
    chosen = list(known) if models is None else known_names(models, known, "model")
    if not chosen:
        raise DataError("no model is named; name one, or leave models= out")
    given = dict.fromkeys(known, _ONE) if groups is None else dict(groups)
    known_names(given, known, "model")
    if without := [model for model in chosen if model not in given]:
        raise DataError(f"groups= has no group for {some(without)}; name one for each model")
    named = {model: str(given[model]) for model in chosen}
    if (count := len(set(named.values()))) > len(style.METHODS):
        raise DataError(
            f"groups= names {count} groups and {len(style.METHODS)} can be told apart; join some"
        )
    part = judgments if models is None else judgments.select(models=chosen)
    return Shown(part, chosen, named)


def draw_models(ax: "Axes", at: pd.Series, lines: pd.DataFrame, chosen: Shown) -> None:
    """Draw a thin line per model over bins, in the colour of its group."""
    styles = chosen.styles
    for model in chosen.models:
        colour = styles[chosen.groups[model]][0]
        ax.plot(100 * at, 100 * lines[model], color=colour, **_THIN)


def draw_means(ax: "Axes", at: pd.Series, table: pd.DataFrame, chosen: Shown) -> None:
    """Draw the mean of each group over bins, and its band."""
    for group, (colour, marker) in chosen.styles.items():
        own = table[table.index.get_level_values("group") == group].droplevel("group")
        where = 100 * at.loc[own.index]
        ax.fill_between(
            where,
            100 * own["low"],
            100 * own["high"],
            color=colour,
            alpha=0.3,
            linewidth=0,
            zorder=2,
        )
        ax.plot(
            where,
            100 * own["mean"],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=2.0,
            zorder=3,
        )


def line_entries(chosen: Shown, prob: float) -> "list[Artist]":
    """Explain thin lines, means and bands."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Artist] = []
    for group, (colour, marker) in chosen.styles.items():
        count = len(chosen.members[group])
        name = f"mean of {count} models" if count > 1 else "1 model"
        name = name if group == _ONE else f"{style.legend_words(group)}: {name}"
        entries.append(
            Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=2, label=name)
        )
    entries.append(Patch(color=style.QUIET, alpha=0.3, label=f"its {style.percent(prob)} interval"))
    if len(chosen.models) > len(chosen.members):
        entries.append(Line2D([], [], color=style.QUIET, linewidth=0.8, label="one model"))
    return entries


def explain(axes: "np.ndarray", figure: "Figure | None", entries: "Sequence[Artist]") -> None:
    """Explain a figure under its panels, or axes that were given inside the first of them."""
    look: dict[str, Any] = {"handles": entries, "fontsize": 8, "frameon": False}
    if figure is None:
        axes[0].legend(loc="best", **look)
        return
    lines = math.ceil(len(entries) * _ENTRY / figure.get_figwidth())
    figure.legend(loc="outside lower center", ncols=math.ceil(len(entries) / lines), **look)
