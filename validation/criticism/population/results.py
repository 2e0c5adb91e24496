"""Columns that the tables of tests share."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from ..expansion import holm
from .louis import Tested


def intervals(tested: Tested, prob: float) -> dict[str, np.ndarray]:
    """Return single effects with approximate intervals and standardised scores."""
    effect, error = (each[:, 0] for each in tested.alone())
    half = norm.isf((1 - prob) / 2) * error
    return {"effect": effect, "low": effect - half, "high": effect + half, "z": effect / error}


def adjusted(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Adjust p values for the number of rows, and flag those that are at most alpha."""
    found = holm(table["p"].to_numpy(dtype=float))
    return table.assign(p_adjusted=found, flagged=found <= alpha)
