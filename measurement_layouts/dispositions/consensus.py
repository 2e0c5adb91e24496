"""Consensus: scenarios on which people agree or are divided, and bins of consensus."""

from collections.abc import Mapping, Sequence
from numbers import Real

import pandas as pd

from ..common.errors import FitError
from .comparison import reaches
from .judgments import SituationalJudgments, refuse_no_judgments
from .resampling import group_means


def consensus(judgments: SituationalJudgments, threshold: float = 0.8) -> pd.Series:
    r"""Find the scenarios on which people agree.

    .. math:: \{s \mid \mathrm{TPR_{human}}(s) \ge \tau \vee \mathrm{TPR_{human}}(s) \le 1 - \tau\}

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people.
    threshold : float, default 0.8
        Share of votes for one action, tau, in (0.5, 1].

    Returns
    -------
    Series
        Trait-positive rate of people, of these scenarios only, indexed by ``scenario``.

    Raises
    ------
    DataError
        When `judgments` is something else.
    FitError
        When the threshold is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 5, Eq. 3.

    Examples
    --------
    >>> scenarios = pd.DataFrame({"scenario": ["a", "b"], "trait": "empathy", "statement": "share",
    ...                           "keyed": 1})
    >>> votes = pd.DataFrame({"scenario": ["a"] * 5 + ["b"] * 5, "rater": [1, 2, 3, 4, 5] * 2,
    ...                       "vote": ["oppose"] * 4 + ["agree"] * 3 + ["oppose"] * 3})
    >>> judgments = SituationalJudgments.from_long(scenarios, votes)
    >>> consensus(judgments).to_dict(), divided(judgments).to_dict()
    ({'a': 0.2}, {'b': 0.4})
    """
    refuse_no_judgments(judgments)
    rates = judgments.human_rates()
    return rates["rate"][reaches(rates["consensus"], _share(threshold))]


def divided(judgments: SituationalJudgments, threshold: float = 0.7) -> pd.Series:
    """Find the scenarios on which people are divided, with a consensus below a threshold.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people.
    threshold : float, default 0.7
        Least share of votes for one action at which people are not divided, in (0.5, 1].

    Returns
    -------
    Series
        Trait-positive rate of people, of these scenarios only, indexed by ``scenario``.

    Raises
    ------
    DataError
        When `judgments` is something else.
    FitError
        When the threshold is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> judgments = simulated_study(per_statement=1, models=["sim-01"]).judgments
    >>> divided(judgments).head(3)
    scenario
    empathy-03-01    0.55
    empathy-06-01    0.35
    empathy-07-01    0.40
    Name: rate, dtype: float64
    """
    refuse_no_judgments(judgments)
    rates = judgments.human_rates()
    return rates["rate"][~reaches(rates["consensus"], _share(threshold))]


def _share(threshold: object) -> float:
    number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not number or not 0.5 < float(threshold) <= 1:  # type: ignore[arg-type]
        raise FitError(f"threshold={threshold!r}; give a share above 0.5, up to 1, such as 0.8")
    return float(threshold)  # type: ignore[arg-type]


LEAST = 5  # least number of scenarios of a bin, since a mean of fewer is not informative


def consensus_steps(rates: pd.Series) -> pd.Series:
    """Bin people's rates by consensus: 5 for [50 %, 60 %) to 9 for [90 %, 100 %), 10 for 100 %.

    Examples
    --------
    >>> consensus_steps(pd.Series([0.5, 0.05, 0.3, 1.0])).tolist()
    [5, 9, 7, 10]
    """
    consensus = rates.where(rates >= 0.5, 1 - rates)
    return (10 * consensus + 1e-9).astype(int)  # 1 - 0.3 is a little less than 0.7


def rate_steps(rates: pd.Series) -> pd.Series:
    """Bin people's rates: as by consensus, on the side where the rate is.

    Examples
    --------
    >>> rate_steps(pd.Series([0.45, 0.55, 0.05, 0.3, 1.0])).tolist()
    [5, 5, 1, 3, 10]
    """
    steps = consensus_steps(rates)
    return steps.where(rates >= 0.5, 10 - steps)


def means_in_bins(
    values: pd.DataFrame,
    bins: pd.Series,
    members: Mapping[str, Sequence[str]],
    *,
    prob: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Average groups of models over the scenarios of each bin, with bootstrap intervals.

    Parameters
    ----------
    values : DataFrame
        One row per scenario, one column per model; NaN where a model has no rate.
    bins : Series
        Bin of each scenario.
    members : mapping of str to sequence of str
        Models of each group; their mean in a scenario is that of those with a rate.
    prob : float
        Mass of the intervals.
    resamples, seed : int
        Number and seed of resamples: scenarios of a bin are resampled, models are not (see
        `group_means`).

    Returns
    -------
    DataFrame
        MultiIndex (`group`, `bin`), bins in order: `mean`, `low`, `high`. Bins of fewer than five
        scenarios are left out.

    Examples
    --------
    >>> values = pd.DataFrame({"m": [place / 49 for place in range(50)]})
    >>> means_in_bins(values, pd.Series(7, values.index), {"all": ["m"]},
    ...               prob=0.9, resamples=200, seed=1).round(2).to_dict("records")
    [{'mean': 0.5, 'low': 0.43, 'high': 0.57}]
    """
    kept = bins[bins.map(bins.value_counts()) >= LEAST]
    averages = {group: values[list(models)].mean(axis=1) for group, models in members.items()}
    table = pd.DataFrame(averages).loc[kept.index]
    found = group_means(table, kept, prob=prob, resamples=resamples, seed=seed)
    parts = {"mean": found.mean, "low": found.low, "high": found.high}
    return pd.DataFrame(
        {
            name: part.loc[sorted(kept.unique())]
            .rename_axis(index="bin", columns="group")
            .unstack()
            for name, part in parts.items()
        }
    ).dropna()
