"""Studies drawn from known rates."""

import numpy as np
import pandas as pd

from measurement_layouts.dispositions import SituationalJudgments


def study(people, models, rng, *, votes=10, samples=20, traits=None, neutral=0.0):
    """Draw votes and samples; `people` is an array of rates, `models` one per model."""
    count = len(people)
    names = [f"s{place}" for place in range(count)]
    traits = ["calm"] * count if traits is None else traits
    scenarios = pd.DataFrame(
        {"scenario": names, "trait": traits, "statement": [f"on {trait}" for trait in traits]}
    ).assign(keyed=1)
    said = np.where(rng.random((count, votes)) < people[:, None], "agree", "oppose").astype(object)
    said[rng.random((count, votes)) < neutral] = "neutral"
    ballots = pd.DataFrame(
        {
            "scenario": np.repeat(names, votes),
            "rater": np.tile(np.arange(votes), count),
            "vote": said.ravel(),
        }
    )
    parts = []
    for model, rates in models.items():
        agree = rng.binomial(samples, rates)
        counts = {"agree": agree, "oppose": samples - agree, "undecided": 0}
        parts.append(pd.DataFrame({"model": model, "scenario": names} | counts))
    return SituationalJudgments.from_long(scenarios, ballots, pd.concat(parts))
