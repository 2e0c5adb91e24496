"""Characteristic curves: success by the levels of a demand, and abilities by the size of models."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from ..batteries.characteristic import CharacteristicCurves
from ..batteries.demands import short_names
from ..common.digits import significant, with_interval
from ..common.errors import FitError
from ..common.messages import many
from ..layouts.drawing.style import STYLES
from . import style
from .lines import Look, lines

_COLOUR, _ABILITY = STYLES["capability"].border, style.METHODS[1][0]
_BELOW = -0.06  # height of the ability's interval, below the curve
_DASHED = (0, (3, 2))
_AREAS = 10.0, 90.0  # least and greatest area of a marker, in square points
_POINTS = 301
_ENDS = ["mean", "low", "high"]


def curve_panels(
    curves: CharacteristicCurves,
    subject: object,
    dimensions: str | Sequence[str] | None = None,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw characteristic curves of one subject, one panel per dimension.

    The curve is dashed beyond the levels with items. The ability, which is the area under the
    curve, is marked below it.

    Parameters
    ----------
    curves : CharacteristicCurves
        Result of `characteristic_curves`.
    subject : object
        Subject to draw.
    dimensions : str or sequence of str, optional
        Demands to draw (default: all).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each dimension (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per dimension, in order, whose title has the ability and its interval. All panels
        have the same limits, and markers of the same size mean the same number of items.

    Raises
    ------
    FitError
        When the subject or a dimension is unknown, or the number of axes is wrong.

    References
    ----------
    General scales paper, figures 3 and 17 to 31.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1, "volume": 1})
    >>> solved = np.random.default_rng(1).random(400) * items["logic"] < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> axes = curve_panels(characteristic_curves(evaluation, ["logic", "volume"]), "Ann")
    >>> [panel.get_title().split(": ")[0] for panel in axes]
    ['logic', 'volume']
    """
    names = [dimensions] if isinstance(dimensions, str) else list(dimensions or curves.dimensions)
    rows = {name: curves.row(subject, name) for name in names}
    highs = [row["high"] for row in rows.values()] + [row["ability"] for row in rows.values()]
    top = float(curves.bins["level"].max()) + 1
    most = float(np.clip(np.nanmax([top, *np.add(highs, 0.3)]), top, 2 * top - curves.lowest))
    table = pd.concat([_points(curves, row, most).assign(panel=name) for name, row in rows.items()])
    mass = style.percent(curves.prob)
    looks = {
        "curve": Look(_COLOUR, f"curve and its {mass} band", "-", band=True),
        "beyond": Look(_COLOUR, "beyond the items' levels", _DASHED, band=True),
        "rate": Look(
            style.INK, f"success rate and {mass} interval; larger: more items", marker="o"
        ),
    }
    short = dict(zip(names, short_names(names), strict=True))
    titles = {n: f"{style.words(short[n], 20)}: {_ability(row)}" for n, row in rows.items()}
    axes = lines(
        table,
        looks,
        ax=ax,
        columns=6,
        size=(4.6, 3.2) if len(names) == 1 else (2.0, 1.75),
        title=f"Characteristic curves of {style.words(subject)}",
        titles=titles,
        x="demand level",
        y="success",
        entries=(style.entry(f"ability and {mass} interval", _ABILITY, "^", linewidth=2.6),),
    )
    for panel, row in zip(axes, rows.values(), strict=True):
        if np.isfinite(row["ability"]):
            ends = np.minimum([row["low"], row["high"]], most)
            panel.plot(ends, [_BELOW] * 2, color=_ABILITY, linewidth=2.6, clip_on=False)
            panel.plot(min(row["ability"], most), _BELOW, "^", color=_ABILITY, clip_on=False)
        _frame(panel, curves, most)
    return axes


