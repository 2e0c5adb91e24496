"""People's votes, counted by what they tell of their rates."""

import pandas as pd


def effective_votes(people: pd.DataFrame) -> pd.DataFrame:
    r"""Count votes by what they tell: a neutral one tells more than a coin that stands for it.

    .. math:: f_t = 1 + \frac{\bar\nu_t}{4 S_t^2}

    A neutral vote, half for each action, has no chance in it. Shares of votes therefore scatter
    less than Binomial ones, by :math:`\nu / 4` per vote where a share nu is neutral; S is the
    variance of votes (1, 1/2 or 0) within scenarios.

    Parameters
    ----------
    people : DataFrame
        From `SituationalJudgments.human_rates`.

    Returns
    -------
    DataFrame
        ``positive`` and ``negative``, those of each trait multiplied by its factor f.

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
