"""A layout of two demands and a noise, items with other properties, and subjects."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

SAMPLING = {"draws": 300, "tune": 300, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}
USED = ("reach", "load")


def layout(*biases):
    """Declare it; a bias acts on a property of that name."""
    reach, load = (ml.MetaFeature(name, low=0, high=5) for name in USED)
    margin = ml.Capability("strength", low=0, high=5) - reach
    for name in biases:
        margin = margin + ml.Bias(f"{name}Bias", prior=ml.Prior("Normal", mu=0, sigma=2.5)) * (
            ml.MetaFeature(name, levels=(0, 1))
        )
    able = logistic(margin) * logistic(ml.Capability("memory", low=0, high=5) - load)
    return ml.Layout("two", ml.Success("done", mixture(able, by=ml.Noise("noise"), toward=0.5)))


def items(count, seed):
    """Draw items: text, numbers that go with a used one, missing cells, a rare kind."""
    rng = np.random.default_rng(seed)
    reach, load = rng.uniform(0, 5, (2, count))
    size = rng.normal(size=count)
    size[rng.random(count) < 0.4] = np.nan
    return pd.DataFrame(
        {
            "reach": reach,
            "load": load,
            "colour": rng.choice(["red", "green", "blue"], count),
            "near": np.where(rng.random(count) < 0.7, reach, rng.uniform(0, 5, count)),
            "size": size,
            "rare": (rng.random(count) < 0.05).astype(float),
            "lit": (rng.random(count) < 0.4).astype(float),
        },
        index=[f"i{place}" for place in range(count)],
    )


def subjects(count, seed):
    """Draw profiles from the prior."""
    rng = np.random.default_rng(seed)
    strength, memory = rng.uniform(0, 5, (2, count))
    return pd.DataFrame(
        {"strength": strength, "memory": memory, "noise": rng.uniform(0, 1, count)},
        index=[f"s{place}" for place in range(count)],
    )


def evaluation(count, who, seed, trials=1):
    """Simulate subjects on items; nothing is missing in the layout."""
    return ml.simulate(
        layout(), items(count, seed), subjects(who, seed + 1), seed=seed + 2, trials=trials
    )
