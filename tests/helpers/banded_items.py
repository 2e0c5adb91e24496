"""Items with a size and a band, a layout of both, and one subject below some bands."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic

FEW = {"split": ml.validation.Items(folds=2), "resamples": 200, "seed": 3, "progressbar": False}
FOREST = RandomForestClassifier(min_samples_split=50)
SETS = {
    "demand": ml.validation.Estimator(FOREST, ["size"]),
    "demand and band": ml.validation.Estimator(FOREST, ["size", "lower", "upper"]),
}


def layout():
    """A capability and a propensity."""
    skill = ml.Capability("skill", low=-3, high=3)
    prudence = ml.Propensity("prudence", low=-3, high=3)
    size = ml.MetaFeature("size", low=-3, high=3)
    lower, upper = (ml.MetaFeature(end, low=-3, high=3) for end in ("lower", "upper"))
    able = logistic(skill - size, 2)
    return ml.Layout("joined", ml.Success("done", able * band(prudence, lower, upper)))


def battery():
    """Sizes, and bands that end on one side."""
    rng = np.random.default_rng(1)
    end, closed_above = rng.integers(-1, 2, 240).astype(float), rng.random(240) < 0.5
    columns = {
        "size": rng.uniform(-2, 2, 240),
        "lower": np.where(closed_above, -3, end),
        "upper": np.where(closed_above, end, 3),
    }
    return pd.DataFrame(columns, [f"q{number}" for number in range(240)])


def evaluation():
    """One subject whose propensity lies below some bands."""
    profile = pd.DataFrame({"skill": [1.0], "prudence": [-1.5]}, index=["Ann"])
    return ml.simulate(layout(), battery(), profile, seed=2)


def predictions(found, method):
    """Probabilities by subject and item."""
    table = found.predictions.query("method == @method")
    return table.pivot_table("probability", "subject", "item", sort=False)
