"""Abilities against the size of models."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..batteries.characteristic import CharacteristicCurves
from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.tables import texts
from . import style
from .kinds import of_its_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 6
_PANEL = (2.0, 1.8)  # inches


@of_its_kind
def scaling_plot(
    curves: CharacteristicCurves,
    sizes: pd.Series,
    families: pd.Series | None = None,
    *,
    dimensions: Iterable[str] | None = None,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
) -> "np.ndarray":
    """Draw how ability grows with size, a panel per dimension and a line per family.

    Parameters
    ----------
    curves : CharacteristicCurves
        What `characteristic_curves` returned.
    sizes : Series
        Positive numbers, indexed by subject; its name is the axis label. Subjects that are not in
        it are left out.
    families : Series, optional
        Names, indexed by subject; those of one family are joined. One family by default.
    dimensions : iterable of str, optional
        Which, in this order; all by default.
    ax : Axes or sequence of Axes, optional
        Where to draw, one for each dimension; a new figure by default.

    Returns
    -------
    ndarray of Axes
        One per dimension. Horizontal: size, logarithmic; vertical: ability in levels, with its
        interval, cut where the axis ends. Axes made here are shared.

    Raises
    ------
    DataError
        When no subject has a size, a size is not positive, a family is missing, or there are too
        many families.
    FitError
        When a dimension is unknown, or the number of axes is wrong.

    References
    ----------
    General scales paper, section 8.2 and figure 11.

    Examples
    --------
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> luck = np.random.default_rng(1).random((2, 400)) * items["logic"].to_numpy()
    >>> outcomes = pd.DataFrame(luck < [[1], [2]], ["small", "large"])
    >>> curves = characteristic_curves(Evaluation.from_wide(outcomes, items), ["logic"])
    >>> sizes = pd.Series({"small": 1.0, "large": 70.0}, name="parameters (billions)")
    >>> scaling_plot(curves, sizes)[0].get_xlabel()
    'parameters (billions)'
    """
    known = _sizes(curves, sizes)
    groups = _groups(known, families)
    chosen = curves.dimensions if dimensions is None else texts(dimensions, "the dimensions")
    columns = min(_COLUMNS, len(chosen))
    size = max(_PANEL[0] * columns + 0.5, 4.2), _PANEL[1] * -(-len(chosen) // columns) + 1.4
    axes, figure = style.panels(ax, len(chosen), columns, size)
    rows = {name: [curves.row(who, name) for who in known.index] for name in chosen}
    abilities = [row["ability"] for part in rows.values() for row in part]
    top = 1.08 * float(np.nanmax([curves.bins["level"].max(), *abilities]))
    label = "size" if sizes.name is None else str(sizes.name)
    for panel, name in zip(axes, chosen, strict=True):
        table = pd.DataFrame(rows[name]).set_index("subject")
        _lines(panel, table, known, groups, top)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.set_ylim(0, top)
        panel.grid(axis="y", color=style.RULE, linewidth=0.7)
        panel.set_title(style.words(name, 24), fontsize=9)
        panel.tick_params(labelsize=8)
        style.quiet_frame(panel, "left", "bottom")
    style.outer_labels(axes, columns, style.words(label, 30), "ability (level)", fontsize=9)
    entries = axes[0].get_legend_handles_labels()
    look = {"fontsize": 8, "frameon": False, "ncols": 3}
    if figure is None:
        axes[0].legend(*entries, loc="lower center", bbox_to_anchor=(0.5, 1.15), **look)
    else:
        interval = style.percent(curves.prob)
        style.heading(figure, f"Ability and size, {interval} intervals")
        figure.legend(*entries, loc="outside lower center", **look)
    return axes


def _sizes(curves: CharacteristicCurves, sizes: pd.Series) -> pd.Series:
    """Keep the sizes of subjects that have curves, ascending."""
    named = sizes.set_axis(texts(sizes.index, "sizes")).astype(float)
    known = named[[name for name in named.index if name in curves.subjects]].sort_values()
    if known.empty:
        raise DataError(
            f"sizes are of {some(named.index)}, and curves of {some(curves.subjects)}; index sizes "
            "by subject"
        )
    wrong = known.index[~(np.isfinite(known) & (known > 0))]
    if len(wrong):
        raise DataError(f"sizes that are no positive numbers: {some(wrong)}; correct or drop them")
    return known


def _groups(sizes: pd.Series, families: pd.Series | None) -> dict[str, list[str]]:
    if families is None:
        return {"all": list(sizes.index)}
    named = families.set_axis(texts(families.index, "families"))
    missing = [name for name in sizes.index if name not in named.index]
    if missing:
        raise DataError(f"no family of {some(missing)}; name one, or leave out their sizes")
    own = named[list(sizes.index)].astype(str)
    groups = {family: list(own.index[own == family]) for family in dict.fromkeys(own)}
    if len(groups) > len(style.METHODS):
        raise DataError(
            f"{len(groups)} families; at most {len(style.METHODS)} can be told apart: join some"
        )
    return groups


def _lines(
    ax: "Axes", table: pd.DataFrame, sizes: pd.Series, groups: dict[str, list[str]], top: float
) -> None:
    for place, (family, members) in enumerate(groups.items()):
        colour, marker = style.METHODS[place]
        rows, at = table.loc[members], sizes[members]
        ends = rows["low"].clip(upper=top), rows["high"].clip(upper=top)
        ax.vlines(at, *ends, color=colour, linewidth=1.6, alpha=0.6)
        label = style.legend_words(family)
        look: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 4,
            "linewidth": 1.2,
        }
        ax.plot(at, rows["ability"], label=label, **look)
