"""Items that ask for a propensity in a band: too little and too much both fail."""

import numpy as np
import pandas as pd

from measurement_layouts.scenarios import propensities

from .bank import Bank

SEED = 2321
ITEMS = 1_000
FURTHEST = 3


def bands() -> Bank:
    """Draw a thousand bands whose ends are two different whole levels from -3 to 3.

    The layout is the recommended one of the study of risk aversion: a failure says outside, not on
    which side, so that posteriors have several modes.
    """
    rng = np.random.default_rng(SEED)
    levels = np.arange(-FURTHEST, FURTHEST + 1)
    ends = np.sort([rng.choice(levels, 2, replace=False) for _ in range(ITEMS)], axis=1)
    names = [f"band {number}" for number in range(1, ITEMS + 1)]
    items = pd.DataFrame(ends.astype(float), names, ["lower", "upper"])
    layout = propensities.recommended_layout()
    return Bank("1,000 bands", layout, items, ("propensity",), (40, 80, 200), SEED)
