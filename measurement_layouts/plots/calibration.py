"""Calibration and scores of forecasts, by bin and by subject."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..evaluations.tables import need_columns
from ..inference.forecasts.forecasting import Forecast
from ..validation.prediction.result import CrossValidation
from ..validation.prediction.score import calibration_curve
from . import style
from .lines import Look, lines

_AREAS = 10.0, 90.0  # least and greatest area of a marker, in square points
_ENOUGH = 10  # subjects from which on a line of local means replaces that between points
_NEIGHBOURS = 8  # part of the subjects over which a local mean is taken
_DIAGONAL = Look(style.QUIET, "calibrated", ":", width=1.2)


def calibration_plot(
    forecast: Forecast | Mapping[str, Forecast],
    evaluation: Evaluation,
    *,
    bins: int = 10,
    prob: float = 0.9,
    training_items: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw success rate against mean forecast, in bins of the forecast.

    Points on the diagonal are calibrated. Bars are Wilson intervals of the success rate for
    independent trials. Larger markers have more trials.

    Parameters
    ----------
    forecast : Forecast or mapping of str to Forecast
        Forecasts, of one method or by name of the method.
    evaluation : Evaluation
        Outcomes; subjects and items are matched by name.
    bins : int
        Number of bins of equal width over [0, 1].
    prob : float
        Mass of the intervals, in (0, 1).
    training_items : bool
        Whether training items of the fit count too; their forecasts look better than others.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes in [0, 1].

    Raises
    ------
    DataError
        When there is nothing to score, or an item is a training item.
    FitError
        When `bins` or `prob` is out of range.

    References
    ----------
    Murphy and Winkler (1977), Applied Statistics 26(1), 41-47.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast = result.forecast(cohort.evaluation.items)
    >>> calibration_plot(forecast, cohort.evaluation, training_items=True).get_ylabel()
    'observed success rate'
    """
    forecasts = dict(forecast) if isinstance(forecast, Mapping) else {"success rate": forecast}
    if not forecasts:
        raise DataError("no forecasts: give at least one")
    options: dict[str, Any] = {"bins": bins, "prob": prob, "training_items": training_items}
    curves = {
        method: calibration_curve(one, evaluation, **options) for method, one in forecasts.items()
    }
    trials = next(iter(curves.values()))["trials"]
    looks = {
        name: Look(colour, f"{name}, {style.percent(prob)} interval", "-", marker)
        for name, (colour, marker) in style.method_styles(list(curves)).items()
    }
    (panel,) = _panels(
        {name: curve.assign(series=name) for name, curve in curves.items()},
        looks,
        ax=ax,
        columns=1,
        size=(5.0, 4.6),
        title=f"Calibration of forecasts ({many(int(trials.sum()), 'trial')})",
        x="mean forecast of the bin; larger markers: more trials",
        y="observed success rate",
    )
    return panel  # type: ignore[no-any-return]


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
    if isinstance(assessment, Mapping) and not assessment:
        raise FitError("there is no cross-validation to draw; give at least one by name")
    first = next(iter(assessment.values())) if isinstance(assessment, Mapping) else assessment
    method = first.methods[0] if method is None else method
    errors: dict[str, Any]
    if isinstance(assessment, Mapping):
        curves = {name: one.calibration(method, pooled=True) for name, one in assessment.items()}
        errors = {name: one.by().loc[("", method), "ece"] for name, one in assessment.items()}
    else:
        bins = assessment.calibration(method)
        subjects = bins.index.get_level_values(0)
        curves = {name: bins[subjects == name] for name in assessment.subjects}
        scores = assessment.scores[assessment.scores["method"] == method]
        means = scores.groupby("subject")["ece"].mean()
        errors = {name: means.get(name, np.nan) for name in assessment.subjects}
    mass = f"success rate, {style.percent(first.prob)} interval; larger: more trials"
    return _panels(
        {name: curve.assign(panel=name, series="rate") for name, curve in curves.items()},
        {"rate": Look(style.INK, mass, marker="o")},
        ax=ax,
        titles={
            name: f"{style.words(name, 26)}\n"
            + ("no prediction" if np.isnan(error) else f"ECE {error:.2f}")
            for name, error in errors.items()
        },
        size=(2.1, 2.6),
        title=f"Calibration of {style.words(method)}"
        + ", all subjects together" * isinstance(assessment, Mapping),
        x="predicted probability",
        y="success rate",
    )


