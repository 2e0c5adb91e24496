"""Posterior draws of people's and models' rates, side by side."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..options import whole
from ..seeding import subject_seed
from .beta_binomial import rate_posteriors
from .judgments import SituationalJudgments
from .votes import effective_votes


def paired_draws(
    judgments: SituationalJudgments, draws: int, seed: int
) -> Iterator[tuple[str, pd.Index, np.ndarray, np.ndarray]]:
    """Draw rates of people and of each model, on the scenarios that the model has samples of.

    People and each model have a hierarchical beta-binomial of their own, the traits being groups;
    they are independent of each other. All models are paired with the same draws of people, and a
    model's draws do not depend on the other models.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes and samples.
    draws : int
        How many, at least 2.
    seed : int
        Of the draws.

    Yields
    ------
    model : str
        One after the other, in order of appearance.
    scenarios : Index
        The model's.
    people, own : ndarray, shape (draws, scenarios)
        Rates in [0, 1].

    Raises
    ------
    FitError
        When a number is out of range.
    """
    whole("draws", draws, least=2)
    votes, samples = judgments.human_rates(), judgments.model_rates()
    people = rate_posteriors(effective_votes(votes), votes["trait"]).draws(draws, seed=seed)
    for model, counts in samples.groupby(level="model", sort=False):
        name, scenarios = str(model), counts.index.get_level_values("scenario")
        own = rate_posteriors(counts, counts["trait"]).draws(draws, seed=subject_seed(seed, name))
        yield name, scenarios, people[:, votes.index.get_indexer(scenarios)], own


def mean_over(draws: np.ndarray, members: np.ndarray, prob: float) -> np.ndarray:
    """Average draws over sets of scenarios, and summarise the averages.

    Parameters
    ----------
    draws : ndarray, shape (draws, scenarios)
        A quantity of each scenario.
    members : ndarray of bool, shape (sets, scenarios)
        Who belongs to which set; no set is empty.
    prob : float
        Mass of the interval.

    Returns
    -------
    ndarray, shape (sets, 3)
        Mean, and the ends of the interval.
    """
    averages = draws @ members.T / members.sum(axis=1)
    ends = np.quantile(averages, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return np.column_stack([averages.mean(axis=0), *ends])
