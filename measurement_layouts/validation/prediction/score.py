"""Comparison of forecasts with outcomes: scores and calibration curves."""

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import many, some
from ...common.options import inside, whole
from ...common.proportions import wilson
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows
from ...inference.forecasts.forecasting import Forecast
from ...inference.given import refuse_no_forecast
from .scoring_rules import scores_in_groups


def score_forecast(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    training_items: bool = False,
    outcome: str | None = None,
) -> pd.DataFrame:
    """Score forecasts against outcomes that were not fitted.

    With several outcomes, grades or scores, there is a forecast of every step: whether an attempt
    reaches at least that step. The Brier score, averaged over an attempt's steps, is then the
    ranked probability score, in [0, 1]. All attempts have equal weights, regardless of the outcome
    and its number of steps; the other scores are those of the same binary forecasts.

    Parameters
    ----------
    forecast : Forecast
        Forecasts of some subjects on some items.
    evaluation : Evaluation
        Outcomes; subjects and items are joined by name.
    training_items : bool
        Whether items that were fitted may be scored as well; such scores are too favourable.
    outcome : str, optional
        Name of one of several outcomes to score (default: all outcomes).

    Returns
    -------
    DataFrame
        Indexed by subject with an outcome: ``trials``, ``success``, ``brier`` and its parts
        ``calibration``, ``refinement`` and ``remainder``, ``log_score`` (lower is better),
        ``auroc`` (NaN when all outcomes are equal), ``ece`` (10 bins), ``outside_training`` (number
        of scored items outside the subject's training items, as in `Forecast.outside`; NaN for
        baselines), and ``remark``, which names these meta-features.
        Where rows are steps, trials are attempts, and success is the mean outcome as a fraction of
        the highest.

    Raises
    ------
    DataError
        When forecast or evaluation is something else, they share no subject or item with an
        outcome, an item was trained on, only one of the two is made of steps, or there is no such
        outcome.

    Notes
    -----
    Training outcomes are recognised for each subject by the names of items. Where these are 0, 1,
    ... without gaps, in any order, in the training or in the forecast, items are recognised by
    equal meta-features instead, or by number and meta-features where these do not differ between
    all training items. Give other items other names.

    References
    ----------
    Epstein (1969), A scoring system for probability forecasts of ranked categories, Journal of
    Applied Meteorology 8, for the ranked probability score.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.estimators import Estimator
    >>> from measurement_layouts.validation.prediction.splits import masked
    >>> items = pd.DataFrame(index=["a", "b", "c", "d"])
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0]], index=["Ann"], columns=items.index)
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> training = masked(evaluation, ["c", "d"])
    >>> aggregate = Estimator("aggregate").forecast(training, ["c", "d"])
    >>> score_forecast(aggregate, evaluation)[["trials", "brier"]]
             trials  brier
    subject
    Ann           2   0.25
    """
    refuse_no_forecast(forecast)
    refuse_no_evaluation(evaluation)
    chosen, successes, trials = matched(forecast, evaluation, training_items=training_items)
    names, steps = trials.columns.to_numpy(), np.ones(trials.shape[1], dtype=int)
    tried = trials.to_numpy() > 0
    if forecast.rows is not None:
        rows = Rows.read(trials.columns)
        names, steps = rows.item, rows.tops
        if outcome is not None:
            tried &= rows.outcome == outcome
    if outcome is not None and (forecast.rows is None or not tried.any()):
        named = [] if forecast.rows is None else list(pd.unique(rows.outcome))
        raise DataError(
            f"outcome={outcome!r}: the forecast has {some(named) or 'a single Success'}; name an "
            "outcome that was attempted, or leave out outcome="
        )
    subject, row = np.nonzero(tried)
    names, steps = names[row], steps[row]
    code, subjects = pd.factorize(trials.index[subject])
    means, won, count = (
        table.to_numpy()[subject, row] for table in (chosen["mean"], successes, trials)
    )
    scores = score_table(means, won / steps, (count - won) / steps, code)
    scores.insert(len(scores.columns) - 1, "outside_training", np.nan)
    if forecast.training is not None:
        flags = chosen["outside_training"].to_numpy()[subject, row]
        for number, name in enumerate(subjects):
            items = pd.unique(names[flags & (code == number)])
            scores.loc[number, "outside_training"] = len(items)
            if len(items):
                columns = forecast.training.table([name], items)["meta_feature"].unique()
                scored = many(len(pd.unique(names[code == number])), "item")
                beyond = f"{len(items)} of {scored} ({some(columns, 3)})"
                remarks = [scores["remark"].iloc[number], f"outside the training items: {beyond}"]
                scores.loc[number, "remark"] = "; ".join(filter(None, remarks))
    return scores.set_axis(pd.Index(subjects, name="subject"), axis=0)


def score_table(
    chances: np.ndarray, won: np.ndarray, lost: np.ndarray, group: np.ndarray
) -> pd.DataFrame:
    """Score weighted outcomes in groups.

    Parameters
    ----------
    chances, won, lost, group : ndarray, shape (cells,)
        As of `scores_in_groups`.

    Returns
    -------
    DataFrame
        A row for each group with the scores of `scores_in_groups`, and ``remark``, the reason for a
        missing AUROC.
    """
    table = pd.DataFrame(scores_in_groups(chances, won, lost, group))
    table["trials"] = table["trials"].round().astype(int)
    classes = table["success"].map({0.0: "failures", 1.0: "successes"})
    reasons = "AUROC is undefined: all outcomes are " + classes
    return table.assign(remark=reasons.where(table["auroc"].isna()).fillna(""))


