"""Abilities or success of models against their size."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..evaluations.tables import known_names, need_columns, texts
from . import style
from .lines import Look, lines


def scaling_plot(
    table: pd.DataFrame,
    sizes: pd.Series,
    families: pd.Series | None = None,
    *,
    dimensions: Iterable[str] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw abilities or performance against the size of models, one line per family.

    There is one panel for each dimension of characteristic curves, element of profiles, or group of
    items in a table of performance.

    Parameters
    ----------
    table : DataFrame
        One row per subject and panel, with an interval: ``table`` of `characteristic_curves`,
        ``fit.profiles()``, success rates of `Evaluation.group_rates`, or mean forecasts of
        `Forecast.summary`.
    sizes : Series
        Sizes, which are positive numbers, indexed by subject; the name of the series is the label
        of the axis. Subjects without a size are left out.
    families : Series, optional
        Names of families, indexed by subject (default: one family). Lines join the subjects of a
        family.
    dimensions : iterable of str, optional
        Panels: dimensions, elements ``node[label]``, or groups (default: all).
    prob : float, default 0.9
        Mass of the intervals of the table, which the title states.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per panel. Horizontal axis: size, logarithmic; vertical axis: the value. A hollow
        point is prior-dominated.

    Raises
    ------
    DataError
        When no subject has a size, a size is not positive, a family is
        missing, a dimension is unknown, or a table has other columns.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    General scales paper, section 8.2, figures 11 and 12.

    Examples
    --------
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> luck = np.random.default_rng(1).random((2, 400)) * items["logic"].to_numpy()
    >>> outcomes = pd.DataFrame(luck < [[1], [2]], ["small", "large"])
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> curves = characteristic_curves(evaluation, ["logic"])
    >>> sizes = pd.Series({"small": 1.0, "large": 70.0}, name="parameters (billions)")
    >>> scaling_plot(curves.table, sizes)[0].get_xlabel()
    'parameters (billions)'
    >>> len(scaling_plot(evaluation.group_rates("logic"), sizes))
    4
    """
    mass = style.percent(inside("prob", prob, such_as=0.9))
    table = table.rename(columns={"ability": "mean", "dimension": "group"})
    if "node" in table and "label" in table:
        labels = table["label"].map(lambda label: f"[{label}]" if label else "")
        table = table.assign(group=table["node"] + labels)
    need_columns(table.columns, ["subject", "group", "mean", "low", "high"], "the table has")
    named, groups = texts(sizes.index, "sizes"), list(dict.fromkeys(table["group"].astype(str)))
    panels = groups if dimensions is None else known_names(dimensions, pd.Index(groups), "group")
    sized = sizes.set_axis(named).astype(float)
    sized = sized[sized.index.isin(table["subject"].astype(str))]
    if sized.empty:
        raise DataError(
            f"sizes are of {some(named)}, and the subjects are "
            f"{some(dict.fromkeys(table['subject']))}; index sizes by subject"
        )
    wrong = sized.index[~(np.isfinite(sized) & (sized > 0))]
    if len(wrong):
        raise DataError(f"sizes are not positive numbers: {some(wrong)}; correct or drop them")
    members = pd.Series("all", sized.index)
    if families is not None:
        members = families.set_axis(texts(families.index, "families")).reindex(sized.index)
        missing = members.index[members.isna()]
        if len(missing):
            raise DataError(f"no family for {some(missing)}; give one, or leave out their sizes")
    members = members.astype(str)
    points = pd.DataFrame(
        {
            "panel": table["group"].astype(str),
            "order": table["group"].astype(str).map({name: at for at, name in enumerate(panels)}),
            "series": table["subject"].astype(str).map(members),
            "x": table["subject"].astype(str).map(sized),
            "y": table["mean"].astype(float),
            "low": table["low"].astype(float),
            "high": table["high"].astype(float),
            "hollow": table.get("prior_dominated", False),
        }
    )
    points = points.dropna(subset=["order", "x"]).sort_values(["order", "x"])
    looks = {
        name: Look(colour, name, "-", marker, width=1.2)
        for name, (colour, marker) in style.group_styles(members).items()
    }
    axes = lines(
        points,
        looks,
        ax=ax,
        columns=6,
        size=(2.0, 1.8),
        title=f"Values by size, {mass} intervals",
        x=style.words("size" if sizes.name is None else str(sizes.name), 30),
        y="mean",
    )
    top = max(float(points["high"].max()), float(points["y"].max()))
    for panel in axes:
        if "node" not in table:
            panel.set_ylim(0, 1.05 * top)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
    return axes
