"""Success among accepted items against the share that is accepted."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from ..common.options import inside
from ..decisions import EVERYBODY, RiskCoverage
from . import style

_SIZE = (6.4, 4.4)  # inches


def risk_coverage_plot(
    curves: RiskCoverage | Mapping[str, RiskCoverage],
    *,
    success: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Draw success among accepted items against the share that is accepted, for each method.

    Attempts of all subjects are accepted in the order of their forecasts. The dashed line is the
    required success. The larger point on a curve is the largest share of attempts at which success
    is as high as required. The dotted line is an uninformative forecast, with the success of all
    attempts at every share. If one method is drawn, thin lines are single subjects.

    Parameters
    ----------
    curves : RiskCoverage or mapping of str to RiskCoverage
        Result of `measurement_layouts.decisions.risk_coverage`, or several results by name of the
        method.
    success : float, default 0.9
        Required success, in (0, 1).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: share of attempts that are accepted; vertical axis: share of these that
        succeed, both from 0 to 1.

    Raises
    ------
    DataError
        When `curves` is something else, or there are more methods than colours.
    FitError
        When `success` is not between 0 and 1.

    References
    ----------
    El-Yaniv, R. and Wiener, Y. (2010), On the foundations of noise-free selective classification,
    Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> forecast = point_forecast(np.array([[0.9, 0.6, 0.3]]), ["Ann"], ["a", "b", "c"])
    >>> items = pd.DataFrame(index=["a", "b", "c"])
    >>> outcomes = ml.Evaluation.from_wide(pd.DataFrame([[1, 1, 0]], ["Ann"], items.index), items)
    >>> risk_coverage_plot(ml.decisions.risk_coverage(forecast, outcomes)).get_xlabel()
    'share of attempts accepted'
    """
    success = inside("success", success, such_as=0.9)
    known = {"": curves} if isinstance(curves, RiskCoverage) else dict(curves)
    looks = style.method_styles(list(known))
    panel = style.single(ax, _SIZE)
    for name, found in known.items():
        colour, marker = looks[name]
        area = found.areas.loc[EVERYBODY]
        if len(known) == 1:
            own = found.curve[found.curve["subject"] != EVERYBODY]
            for number, (_, each) in enumerate(own.groupby("subject", sort=False)):
                x, y = each["coverage"], each["success"]
                told = "each subject" if not number else None
                panel.plot(x, y, color=style.QUIET, linewidth=0.6, alpha=0.5, label=told)
        pooled = found.curve[found.curve["subject"] == EVERYBODY]
        label = f"{style.legend_words(name) or 'all subjects'} (area above: {area['area']:.3f})"
        panel.plot(
            pooled["coverage"], pooled["success"], color=colour, linewidth=2, label=label, zorder=3
        )
        reached = float(found.largest(success)[EVERYBODY])
        if reached > 0:
            last = pooled[pooled["coverage"] == reached]
            panel.plot(
                last["coverage"], last["success"], marker, color=colour, markersize=8, zorder=4
            )
    panel.axhline(
        success,
        color=style.QUIET,
        linestyle="--",
        linewidth=1.1,
        zorder=1,
        label=f"required: {success:g}",
    )
    rates = {round(float(found.areas["success"][EVERYBODY]), 6) for found in known.values()}
    for number, rate in enumerate(rates):
        told = "everything accepted" if not number else None
        panel.axhline(rate, color=style.QUIET, linestyle=":", linewidth=1.1, zorder=1, label=told)
    panel.set_xlim(0, 1.02)
    panel.set_ylim(0, 1.03)
    panel.set_xlabel("share of attempts accepted")
    panel.set_ylabel("share of these that succeed")
    panel.legend(
        fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2
    )
    style.title(panel, "Success among what is accepted")
    style.quiet_frame(panel, "left", "bottom")
    return panel
