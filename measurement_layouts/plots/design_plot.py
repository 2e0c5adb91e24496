"""Expected standard deviations under a designed battery, item by item."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..batteries.design.result import Design
from . import style

_SIZE = (6.8, 4.6)  # inches
_APART = 0.042  # distance between names, as a share of the height of the axes
_NAME = 34  # largest number of letters of a name


def design_plot(design: Design, *, ax: Axes | None = None) -> Axes:
    """Draw expected standard deviations of the latents against the number of items.

    Each standard deviation is divided by the one before any item, so that latents with different
    units share an axis. Lines of the target's latents are dark, and those of other latents are pale
    and dashed; each line has its name at its end.

    Parameters
    ----------
    design : Design
        Result of `batteries.design`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes with one line for each profile element.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight = ml.Capability("sight", low=0, high=10)
    >>> smallness = ml.MetaFeature("smallness", low=0, high=10)
    >>> layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, index=range(41))
    >>> design_plot(ml.batteries.design(layout, bank, n=8)).get_ylabel()
    'expected sd, part of the one before any item'
    """
    axes = style.single(ax, _SIZE)
    curve, latents = design.curve, design.latents
    shares = curve / latents["before"]
    wanted = latents["weight"] > 0
    for name in design.curve.columns.astype(str):
        look: dict[str, Any] = {"color": style.INK if wanted[name] else style.QUIET}
        look["linestyle"] = "-" if wanted[name] else "--"
        axes.plot(shares.index, shares[name], linewidth=1.3 if wanted[name] else 1.0, **look)
    last = shares.index[-1]
    axes.set_xlim(0, last)
    low = min(float(shares.to_numpy().min()), 0.9)
    axes.set_ylim(max(0.0, low - 0.08), max(1.0, float(shares.to_numpy().max())) + 0.02)
    ends = shares.iloc[-1].sort_values()
    bottom, top = axes.get_ylim()
    step = _APART * (top - bottom)
    for name, height in zip(ends.index, _spread(ends.to_numpy(), step), strict=True):
        axes.annotate(
            f"{style.words(name, _NAME)}  {latents.loc[name, 'after']:.2g}",
            (last, ends[name]),
            xytext=(1.05, (height - bottom) / (top - bottom)),
            textcoords="axes fraction",
            va="center",
            fontsize=7.5,
            color=style.INK if wanted[name] else style.QUIET,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.FAINT, "linewidth": 0.6},
        )
    axes.set(xlabel="number of items", ylabel="expected sd, part of the one before any item")
    style.title(
        axes, f"{style.words(design.layout, 40)}: what {last} of {len(design.bank)} items tell"
    )
    style.rules(axes)
    style.quiet_frame(axes, "left", "bottom")
    return axes


def _spread(heights: np.ndarray, apart: float) -> np.ndarray:
    """Move ascending heights as little as keeps them apart, about their middle."""
    from scipy.optimize import isotonic_regression

    places = np.arange(len(heights)) * apart
    return np.asarray(isotonic_regression(heights - places).x + places)
