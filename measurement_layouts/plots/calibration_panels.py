"""Calibration of predictions, with one panel per subject or per cross-validation."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import FitError
from ..validation.prediction.result import CrossValidation
from . import style
from .curve_marks import draw_bins

_COLUMNS = 4
_PANEL = (2.1, 2.45)  # inches
_NAMES = {"forecast": "level", "success": "rate", "low": "rate_low", "high": "rate_high"}
"""Columns of a calibration, by the names that `draw_bins` uses."""


def calibration_panels(
    assessment: CrossValidation | Mapping[str, CrossValidation],
    method: str | None = None,
    *,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw success rate against predicted probability, one panel per subject or cross-validation.

    Points on the diagonal are calibrated. There are ten bins of equal width, as in the expected
    calibration error. Bars are Wilson intervals of the success rate for independent trials, with
    the mass that the cross-validation states.

    Parameters
    ----------
    assessment : CrossValidation or mapping of str to CrossValidation
        Result of `cross_validate`. If there are several results by name, such as ``{"home": ...,
        "elsewhere": ...}``, each has one panel, in which the predictions of all subjects are
        counted together.
    method : str, optional
        Method whose predictions are drawn (default: the first).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per subject or cross-validation, in order, whose title has the expected calibration
        error. Markers of the same size mean the same number of trials in all panels.

    Raises
    ------
    FitError
        When there is no such method, no cross-validation, or the number of axes is wrong.

    References
    ----------
    General scales paper, figures 13 to 15.

    Examples
    --------
    >>> from measurement_layouts.evaluations.evaluation import Evaluation
    >>> from measurement_layouts.validation.prediction.cross_validate import cross_validate
    >>> from measurement_layouts.validation.prediction.splits import Items
    >>> items = pd.DataFrame({"size": np.linspace(-2, 2, 200)})
    >>> chance = 1 / (1 + np.exp(2 * items["size"].to_numpy()))
    >>> solved = np.random.default_rng(1).random((2, 200)) < chance
    >>> evaluation = Evaluation.from_wide(pd.DataFrame(solved, ["Ann", "Bob"]), items)
    >>> found = cross_validate({"size": "logistic"}, evaluation, split=Items(folds=2),
    ...                        progressbar=False)
    >>> [panel.get_title().splitlines() for panel in calibration_panels(found)]
    [['Ann', 'ECE 0.07'], ['Bob', 'ECE 0.05']]
    """
    several = isinstance(assessment, Mapping)
    if several and not assessment:
        raise FitError("there is no cross-validation to draw; give at least one by name")
    first = next(iter(assessment.values())) if isinstance(assessment, Mapping) else assessment
    method = first.methods[0] if method is None else method
    if isinstance(assessment, Mapping):
        curves = {name: own.calibration(method, pooled=True) for name, own in assessment.items()}
        bins = pd.concat(curves, names=["panel", "bin"])
        names = list(curves)
        errors = np.array([own.by().loc[("", method), "ece"] for own in assessment.values()])
    else:
        bins, names = assessment.calibration(method), assessment.subjects
        scores = assessment.scores[assessment.scores["method"] == method]
        errors = scores.groupby("subject")["ece"].mean().reindex(names).to_numpy()
    bins = bins.rename(columns=_NAMES | {"trials": "items"})
    parts = [bins[bins.index.get_level_values(0) == name] for name in names]
    most = int(bins["items"].max()) if len(bins) else 1
    axes, figure, columns = style.grid(ax, len(names), _COLUMNS, _PANEL, (0.5, 1.0), 4.8)
    for panel, name, part, ece in zip(axes, names, parts, errors, strict=True):
        panel.plot([0, 1], [0, 1], color=style.QUIET, linestyle=":", linewidth=1.2, zorder=0)
        panel.lines[-1].set_label("calibrated")
        _draw(panel, part, most, first.prob)
        said = "no prediction" if np.isnan(ece) else f"ECE {ece:.2f}"
        panel.set_title(f"{style.words(name, 26)}\n{said}", fontsize=9)
    style.outer_labels(axes, columns, "predicted probability", "success rate", fontsize=9)
    who = ", all subjects together" * several
    style.heading(figure, f"Calibration of {style.words(method)}{who}")
    if figure is not None:
        style.legend(axes, figure, 2 if columns > 2 else 1)
    return axes


def _draw(panel: Axes, bins: pd.DataFrame, most: int, prob: float) -> None:
    draw_bins(panel, bins, most, prob)
    panel.set_xlim(-0.04, 1.04)
    panel.set_ylim(-0.04, 1.04)
    panel.set_aspect("equal")
    panel.set_xticks([0, 0.5, 1])
    panel.set_yticks([0, 0.5, 1])
    panel.tick_params(labelsize=8)
    style.quiet_frame(panel, "left", "bottom")
