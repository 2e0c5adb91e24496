"""Ranks of true values among posterior draws that are about independent."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

MOST = 99  # draws of each simulation, so that ranks are 0 to 99


def places(kept: np.ndarray, total: int) -> np.ndarray:
    """Places of draws at equal distances.

    Parameters
    ----------
    kept : ndarray of int, shape (simulations,)
        How many draws of each, at most 99.
    total : int
        Of how many.

    Returns
    -------
    ndarray of int, shape (simulations, 99)
        What is beyond those kept repeats the last one.

    Examples
    --------
    >>> places(np.array([2]), 100)[0, :3]
    array([25, 75, 75])
    """
    found = [((np.arange(count) + 0.5) * total / count).astype(int) for count in kept]
    return np.array([np.pad(own, (0, MOST - len(own)), mode="edge") for own in found])


def ranked(
    simulations: Sequence[str],
    quantities: Sequence[str],
    values: np.ndarray,
    kept: np.ndarray,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rank true values among draws.

    Parameters
    ----------
    simulations, quantities : sequence of str
        Names.
    values : ndarray, shape (simulations, quantities, 100)
        Draws at the `places` of those kept, and the true value, which is the last.
    kept : ndarray of int, shape (simulations,)
        How many of the draws count.
    rng : Generator
        Decides ranks among equal values, and places between two ranks.

    Returns
    -------
    DataFrame
        One row per simulation and quantity, as of `run.ranks`.

    Examples
    --------
    >>> values = np.append(np.linspace(0, 1, 99), 0.5).reshape(1, 1, 100)
    >>> ranked(["1"], ["p"], values, np.array([99]), np.random.default_rng(1))["rank"].tolist()
    [49]
    """
    draws, true = values[..., :-1], values[..., -1:]
    valid = np.arange(MOST) < kept[:, None, None]
    below = (valid & (draws < true)).sum(axis=-1)
    equal = (valid & (draws == true)).sum(axis=-1)
    rank = below + rng.integers(0, equal, endpoint=True)
    mean = np.where(valid, draws, 0).sum(axis=-1) / kept[:, None]
    squares = np.where(valid, (draws - mean[..., None]) ** 2, 0).sum(axis=-1)
    return pd.DataFrame(
        {
            "simulation": np.repeat(simulations, len(quantities)),
            "quantity": np.tile(quantities, len(kept)),
            "truth": true.ravel(),
            "mean": mean.ravel(),
            "sd": np.sqrt(squares / np.maximum(kept[:, None] - 1, 1)).ravel(),
            "draws": np.repeat(kept, len(quantities)),
            "rank": rank.ravel(),
            "position": ((rank + rng.random(rank.shape)) / (kept[:, None] + 1)).ravel(),
        }
    )


def independent(sizes: np.ndarray) -> np.ndarray:
    """How many draws are about independent, given effective sample sizes: 1 to 99.

    Examples
    --------
    >>> independent(np.array([50.7, 400.0, np.nan]))
    array([50, 99,  1])
    """
    return np.asarray(np.clip(np.nan_to_num(sizes, nan=1), 1, MOST).astype(int))
