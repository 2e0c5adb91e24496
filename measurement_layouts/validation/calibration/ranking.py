"""Ranks of true values among approximately independent posterior draws."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

MOST = 99  # draws that are used of each simulation, so that ranks are 0 to 99


def places(kept: np.ndarray, total: int) -> np.ndarray:
    """Choose positions of draws at equal distances.

    Parameters
    ----------
    kept : ndarray of int, shape (simulations,)
        Number of draws to keep of each simulation, at most 99.
    total : int
        Number of draws to choose from.

    Returns
    -------
    ndarray of int, shape (simulations, 99)
        Positions of the draws that are kept; the last one is repeated up to 99.

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
    """Rank true values among posterior draws.

    Parameters
    ----------
    simulations, quantities : sequence of str
        Names of the simulations and of the quantities.
    values : ndarray, shape (simulations, quantities, 100)
        Draws at the positions given by `places`, followed by the true value.
    kept : ndarray of int, shape (simulations,)
        Number of draws that count.
    rng : Generator
        Random generator that breaks ties and places a value between two ranks.

    Returns
    -------
    DataFrame
        One row per simulation and quantity, as returned by `run.ranks`.

    Examples
    --------
    >>> values = np.append(np.linspace(0, 1, 99), 0.999).reshape(1, 1, 100)
    >>> ranked(["1"], ["p"], values, np.array([99]), np.random.default_rng(1))["rank"].tolist()
    [98]
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
    """Estimate how many draws are independent from effective sample sizes: 1 to 99.

    Examples
    --------
    >>> independent(np.array([50.7, 400.0, np.nan]))
    array([50, 99,  1])
    """
    return np.asarray(np.clip(np.nan_to_num(sizes, nan=1), 1, MOST).astype(int))
