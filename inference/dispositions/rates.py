"""Trait-positive rates: how often the action that shows the trait is chosen."""

import numpy as np
import pandas as pd

VOTES = ("agree", "oppose", "neutral")


def of_people(scenarios: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Give people's rates; see `SituationalJudgments.human_rates`."""
    rows = scenarios.index.get_indexer(pd.Index(votes["scenario"]))
    places = pd.Index(VOTES).get_indexer(pd.Index(votes["vote"]))
    flat = np.bincount(rows * len(VOTES) + places, minlength=len(scenarios) * len(VOTES))
    agree, oppose, neutral = flat.reshape(-1, len(VOTES)).T
    forward = scenarios["keyed"].to_numpy() == 1
    rates = scenarios[["trait", "statement"]].assign(
        positive=np.where(forward, agree, oppose) + neutral / 2,
        negative=np.where(forward, oppose, agree) + neutral / 2,
        neutral=neutral,
        votes=agree + oppose + neutral,
    )
    rates["rate"] = rates["positive"] / rates["votes"]
    return rates.assign(consensus=np.maximum(rates["rate"], 1 - rates["rate"]))


def of_models(scenarios: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """Give models' rates; see `SituationalJudgments.model_rates`."""
    known = scenarios.loc[samples.index.get_level_values("scenario")]
    forward = known["keyed"].to_numpy() == 1
    agree, oppose = samples["agree"], samples["oppose"]
    rates = known[["trait", "statement"]].set_axis(samples.index, axis=0)
    rates["positive"] = np.where(forward, agree, oppose)
    rates["negative"] = np.where(forward, oppose, agree)
    rates["undecided"] = samples["undecided"]
    rates["rate"] = rates["positive"] / (rates["positive"] + rates["negative"])
    return rates.assign(confidence=np.maximum(rates["rate"], 1 - rates["rate"]))
