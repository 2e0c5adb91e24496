"""Comparison of forecasts with outcomes: scores and calibration curves."""

import math
from collections.abc import Hashable

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
from . import scoring_rules as scoring
from .leaks import Asked, cell_names, refuse_trained, trained_error


def score_forecast(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    training_items: bool = False,
    reused_names: bool = False,
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
    reused_names : bool
        Whether items may have the names of other items that were fitted. Items are then
        identified by their meta-features and outcomes only, as are items without given names.
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

    Warns
    -----
    UserWarning
        When at least half of the items, and at least eight, have the meta-features and outcomes of
        training items under other names.

    Notes
    -----
    Training outcomes are recognised for each subject.

    - *Items with given names* are recognised by these, even if their meta-features have changed.
    - *Items without given names* have the names 0, 1, ... without gaps, in any order, as numbers or
      texts, in the training or in the forecast. They are recognised by equal rows: the same
      meta-features, which must differ between all training items or have the same number, and the
      same outcomes. At least half of the rows must have the meta-features of training items, and
      all of these the outcomes. Items that were shuffled without telling meta-features, or
      recoded, are not recognised; name the items.

    References
    ----------
    Epstein (1969), A scoring system for probability forecasts of ranked categories, Journal of
    Applied Meteorology 8, for the ranked probability score.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.baselines import Aggregate
    >>> from measurement_layouts.validation.prediction.splits import masked
    >>> items = pd.DataFrame(index=["a", "b", "c", "d"])
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0]], index=["Ann"], columns=items.index)
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> training = masked(evaluation, ["c", "d"])
    >>> aggregate = Aggregate().forecast(training, ["c", "d"])
    >>> score_forecast(aggregate, evaluation)[["trials", "brier"]]
             trials  brier
    subject
    Ann           2   0.25
    """
    refuse_no_forecast(forecast)
    refuse_no_evaluation(evaluation)
    chosen, successes, trials = matched(
        forecast, evaluation, training_items=training_items, reused_names=reused_names
    )
    means = chosen["mean"].to_numpy()
    own, tops = _counted(forecast, list(trials.columns), outcome)
    rows: dict[Hashable, dict[str, object]] = {}
    for place, subject in enumerate(trials.index):
        done = trials.iloc[place].to_numpy()[own]
        tried = own[done > 0]  # a baseline's forecast of training outcomes is NaN
        if len(tried):
            passed = successes.iloc[place].to_numpy()[tried]
            scored = scores_of(means[place][tried], passed, done[done > 0], tops[done > 0])
            remarks = [str(scored.pop("remark"))]
            count, beyond = outside(forecast, str(subject), trials.columns[tried])
            remarks = [*remarks, beyond]
            more = {"outside_training": count, "remark": "; ".join(filter(None, remarks))}
            rows[subject] = scored | more
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("subject")


def _counted(
    forecast: Forecast, names: list[str], outcome: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to score, and the number of steps of the outcome of each."""
    if forecast.rows is None:
        if outcome is not None:
            raise DataError(
                f"outcome={outcome!r}: the forecast is of a single Success; leave out outcome="
            )
        return np.arange(len(names)), np.ones(len(names), dtype=int)
    rows = Rows.read(names)
    known = list(dict.fromkeys(rows.outcome))
    if outcome is not None and outcome not in known:
        raise DataError(f"outcome={outcome!r} is not in the forecast; it has {some(known)}")
    own = np.flatnonzero(rows.outcome == outcome) if outcome else np.arange(len(names))
    return own, rows.tops[own]


def outside(forecast: Forecast, subject: str, rows: pd.Index) -> tuple[float, str]:
    """Count a subject's scored items outside its training items, and name the meta-features."""
    if forecast.training is None:
        return math.nan, ""
    flags = forecast.data["outside_training"].sel(subject=subject, item=rows).to_numpy()
    names = rows.to_numpy() if forecast.rows is None else Rows.read(rows).item
    items = pd.unique(names[flags])
    if not len(items):
        return 0, ""
    which = some(forecast.training.table([subject], items)["meta_feature"].unique(), 3)
    scored = many(len(pd.unique(names)), "item")
    return len(items), f"outside the training items: {len(items)} of {scored} ({which})"