def curves_by_subject(
    curves: CharacteristicCurves, dimension: str, *, ax: Axes | None = None
) -> Axes:
    """Draw the characteristic curves of all subjects for one demand.

    Parameters
    ----------
    curves : CharacteristicCurves
        Result of `characteristic_curves`.
    dimension : str
        Demand on the horizontal axis.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: demand level; vertical axis: success. The legend goes from the highest
        ability to the lowest, and so do the colours, from orange to blue. Subjects without a curve
        are last.

    Raises
    ------
    FitError
        When the dimension is unknown, or no subject has a curve.

    References
    ----------
    General scales paper, figure 7.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Evaluation
    >>> from measurement_layouts.batteries.characteristic import characteristic_curves
    >>> items = pd.DataFrame({"logic": np.arange(400) % 4 + 1})
    >>> solved = np.random.default_rng(1).random(400) * items["logic"] < 1
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> curves_by_subject(characteristic_curves(evaluation, ["logic"]), "logic").get_title()
    'logic: success of 1 subject'
    """
    rows = pd.DataFrame([curves.row(name, dimension) for name in curves.subjects])
    rows["ability"] = rows["ability"].astype(float)
    if not np.isfinite(rows["ability"]).any():
        raise FitError(f"{dimension}: no subject has a curve; see the reasons in table")
    rows = rows.sort_values("ability", ascending=False, kind="stable")
    most = float(curves.bins["level"].max()) + 1
    colours = map(to_hex, style.amount_map()(np.linspace(1, 0, max(len(rows), 2))))
    looks, frames = {}, []
    for (_, row), colour in zip(rows.iterrows(), colours, strict=False):
        name = str(row["subject"])
        points = _points(curves, row, most)
        frames.append(points.assign(series=f"{name}: " + points["series"], low=np.nan, area=14))
        label = f"{style.words(name, 30)}: {_ability(row)}"
        looks[f"{name}: curve"] = Look(colour, label, "-")
        looks[f"{name}: beyond"] = Look(colour, line=_DASHED)
        looks[f"{name}: rate"] = Look(colour, marker="o")
    (panel,) = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        size=(6.6, 3.4),
        title=f"{style.words(dimension)}: success of {many(len(rows), 'subject')}",
        x=f"demand level of {style.words(dimension)} (legend: ability, "
        f"{style.percent(curves.prob)} interval)",
        y="success",
    )
    _frame(panel, curves, most)
    return panel  # type: ignore[no-any-return]


def _points(curves: CharacteristicCurves, row: pd.Series, most: float) -> pd.DataFrame:
    """Return a curve, within and beyond the items' levels, and the success rates by level."""
    bins = curves.bins_of(row["subject"], row["dimension"])
    tried = bins[bins["items"] > 0]
    if tried.empty:
        return pd.DataFrame({"series": ["rate"], "x": np.nan, "y": np.nan, "area": 0.0})
    first, last = tried["level"].min(), tried["level"].max()
    at = np.union1d(np.linspace(curves.lowest, most, _POINTS), tried["level"])
    line = curves.curve(row["subject"], row["dimension"], at)
    line = line.rename(columns={"level": "x", "success": "y"})
    share = tried["items"] / max(curves.bins["items"].max(), 1)
    names = {"level": "x", "rate": "y", "rate_low": "low", "rate_high": "high"}
    table = pd.concat(
        [
            line[line["x"].between(first, last)].assign(series="curve"),
            line[line["x"] <= first].assign(series="beyond", part="before"),
            line[line["x"] >= last].assign(series="beyond", part="after"),
            tried.rename(columns=names).assign(
                series="rate", area=_AREAS[0] + (_AREAS[1] - _AREAS[0]) * share
            ),
        ]
    )
    return pd.DataFrame(table, columns=["series", "part", "x", "y", "low", "high", "area"])


def _frame(ax: Axes, curves: CharacteristicCurves, most: float) -> None:
    """Set limits and ticks of levels and of the probability of success."""
    ax.set(xlim=(curves.lowest - 0.15, most), ylim=(2 * _BELOW, 1.05), yticks=[0, 0.5, 1])
    step = 1 if most - curves.lowest < 8 else 2
    ax.set_xticks(np.arange(curves.lowest, most + 0.01, step))


def _ability(row: pd.Series) -> str:
    """Write an ability and its interval."""
    if not np.isfinite(row["ability"]):
        return "no curve"
    if not np.isfinite(row["low"]):
        return significant(row["ability"])
    return with_interval(row["ability"], row["low"], row["high"])
