"""Response curves of bands, and propensities that were incited in models."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..common.digits import short
from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside, positive
from ..evaluations.tables import need_columns, renamed
from ..layouts.drawing.style import STYLES
from ..linking import band, bilogistic, units
from . import style
from .lines import Look, lines

type Ends = tuple[float, float]

_COLOUR = STYLES["propensity"].border
_REACH = 4.0  # distance that a panel shows beyond the ends, in logits of slope `slope`
_NEEDED = ("model", "incited", "estimate", "low", "high", "identified")
_ASIDE = 1.4  # distance of the unprompted model from the lowest level, in levels


def band_curves(
    bands: Ends | Sequence[Ends],
    slope: float = 1.0,
    *,
    unit: str | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw success by propensity for one or several bands, normalised in three ways.

    The product of two logistic functions,
    :math:`\sigma(a(\theta - b_l))\,\sigma(a(b_u - \theta))`, is below 1 everywhere. Divided by its
    peak, it is above 0.5 at the ends. `band` is 1 in the middle and about 0.5 at the ends, since
    its slope grows as the band narrows.

    Parameters
    ----------
    bands : (float, float) or sequence of (float, float)
        Lower and upper end of each band; one of the two may be infinite.
    slope : float, default 1
        Slope `a`, per unit of the propensity; positive.
    unit : str, optional
        Unit of the propensity, for the axis.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each band (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per band, with the band as its title. The band is shaded; a dotted line marks
        success of 0.5. A band narrower than 0.1 has the curve of `band`, which widens it.

    Raises
    ------
    DataError
        When a band is not a pair of ascending numbers with a finite end.
    FitError
        When the slope is not positive, or the number of axes is wrong.
    LayoutError
        When `unit` cannot be read.

    References
    ----------
    Propensities paper, Eq. 2 to 5, figures 1, 2 (top) and 4.

    Examples
    --------
    >>> band_curves([(-2, 4), (0.5, 1)])[1].get_title()
    '[0.5, 1]'
    """
    pairs = _pairs(bands)
    steepness = positive("slope", slope, such_as=1)
    looks = {
        "product of two logistics": Look(style.METHODS[0][0], "product of two logistics", "-"),
        "scaled": Look(style.METHODS[4][0], "product, scaled to a peak of 1", "--"),
        "band": Look(style.METHODS[2][0], "band: scaled, and steeper where narrow", "-"),
    }
    frames = []
    for low, high in pairs:
        finite = [end for end in (low, high) if np.isfinite(end)]
        first, last = min(finite) - _REACH / steepness, max(finite) + _REACH / steepness
        close = np.concatenate([np.linspace(end - 0.5, end + 0.5, 101) for end in finite])
        at = np.union1d(np.linspace(first, last, 401), np.clip(close, first, last))
        product = bilogistic(at, low, high, steepness, steepness)
        peak = bilogistic((low + high) / 2, low, high, steepness, steepness)
        for series, values in zip(
            looks, (product, product / peak, band(at, low, high, steepness)), strict=True
        ):
            panel = {"panel": _name((low, high)), "series": series, "x": at, "y": values}
            frames.append(pd.DataFrame(panel))
    axes = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        columns=min(math.ceil(math.sqrt(len(pairs))), 4),
        size=(2.9, 2.2),
        title=f"Response curves of bands, slope {short(steepness)}",
        x=style.with_unit("propensity", units.parse(unit)),
        y="probability of success",
        ylim=(0, 1.05),
        entries=(style.entry("ideal band", STYLES["propensity"].fill, linewidth=7),),
    )
    for ends, panel in zip(pairs, axes, strict=True):
        view = panel.get_xlim()
        panel.axvspan(*np.clip(ends, *view), color=STYLES["propensity"].fill, zorder=0)
        panel.axhline(0.5, color=style.QUIET, linestyle=":", linewidth=0.9)
        panel.set(xlim=view, yticks=[0, 0.5, 1])
    return axes