def _panels(
    curves: Mapping[str, pd.DataFrame], looks: Mapping[str, Look], **options: Any
) -> np.ndarray:
    """Draw calibration curves beside the diagonal; markers grow with the number of trials."""
    table = pd.concat(curves.values())
    share = table["trials"] / max(table["trials"].max(), 1)
    table = table.rename(columns={"forecast": "x", "success": "y"})
    table = table.assign(area=_AREAS[0] + (_AREAS[1] - _AREAS[0]) * share)
    diagonals = [
        pd.DataFrame({"panel": name, "series": "calibrated", "x": [0, 1], "y": [0, 1]})
        for name in (curves if "panel" in table else [""])
    ]
    limits: dict[str, Any] = {"xlim": (-0.04, 1.04), "ylim": (-0.04, 1.04)}
    shown = pd.concat([*diagonals, table.assign(panel=table.get("panel", ""))])
    axes = lines(shown, {"calibrated": _DIAGONAL, **looks}, **limits, **options)
    for panel in axes:
        ticks = [0, 0.5, 1] if len(axes) > 1 else [0, 0.2, 0.4, 0.6, 0.8, 1]
        panel.set(aspect="equal", xticks=ticks, yticks=ticks)
    return axes


def brier_against_success(
    scores: pd.DataFrame | Mapping[str, pd.DataFrame],
    *,
    success: pd.Series | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each subject's Brier score against its success rate, one marker and line per method.

    With 10 subjects or more the line is a mean over neighbouring subjects, an eighth of all; with
    fewer it joins the points. The dotted curve is p(1 - p), the score of a forecast that is always
    the subject's own success rate p. The scores of the aggregate are close to it.

    Parameters
    ----------
    scores : DataFrame or mapping of str to DataFrame
        Results of `score_forecast`, by name of the method; or one frame with a column ``method``,
        such as ``cross_validate(...).scores``, whose repeats are averaged for each subject.
    success : Series, optional
        Success rate by subject, such as ``cross_validate(...).success`` (default: that of the
        scored items).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes without units; success rates are in [0, 1].

    Raises
    ------
    DataError
        When a column is missing, a method has no score, or a subject no success rate.

    References
    ----------
    Burden et al. (2023), figure 6.

    Examples
    --------
    >>> scores = pd.DataFrame({"success": [0.8, 0.4], "brier": [0.1, 0.2]}, index=["Ann", "Bob"])
    >>> brier_against_success({"layout": scores}).get_ylabel()
    'Brier score (lower is better)'
    """
    if isinstance(scores, pd.DataFrame):
        by_method = scores.groupby("method", sort=False) if "method" in scores else [("", scores)]
        scores = {str(method): table for method, table in by_method}
    tables = {method or "forecast": _by_subject(table, success) for method, table in scores.items()}
    rates = np.linspace(0, 1, 201)
    frames = [pd.DataFrame({"series": "constant", "x": rates, "y": rates * (1 - rates)})]
    constant = "p(1 − p): constant forecast of the success rate"
    looks = {"constant": Look(style.QUIET, constant, ":", width=1.3)}
    for method, (colour, marker) in style.method_styles(list(tables)).items():
        points = tables[method].rename(columns={"success": "x", "brier": "y"})
        wide = max(1, len(points) // _NEIGHBOURS) if len(points) >= _ENOUGH else 1
        means = points.rolling(wide, center=True, min_periods=1).mean()
        frames += [points.assign(series=f"{method} "), means.assign(series=method)]
        looks[f"{method} "] = Look(colour, marker=marker, alpha=0.45)
        looks[method] = Look(colour, method, "-", width=2)
    count = max(map(len, tables.values()))
    smoothed = "; lines: means of neighbours" if count >= _ENOUGH else ""
    (panel,) = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        size=(6.4, 3.8),
        title=f"Brier score per subject ({many(count, 'subject')}{smoothed})",
        x="success rate of the subject",
        y="Brier score (lower is better)",
        xlim=(-0.02, 1.02),
    )
    panel.set_ylim(bottom=0)
    return panel  # type: ignore[no-any-return]


def _by_subject(scores: pd.DataFrame, success: pd.Series | None) -> pd.DataFrame:
    """Average the scores of each subject, in ascending order of success."""
    columns = ["brier"] if success is not None else ["success", "brier"]
    need_columns(scores.columns, columns, "the scores have", "give the result of score_forecast")
    keys = scores["subject"] if "subject" in scores.columns else scores.index
    table = scores[columns].groupby(np.asarray(keys, dtype=str), sort=False).mean()
    if success is not None:
        rates = success.rename(index=str).reindex(table.index)
        if rates.isna().any():
            raise DataError(f"success= has no rate for {some(table.index[rates.isna()])}; add them")
        table = table.assign(success=rates)
    table = table.dropna().sort_values("success", kind="stable")
    if table.empty:
        raise DataError("a method has no Brier score; give the result of score_forecast")
    return table
