"""The ruler of adaptive tests: weighted prior draws, in plain NumPy.

The posterior is the prior's draws, weighted by the likelihood of the answers. Few of 20,000 remain
effective after many answers; since that depends on how narrow the posterior has become, and hardly
on who chose the items, one such ruler with draws of its own serves all ways where latents are few.
"""

import numpy as np
from banks import Bank, drawn

DRAWS = 20_000
_EDGE = 1e-6
_TOGETHER = 2_000


class Reference:
    """A bank's items at draws of the prior.

    Parameters
    ----------
    bank : Bank
        The items, and what is judged.
    seed : int
        Of the draws.
    """

    def __init__(self, bank: Bank, seed: int) -> None:
        profiles = drawn(bank.layout, DRAWS, seed)
        values = profiles[list(bank.judged)].to_numpy()
        self.values = (values - values.mean(axis=0)) / values.std(axis=0)
        starts = range(0, DRAWS, _TOGETHER)
        chances = [bank.chances(profiles.iloc[at : at + _TOGETHER]) for at in starts]
        self.chances = np.concatenate(chances).T.astype("float32").clip(_EDGE, 1 - _EDGE)

    def judged(self, answers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Mean relative sds before any answer and after each, shape (subjects, answers + 1)."""
        logs = np.zeros((self.chances.shape[1], len(answers)), dtype="float32")
        sds = []
        for step in range(places.shape[1] + 1):
            if step:
                logs += self._gained(answers, places[:, step - 1])
            weights = np.exp(logs - logs.max(axis=0))
            weights /= weights.sum(axis=0)
            variance = weights.T @ self.values**2 - (weights.T @ self.values) ** 2
            sds.append(np.sqrt(variance.clip(0)).mean(axis=1))
        return np.stack(sds, axis=1)

    def _gained(self, answers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Log-likelihoods of one answer of each subject, shape (draws, subjects)."""
        chance = self.chances[places]
        right = answers[np.arange(len(answers)), places].astype(bool)[:, None]
        return np.log(np.where(right, chance, 1 - chance)).T


def randomly(answers: np.ndarray, upto: int, seed: int) -> np.ndarray:
    """Choose items at random, each subject its own; places, shape (subjects, upto)."""
    rows = [
        np.random.default_rng([seed, place]).permutation(answers.shape[1])[:upto]
        for place in range(len(answers))
    ]
    return np.array(rows)


def needs(mean: np.ndarray, level: float) -> float:
    """Count the items until a curve is down at a level, between two of them in proportion.

    NaN where it is not reached.
    """
    below = np.flatnonzero(mean <= level)
    if not len(below):
        return float("nan")
    first = int(below[0])
    if first == 0:
        return 0.0
    return float(first - (level - mean[first]) / (mean[first - 1] - mean[first]))
