"""Success probabilities by propensity, for items with given bands."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ..common.digits import short
from ..common.errors import DataError
from ..common.options import positive
from ..layouts.drawing.style import STYLES
from ..linking import band, bilogistic, units
from . import style

type Ends = tuple[float, float]

_POINTS = 401
_REACH = 4.0  # distance that a panel shows beyond the ends, in logits of slope `slope`
_COLUMNS = 4
_PANEL = (2.9, 2.3)  # inches


def item_response_curves(
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
    >>> item_response_curves([(-2, 4), (0.5, 1)])[1].get_title()
    '[0.5, 1]'
    """
    found = _checked(bands)
    steepness = positive("slope", slope, such_as=1)
    most = min(math.ceil(math.sqrt(len(found))), _COLUMNS)
    axes, figure, columns = style.grid(ax, len(found), most, _PANEL, (0, 1.1), 5.6)
    for panel, ends in zip(axes, found, strict=True):
        _curves(panel, *ends, steepness)
        panel.set_title(_name(ends), fontsize=10)
        panel.set(ylim=(0, 1.05), yticks=[0, 0.5, 1])
        style.quiet_frame(panel, "left", "bottom")
    named = style.with_unit("propensity", units.parse(unit))
    style.outer_labels(axes, columns, named, "probability of success")
    style.heading(figure, f"Item response curves of slope {short(steepness)}")
    style.legend(axes, figure, 2, above=True)
    return axes


def _checked(bands: Ends | Sequence[Ends]) -> list[Ends]:
    try:
        found = np.asarray(bands, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    found = found[None] if found.ndim == 1 else found
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise DataError(
            f"bands={bands!r}; give a pair of numbers, as in (-2, 4), or a list of them"
        )
    for low, high in found:
        if not low < high or np.isinf([low, high]).all():
            raise DataError(
                f"the band {_name((low, high))} is empty or has no finite end; give its lower and "
                "then its upper end, one of them finite"
            )
    return [(float(low), float(high)) for low, high in found]


def _name(ends: Ends) -> str:
    left, right = ("(" if np.isinf(ends[0]) else "["), (")" if np.isinf(ends[1]) else "]")
    return f"{left}{short(ends[0])}, {short(ends[1])}{right}"


def _curves(ax: Axes, low: float, high: float, slope: float) -> None:
    finite = [end for end in (low, high) if np.isfinite(end)]
    first, last = min(finite) - _REACH / slope, max(finite) + _REACH / slope
    shown = max(low, first), min(high, last)
    close = 0.3 * (shown[1] - shown[0])  # a narrow band has steep ends
    at = np.union1d(
        np.linspace(first, last, _POINTS),
        np.linspace(max(first, shown[0] - close), min(last, shown[1] + close), _POINTS),
    )
    product = bilogistic(at, low, high, slope, slope)
    peak = bilogistic((low + high) / 2, low, high, slope, slope)
    ax.axvspan(*shown, color=STYLES["propensity"].fill, linewidth=0, label="ideal band")
    for end in finite:
        ax.axvline(end, color=style.QUIET, linestyle="--", linewidth=0.9)
    ax.axhline(0.5, color=style.QUIET, linestyle=":", linewidth=0.9)
    for values, place, line, name in (
        (product, 0, "-", "product of two logistics"),
        (product / peak, 4, "--", "product, scaled to a peak of 1"),
        (band(at, low, high, slope), 2, "-", "band: scaled, and steeper where narrow"),
    ):
        ax.plot(
            at, values, color=style.METHODS[place][0], linestyle=line, linewidth=1.8, label=name
        )
    ax.set_xlim(first, last)
