"""Bins of people's rates, and averages of models in them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from .resampling import group_means

LEAST = 5  # scenarios that a bin needs; a mean of fewer says little


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
        A row per scenario, a column per model; NaN where a model has no rate.
    bins : Series
        Bin of each scenario.
    members : mapping of str to sequence of str
        Models of each group; their mean in a scenario is that of those with a rate.
    prob : float
        Mass of the intervals.
    resamples, seed : int
        Of the bootstrap: scenarios of a bin are drawn anew, the models stay (see `group_means`).

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