def _pairs(bands: Ends | Sequence[Ends]) -> list[Ends]:
    """Read one or several bands, each a pair of ascending numbers with a finite end."""
    try:
        values = np.asarray(bands, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    values = values[None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise DataError(
            f"bands={bands!r}; give a pair of numbers, as in (-2, 4), or a list of them"
        )
    for low, high in values:
        if not low < high or np.isinf([low, high]).all():
            raise DataError(
                f"the band {_name((low, high))} is empty or has no finite end; give its lower and "
                "then its upper end, one of them finite"
            )
    return [(float(low), float(high)) for low, high in values]


def _name(ends: Ends) -> str:
    opening, closing = ("(" if np.isinf(ends[0]) else "["), (")" if np.isinf(ends[1]) else "]")
    return f"{opening}{short(ends[0])}, {short(ends[1])}{closing}"


def incited_against_obtained(
    table: pd.DataFrame,
    propensity: str = "propensity",
    *,
    unit: str = "level",
    columns: Mapping[str, str] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw obtained propensities against incited levels, one panel per model.

    Parameters
    ----------
    table : DataFrame
        One row per model and incitement: ``model``, ``incited`` (missing without a prompt),
        ``estimate``, ``low``, ``high`` (ends of its interval, which may be infinite) and
        ``identified``; optionally ``published``, another estimate to draw beside.
    propensity : str
        Name of the propensity, for the title.
    unit : str, default "level"
        Unit of both axes.
    columns : mapping of str to str, optional
        Names of the table's columns, by the names above, such as ``{"model": "who"}``.
    prob : float, default 0.9
        Mass or confidence of the intervals, as given to `estimate`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each model (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per model, in the table's order. Diamonds at the left are models without a prompt.
        Hollow marks at the bottom mean that the data do not identify an estimate.

    Raises
    ------
    DataError
        When a column is missing, the table is empty, a model has a level
        twice, or an identified row has no estimate.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Propensities paper, section 5.1 and appendix G.

    Examples
    --------
    >>> table = pd.DataFrame({"model": "A", "incited": [-3, 3, None], "estimate": [-2.2, 2.4, None],
    ...                       "low": [-2.4, 2.1, None], "high": [-2.0, 2.6, None],
    ...                       "identified": [True, True, False]})
    >>> incited_against_obtained(table, "risk aversion")[0].get_title()
    'A'
    """
    mass = style.percent(inside("prob", prob, such_as=0.9))
    table = renamed(table, columns, [*_NEEDED, "published"], [*_NEEDED, "published"])
    need_columns(table.columns, _NEEDED, "the table of obtained propensities has")
    table = table.assign(identified=table["identified"].astype(bool))
    twice = table[table.duplicated(["model", "incited"])]
    if table.empty or len(twice):
        pairs = (f"{row.model} at {row.incited}" for row in twice.itertuples())
        fault = f"several rows of {some(pairs)}" if len(twice) else "no rows"
        raise DataError(f"the table has {fault}; give each model and level one")
    empty = table[table["identified"] & table["estimate"].isna()]
    if len(empty):
        raise DataError(
            f"identified without an estimate: {some(empty['model'])}; give one, or set identified "
            "to False"
        )
    levels = np.unique(table["incited"].dropna().to_numpy(dtype=float))
    aside = (levels.min() if len(levels) else 0.0) - _ASIDE
    values_drawn = (
        table[["estimate", "low", "high"]].where(table["identified"]).to_numpy(dtype=float)
    )
    values = np.concatenate(
        [values_drawn[np.isfinite(values_drawn)], levels, table.get("published", [])]
    )
    bottom, top = np.nanmin(values, initial=0.0), np.nanmax(values, initial=0.0)
    bottom, top = bottom - 0.12 * ((top - bottom) or 1), top + 0.06 * ((top - bottom) or 1)
    points = table.assign(
        panel=table["model"].astype(str),
        series=np.where(table["incited"].isna(), "unprompted", "incited"),
        x=table["incited"].fillna(aside).astype(float),
        y=table["estimate"].where(table["identified"]),
        low=table["low"].where(table["identified"]).clip(lower=bottom, upper=top),
        high=table["high"].where(table["identified"]).clip(lower=bottom, upper=top),
    )
    unknown = points[~points["identified"]].assign(
        series="not identified", y=bottom, hollow=True, low=np.nan
    )
    models = list(dict.fromkeys(points["panel"]))
    first, last = aside + _ASIDE, levels.max() if len(levels) else aside
    ends = [first, last]
    diagonals = [
        pd.DataFrame({"panel": name, "series": "as incited", "x": ends, "y": ends})
        for name in models
    ]
    frames = [*diagonals, points, unknown]
    if "published" in points:
        frames.append(points.assign(series="published", y=points["published"], low=np.nan))
    looks = {
        "as incited": Look(style.FAINT, "as incited", "--", width=1.0),
        "incited": Look(_COLOUR, f"incited, {mass} interval", marker="o", area=9),
        "unprompted": Look(_COLOUR, f"unprompted, {mass} interval", marker="D", area=9),
        "not identified": Look(style.QUIET, "not identified", marker="o", area=30),
        "published": Look(style.METHODS[1][0], "published", marker="x", area=24),
    }
    axes = lines(
        pd.concat(frames, ignore_index=True),
        looks,
        ax=ax,
        size=(2.1, 2.2),
        title=f"{style.words(propensity)}: incited and obtained",
        x=style.with_unit("incited to", units.parse(unit)),
        y=style.with_unit("obtained", units.parse(unit)),
        xlim=(aside - 0.8, last + 0.6),
        ylim=(bottom, top),
    )
    for name, panel in zip(models, axes, strict=True):
        panel.set_xticks([aside, *levels], ["none", *map(short, levels)])
        panel.axvline(aside + _ASIDE / 2, color=style.RULE, linewidth=0.8)
        unprompted = points[(points["panel"] == name) & (points["series"] == "unprompted")]
        for level in unprompted["y"].dropna():
            panel.axhline(level, color=_COLOUR, linestyle=":", linewidth=0.9, zorder=0)
    return axes
