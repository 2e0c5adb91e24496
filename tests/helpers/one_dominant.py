"""Items whose highest demand alone decides, and subjects of known ability."""

import numpy as np
import pandas as pd
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.batteries.logistic_curves import area

SLOPE = 2.0
NAMES = ["logic", "memory", "volume"]


def battery(count, rng, shares=None):
    """Lay one demand out evenly over levels 1 to 5, or in shares; the others lie below it."""
    highest = rng.choice(np.arange(1, 6), size=count, p=shares)
    which = rng.integers(0, len(NAMES), count)
    levels = np.minimum(rng.integers(0, 6, (count, len(NAMES))), highest[:, None] - 1)
    levels[np.arange(count), which] = highest
    return pd.DataFrame(levels, columns=NAMES)


def outcomes(items, abilities, rng):
    """Draw outcomes of subjects, (subjects, dimensions); also the areas under their curves."""
    levels = items.to_numpy()
    which = levels.argmax(axis=1)
    chance = expit(SLOPE * (abilities[:, which] - levels.max(axis=1)))
    names = [f"s{place}" for place in range(len(abilities))]
    solved = pd.DataFrame(rng.random(chance.shape) < chance, names, items.index)
    return ml.Evaluation.from_wide(solved, items), area(SLOPE * abilities, SLOPE)