def matched(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    training_items: bool = False,
    reused_names: bool = False,
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Join forecasts and outcomes by name, and refuse training outcomes.

    Parameters
    ----------
    forecast, evaluation, training_items, reused_names
        As in `score`.

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
    if (forecast.rows is None) != (evaluation.rows is None):
        made, other = ("forecast", "evaluation")[:: 1 if evaluation.rows is None else -1]
        raise DataError(
            f"the {made} has steps of outcomes as rows, but the {other} has items; score forecasts "
            "of a layout with steps against an evaluation from Evaluation.of_outcomes for the same "
            "layout"
        )
    known = evaluation.attempts
    subjects = [name for name in forecast.data["subject"].to_numpy() if name in known.index]
    items = [name for name in forecast.data["item"].to_numpy() if name in known.columns]
    if not subjects or not items:
        raise DataError(
            "nothing to score: the forecast and the evaluation share "
            f"{many(len(subjects), 'subject')} and {many(len(items), 'item')}; give both the same "
            "names"
        )
    chosen = forecast.data.sel(subject=subjects, item=items)
    trials = known.loc[subjects, items]
    successes = evaluation.successes.loc[subjects, items]
    if not trials.to_numpy().any():
        raise DataError("nothing to score: none of the forecast items was attempted; add outcomes")
    if forecast.training is not None:
        asked = Asked.of(
            forecast.training,
            successes,
            evaluation.trials.loc[subjects, items],
            None if forecast.rows is None else Rows.read(items),
        )
        refuse_trained(asked, trials, training_items=training_items, reused_names=reused_names)
    elif not training_items:
        leaked = cell_names(trials, chosen["trained"].to_numpy())
        if leaked:
            raise trained_error(leaked)
    return chosen, successes, trials


def scores_of(
    probability: np.ndarray, successes: np.ndarray, trials: np.ndarray, tops: np.ndarray
) -> dict[str, object]:
    """Compute the scores of rows, with equal weights of all attempts whatever their steps."""
    remark = scoring.single_class_reason(successes, trials) or ""
    most = math.lcm(*tops.tolist())
    successes, trials = successes * (most // tops), trials * (most // tops)
    parts = scoring.decompose_brier(probability, successes, trials)
    return {
        "trials": int(trials.sum()) // most,
        "success": successes.sum() / trials.sum(),
        "brier": parts.brier,
        "calibration": parts.calibration,
        "refinement": parts.refinement,
        "remainder": parts.remainder,
        "log_score": scoring.log_score(probability, successes, trials),
        "auroc": scoring.auroc(probability, successes, trials),
        "ece": scoring.expected_calibration_error(probability, successes, trials),
        "remark": remark,
    }


def calibration_curve(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    bins: int = 10,
    prob: float = 0.9,
    training_items: bool = False,
    reused_names: bool = False,
) -> pd.DataFrame:
    r"""Compare mean forecasts with success rates, in bins of the forecast.

    Bins and averages are those of `scoring_rules.expected_calibration_error`: bins have equal
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
    reused_names : bool
        As in `score`.

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
    chosen, successes, trials = matched(
        forecast, evaluation, training_items=training_items, reused_names=reused_names
    )
    return rates_in_bins(
        chosen["mean"].to_numpy().ravel(),
        successes.to_numpy().ravel(),
        trials.to_numpy().ravel(),
        bins,
        prob,
    )


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
    done = trials > 0
    rows = pd.DataFrame(
        {
            "bin": np.searchsorted(np.arange(1, bins) / bins, mean, side="right"),
            "trials": trials,
            "forecast": mean * trials,
            "success": successes,
        }
    )
    curve = rows[done].groupby("bin").sum()
    count = curve["trials"].to_numpy()
    curve["forecast"] /= count
    curve["success"] /= count
    curve["low"], curve["high"] = wilson(curve["success"].to_numpy(), count, prob)
    return curve
