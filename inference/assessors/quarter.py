"""A quarter of the training items, held out to choose something."""

import numpy as np

from ..data import Evaluation

_PART = 4


def quarter(training: Evaluation, seed: int) -> np.ndarray:
    """Draw a quarter of the items that somebody attempted.

    Parameters
    ----------
    training : Evaluation
        Outcomes to learn from.
    seed : int
        Of the draw.

    Returns
    -------
    ndarray of bool, shape (items,)

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame(index=list("abcdefgh"))
    >>> outcomes = pd.DataFrame([[1, 0] * 4], ["Ann"], items.index)
    >>> int(quarter(Evaluation.from_wide(outcomes, items), seed=1).sum())
    2
    """
    attempted = np.flatnonzero(training.trials.to_numpy().any(axis=0))
    # a stream of its own, not that of the folds
    order = np.random.default_rng([seed, 2]).permutation(attempted)
    hidden = np.zeros(len(training.items), dtype=bool)
    hidden[order[: len(order) // _PART]] = True
    return hidden
