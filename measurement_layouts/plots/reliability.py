"""Calibration of forecasts: success rates against mean forecasts."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from ..common.errors import DataError
from ..common.messages import many
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from ..validation.prediction.score import calibration_curve
from . import style

_STRIP = 0.14  # height of the strip of counts below the curve


def reliability(
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
    independent trials. The strip below counts the trials of each bin (for one forecast only).

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
    >>> reliability(forecast, cohort.evaluation, training_items=True).get_ylabel()
    'observed success rate'
    """
    several = isinstance(forecast, Mapping)
    given = dict(forecast) if isinstance(forecast, Mapping) else {"": forecast}
    if not given:
        raise DataError("no forecasts: give at least one")
    curves = {
        method: calibration_curve(
            one,
            evaluation,
            bins=bins,
            prob=prob,
            training_items=training_items,
        )
        for method, one in given.items()
    }
    looks = style.method_styles(list(curves))
    ax = style.single(ax, (5.2, 5.2))
    ax.plot([0, 1], [0, 1], color=style.QUIET, linestyle=":", linewidth=1.2, label="calibrated")
    for method, curve in curves.items():
        colour, marker = looks[method]
        rate = curve["success"]
        ax.errorbar(
            curve["forecast"],
            rate,
            yerr=[rate - curve["low"], curve["high"] - rate],
            color=colour,
            marker=marker,
            markersize=6,
            linewidth=1.6,
            elinewidth=1.2,
            capsize=2.5,
            label=style.legend_words(method or f"success rate, {style.percent(prob)} interval"),
        )
    trials = next(iter(curves.values()))["trials"]
    if not several:
        height = 0.55 * _STRIP * trials / trials.max()
        centre = (trials.index.to_numpy() + 0.5) / bins
        ax.bar(centre, height, 0.9 / bins, -_STRIP, color=style.FAINT)
        for where, top, count in zip(centre, height - _STRIP, trials, strict=True):
            ax.text(
                where,
                top + 0.01,
                f"{count}",
                ha="center",
                va="bottom",
                fontsize=7.5,
            )
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02 if several else -_STRIP, 1.02)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.set_xlabel("mean forecast of the bin" + ("" if several else " (below: trials per bin)"))
    ax.set_ylabel("observed success rate")
    style.title(ax, f"Reliability of forecasts ({many(int(trials.sum()), 'trial')})")
    ax.legend(fontsize=8, frameon=False, loc="upper left")
    style.quiet_frame(ax, "left", "bottom")
    return ax
