"""What models report and what they reveal, side by side."""

import pandas as pd

from ..errors import DataError, FitError
from .beta_binomial import rate_posteriors
from .consensus import divided
from .judgments import SituationalJudgments

_WAYS = ("trait", "statement")


def revealed_rates(
    judgments: SituationalJudgments, *, by: str, divided_below: float | None
) -> tuple[pd.DataFrame, pd.Series]:
    """Give what models choose, and what each scenario is averaged for.

    Parameters
    ----------
    judgments, by, divided_below
        As in `self_reports`.

    Returns
    -------
    rates : DataFrame
        By scenario, a column per model: the trait-positive rate, or by statement the rate of
        agreeing; NaN without samples.
    groups : Series
        Trait or statement of each scenario.

    Raises
    ------
    DataError
        When there are no ratings, or no samples in such scenarios.
    FitError
        When an option is out of range.
    """
    if by not in _WAYS:
        raise FitError(f"by={by!r}; give one of {', '.join(map(repr, _WAYS))}")
    if judgments.ratings.empty:
        raise DataError("these judgments hold no ratings of models; give ratings= to from_long")
    scenarios = judgments.scenarios
    if divided_below is not None:
        scenarios = scenarios.loc[divided(judgments, divided_below).index]
    long = judgments.model_rates().reset_index()
    rates = long.pivot(index="scenario", columns="model", values="rate")
    rates = rates.reindex(index=scenarios.index, columns=judgments.models)
    rates = rates.dropna(how="all").dropna(axis=1, how="all")
    if rates.empty:
        raise DataError(
            "no model has samples in a scenario on which people are divided; raise divided_below=, "
            "or give None for all scenarios"
        )
    return _as_agreement(rates, judgments, by), scenarios.loc[rates.index, by]


def reported_ratings(judgments: SituationalJudgments, *, by: str) -> pd.DataFrame:
    """Give what models report, by trait or statement, a column per model.

    Parameters
    ----------
    judgments, by
        As in `self_reports`.

    Returns
    -------
    DataFrame
        Ratings from 1 to 7; NaN where a model gave none.
    """
    long = judgments.ratings.reset_index()
    ratings = long.pivot(index="statement", columns="model", values="rating")
    if by == "statement":
        return ratings
    statements = judgments.statements.loc[ratings.index]
    scored = ratings.where(statements["keyed"] == 1, 8 - ratings)
    return scored.groupby(statements["trait"]).mean()


def _as_agreement(rates: pd.DataFrame, judgments: SituationalJudgments, by: str) -> pd.DataFrame:
    """Turn trait-positive rates into rates of agreeing with the statement, if that is asked for."""
    if by == "trait":
        return rates
    forward = judgments.scenarios.loc[rates.index, "keyed"] == 1
    return rates.where(forward, 1 - rates)


def posterior_rates(
    judgments: SituationalJudgments, revealed: pd.DataFrame, *, by: str
) -> pd.DataFrame:
    """Give the mean posterior rate of each model in these scenarios.

    Parameters
    ----------
    judgments, by
        As in `self_reports`.
    revealed : DataFrame
        As `revealed_rates` returns it.

    Returns
    -------
    DataFrame
        Rows and columns as in `revealed`.
    """
    samples = judgments.model_rates()
    parts = {}
    for model, counts in samples[samples.index.isin(revealed.index, level="scenario")].groupby(
        level="model", sort=False
    ):
        # a rate's mean is the chance that one more choice is positive
        mean = rate_posteriors(counts, counts["trait"]).predicted(1)[:, 1]
        parts[model] = pd.Series(mean, counts.index.get_level_values("scenario"))
    return _as_agreement(pd.DataFrame(parts).reindex(revealed.index), judgments, by)
