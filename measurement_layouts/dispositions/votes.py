"""Information in people's votes, and the expected results of models that choose like people."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .beta_binomial import rate_posteriors
from .judgments import SituationalJudgments


def effective_votes(people: pd.DataFrame) -> pd.DataFrame:
    r"""Count votes by their information: a neutral vote has more than a random vote.

    .. math:: f_t = 1 + \frac{\bar\nu_t}{4 S_t^2}

    A neutral vote counts as half a vote for each action and adds no randomness. The variance of
    shares of votes is therefore smaller than the binomial one, by :math:`\nu / 4` per vote if a
    share nu is neutral; :math:`S^2` is the variance of votes (1, 1/2 or 0) within scenarios.

    Parameters
    ----------
    people : DataFrame
        Result of `SituationalJudgments.human_rates`.

    Returns
    -------
    DataFrame
        ``positive`` and ``negative`` votes, multiplied by the factor f of their trait.

    Examples
    --------
    >>> people = pd.DataFrame({"trait": "Empathy", "positive": [7.0, 4.0], "negative": [3.0, 6.0],
    ...                        "neutral": [2, 0], "votes": [10, 10]})
    >>> effective_votes(people).round(1)
       positive  negative
    0       7.8       3.3
    1       4.4       6.7
    """
    count = people["votes"].where(people["votes"] > 1)
    rate, neutral = people["positive"] / count, people["neutral"] / count
    scatter = (rate * (1 - rate) - neutral / 4) * count / (count - 1)
    by = people.assign(scatter=scatter, neutral=neutral).groupby("trait")
    factor = 1 + (by["neutral"].mean() / (4 * by["scatter"].mean())).fillna(0)
    return people[["positive", "negative"]].mul(people["trait"].map(factor), axis=0)


def positive_votes(judgments: SituationalJudgments) -> pd.DataFrame:
    """Return votes as numbers: 1 for the trait-positive action, 0 for the other, 0.5 if neutral.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people.

    Returns
    -------
    DataFrame
        One row per vote: ``scenario``, ``rater``, ``trait`` and ``value``.

    Examples
    --------
    >>> tests = pd.DataFrame([{"scenario": 1, "trait": "calm", "statement": 7, "keyed": -1}])
    >>> votes = pd.DataFrame({"scenario": 1, "rater": [5, 6], "vote": ["agree", "neutral"]})
    >>> positive_votes(SituationalJudgments.from_long(tests, votes))["value"].tolist()
    [0.0, 0.5]
    """
    known = judgments.scenarios.loc[judgments.votes["scenario"]]
    agreeing = judgments.votes["vote"].map({"agree": 1.0, "neutral": 0.5, "oppose": 0.0})
    forward = known["keyed"].to_numpy() == 1
    return judgments.votes[["scenario", "rater"]].assign(
        trait=known["trait"].to_numpy(), value=np.where(forward, agreeing, 1 - agreeing)
    )


type Shown = Callable[[np.ndarray, np.ndarray], np.ndarray]


def as_aligned(people: pd.DataFrame, rates: pd.DataFrame, what: Shown) -> "pd.Series[float]":
    r"""Compute the expected result of models whose rates are the people's.

    .. math:: \mathrm{E} f(k / n, \mathrm{TPR}_\mathrm{human}), \quad
        k \sim \mathrm{Binomial}(n, r)

    with the models' numbers n of decided samples, averaged over the models that answered the
    scenario, and r from the posterior of the people's rate (`rate_posteriors`, by trait).

    Parameters
    ----------
    people, rates : DataFrame
        Results of `SituationalJudgments.human_rates` and `.model_rates`.
    what : callable
        Function f of a model's rates, shape (1, rates), and of the people's, shape (scenarios, 1).
        The shape of its result is (scenarios, rates) or one that broadcasts to it.

    Returns
    -------
    Series
        Expected value by scenario; NaN where no model answered.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> judgments = simulated_study(per_statement=4, models=["sim-01"]).judgments
    >>> people, rates = judgments.human_rates(), judgments.model_rates()
    >>> gap = as_aligned(people, rates, lambda model, human: abs(model - human)).mean()
    >>> own = (rates["rate"].droplevel("model") - people["rate"]).abs().mean()
    >>> print(f"{own:.3f} is shown, and {gap:.3f} expected")
    0.105 is shown, and 0.105 expected
    """
    posteriors = rate_posteriors(effective_votes(people), people["trait"])
    human = people["rate"].to_numpy()[:, None]
    decided = rates["positive"] + rates["negative"]
    total = pd.Series(0.0, people.index)
    for count, pairs in decided.groupby(decided):
        shares = np.arange(int(count) + 1)[None, :] / count
        times = pairs.groupby("scenario").size().reindex(people.index, fill_value=0)
        expected = (posteriors.predicted(int(count)) * what(shares, human)).sum(axis=1)
        total += times * expected
    return total / decided.groupby("scenario").size().reindex(people.index)