def matched(
    forecast: Forecast, evaluation: Evaluation, *, training_items: bool = False
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Join forecasts and outcomes by name, and refuse training outcomes.

    Parameters
    ----------
    forecast, evaluation, training_items
        As in `score_forecast`.

    Returns
    -------
    Dataset, DataFrame, DataFrame
        The forecast of the shared subjects and items, their successes, and their trials. If rows
        are steps, all attempts at the item are trials of each step.

    Raises
    ------
    DataError
        When forecast and evaluation share no subject or item with an outcome, an item was trained
        on, or only one of the two is made of steps.
    """
    attempts = evaluation.attempts
    subjects, items = (
        [name for name in forecast.data[dim].to_numpy() if name in names]
        for dim, names in (("subject", attempts.index), ("item", attempts.columns))
    )
    if not subjects or not items:
        raise DataError(
            "nothing to score: the forecast and the evaluation share "
            f"{many(len(subjects), 'subject')} and {many(len(items), 'item')}; give both the same "
            "names, and steps of outcomes (Evaluation.of_outcomes) in both or neither"
        )
    chosen, trials = forecast.data.sel(subject=subjects, item=items), attempts.loc[subjects, items]
    if not trials.to_numpy().any():
        raise DataError("nothing to score: none of the forecast items was attempted; add outcomes")
    leaks = np.argwhere(chosen["trained"].to_numpy() & (trials.to_numpy() > 0))
    if len(leaks) and not training_items:
        names = [f"{items[column]} ({subjects[row]})" for row, column in leaks]
        raise DataError(
            f"{len(leaks)} outcome(s) to be scored were trained on: {some(names)}; forecast items "
            "held out from the fit, give other items other names, or pass training_items=True to "
            "score the fit on its own data"
        )
    return chosen, evaluation.successes.loc[subjects, items], trials


def calibration_curve(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    bins: int = 10,
    prob: float = 0.9,
    training_items: bool = False,
) -> pd.DataFrame:
    r"""Compare mean forecasts with success rates, in bins of the forecast.

    Bins and averages are those of `scores_in_groups`: bins have equal
    widths over [0, 1], bin k is [k/bins, (k+1)/bins), and the last one includes 1. The trials of
    all subjects have equal weights.

    Parameters
    ----------
    forecast : Forecast
        Forecasts of some subjects on some items.
    evaluation : Evaluation
        Outcomes; subjects and items are joined by name.
    bins : int
        Number of bins, at least 1.
    prob : float
        Mass of the interval of the success rate.
    training_items : bool
        Whether items that were fitted may be scored as well; such scores are too favourable.

    Returns
    -------
    DataFrame
        One row per bin with a trial, indexed by ``bin``: ``trials``, ``forecast`` (mean),
        ``success`` (rate), and ``low`` and ``high``, Wilson's interval of the success rate for
        independent trials (which is too narrow if the trials of an item share an `Unseen` property
        or are steps of one outcome),

        .. math:: \frac{1}{1 + z^2/n} \left(\hat s + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat s
            (1 - \hat s)}{n} + \frac{z^2}{4 n^2}}\right).

    Raises
    ------
    DataError
        When there is nothing to score, or an item was trained on.
    FitError
        When `bins` or `prob` is out of range.

    References
    ----------
    Wilson (1927), JASA 22(158), 209-212.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast = result.forecast(cohort.evaluation.items)
    >>> calibration_curve(forecast, cohort.evaluation, training_items=True).columns.tolist()
    ['trials', 'forecast', 'success', 'low', 'high']
    """
    bins, prob = whole("bins", bins, least=1), inside("prob", prob, such_as=0.9)
    chosen, successes, trials = matched(forecast, evaluation, training_items=training_items)
    means, won, tried = (table.to_numpy().ravel() for table in (chosen["mean"], successes, trials))
    return rates_in_bins(means, won, tried, bins, prob)


def rates_in_bins(
    mean: np.ndarray, successes: np.ndarray, trials: np.ndarray, bins: int, prob: float
) -> pd.DataFrame:
    """Count trials and successes in bins of the mean forecast.

    Parameters
    ----------
    mean, successes, trials : ndarray, shape (items,)
        Forecasts and outcomes; items without trials are ignored.
    bins, prob
        As in `calibration_curve`.

    Returns
    -------
    DataFrame
        Table as from `calibration_curve`.

    Examples
    --------
    >>> rates = rates_in_bins(np.array([0.2, 0.4]), np.array([0, 1]), np.array([2, 2]), 2, 0.9)
    >>> rates[["trials", "forecast", "success"]].round(2).to_numpy()
    array([[4.  , 0.3 , 0.25]])
    """
    in_bin = np.searchsorted(np.arange(1, bins) / bins, mean, side="right")
    cells = pd.DataFrame({"trials": trials, "forecast": mean * trials, "success": successes})
    curve = cells[trials > 0].groupby(in_bin[trials > 0]).sum().rename_axis("bin")
    curve[["forecast", "success"]] = curve[["forecast", "success"]].div(curve["trials"], axis=0)
    ends = wilson(curve["success"].to_numpy(), curve["trials"].to_numpy(), prob)
    return curve.assign(low=ends[0], high=ends[1])
