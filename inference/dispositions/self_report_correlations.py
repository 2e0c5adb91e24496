"""Whether self-reports rank models, or statements, like their choices do."""

import numpy as np
import pandas as pd
from scipy import stats

from ..options import inside, whole
from ..seeding import subject_seed
from .judgments import SituationalJudgments
from .revealed import reported_ratings, revealed_rates

_LEAST = 3  # two points always rank alike, or the other way round
_DIGITS = 10


def self_report_correlations(
    judgments: SituationalJudgments,
    *,
    by: str = "trait",
    divided_below: float | None = 0.7,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    """Correlate self-reports with choices by Spearman's rank correlation.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people, samples and ratings of models.
    by : {"trait", "statement"}
        By trait: over models, for each trait. By statement: over its statements, for each model and
        trait. Reports and choices are those of `self_reports`.
    divided_below : float or None, default 0.7
        As in `self_reports`.
    prob : float, default 0.9
        Mass of the interval, in (0, 1).
    resamples : int, default 1000
        How often models, or statements, are drawn anew, with replacement; the interval is of
        percentiles. Draws in which all reports or all choices are alike do not count.
    seed : int, default 1
        Of these draws.

    Returns
    -------
    DataFrame
        By trait, or by model and trait: ``rho`` in [-1, 1], ``low``, ``high``, the number of
        ``points`` it is over, and the ``reason`` where it is NaN.

    Raises
    ------
    DataError
        When there are no ratings, or no samples in such scenarios.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs: section 7, figure 6;
    appendix F, figures 12 and 13 (which show the points).

    Examples
    --------
    >>> scenarios = pd.DataFrame([{"scenario": "a", "trait": "calm", "statement": "wait",
    ...                            "keyed": 1}])
    >>> votes = pd.DataFrame({"scenario": "a", "rater": [1, 2], "vote": ["agree", "oppose"]})
    >>> samples = pd.DataFrame({"model": list("klmn"), "scenario": "a", "agree": [2, 9, 14, 12],
    ...                         "oppose": [18, 11, 6, 8], "undecided": 0})
    >>> ratings = pd.DataFrame({"model": list("klmn"), "statement": "wait", "rating": [1, 2, 3, 4]})
    >>> judgments = SituationalJudgments.from_long(scenarios, votes, samples, ratings)
    >>> self_report_correlations(judgments)[["rho", "points"]].round(2)
           rho  points
    trait
    calm   0.8       4
    """
    prob, resamples = inside("prob", prob, such_as=0.9), whole("resamples", resamples, least=2)
    seed = whole("seed", seed)
    rates, groups = revealed_rates(judgments, by=by, divided_below=divided_below)
    revealed = rates.groupby(groups, sort=False).mean()
    reported = reported_ratings(judgments, by=by).reindex_like(revealed)
    if by == "trait":
        sets = {trait: (reported.loc[trait], revealed.loc[trait]) for trait in revealed.index}
    else:
        traits = judgments.statements.loc[revealed.index, "trait"]
        sets = {
            (model, trait): (reported[model][traits == trait], revealed[model][traits == trait])
            for model in revealed.columns
            for trait in traits.unique()
        }
    names = ["trait"] if by == "trait" else ["model", "trait"]
    found = {
        key: _correlation(*pair, prob, resamples, subject_seed(seed, str(key)))
        for key, pair in sets.items()
    }
    table = pd.DataFrame.from_dict(
        found, orient="index", columns=["rho", "low", "high", "points", "reason"]
    )
    index = pd.Index(list(sets)) if by == "trait" else pd.MultiIndex.from_tuples(sets)
    return table.set_axis(index.set_names(names), axis=0)


def _correlation(
    reported: pd.Series, revealed: pd.Series, prob: float, resamples: int, seed: int
) -> tuple[float, float, float, int, str]:
    """Spearman's rho, its interval, the points, and why there is none."""
    known = (reported.notna() & revealed.notna()).to_numpy()
    # means of the same values must tie, however they were summed
    points = np.stack([reported[known], revealed[known]]).round(_DIGITS)
    count, reason = points.shape[1], ""
    if count < _LEAST:
        reason = f"fewer than {_LEAST} points"
    elif np.ptp(points[0]) == 0:
        reason = "all self-reports are alike"
    elif np.ptp(points[1]) == 0:
        reason = "all choices are alike"
    if reason:
        return np.nan, np.nan, np.nan, count, reason
    rng = np.random.default_rng(seed)
    drawn = points[:, rng.integers(count, size=(resamples, count))]
    drawn = drawn[:, (np.ptp(drawn, axis=2) > 0).all(axis=0)]
    ranks = stats.rankdata(drawn, axis=2)
    ranks -= ranks.mean(axis=2, keepdims=True)
    spread = np.sqrt((ranks**2).sum(axis=2).prod(axis=0))
    rhos = ranks.prod(axis=0).sum(axis=1) / spread
    low, high = np.quantile(rhos, [(1 - prob) / 2, (1 + prob) / 2])
    return float(stats.spearmanr(*points).statistic), float(low), float(high), count, ""
