"""What adaptive tests are held against: weighted prior draws, in plain NumPy.

Greedy mutual information: of the items left, the one whose outcome and the whole profile have most
in common is asked. The posterior is the prior's draws, weighted by the likelihood of the answers.
Few of 20,000 remain effective after many answers; since that depends on how narrow the posterior
has become, and hardly on who chose the items, one such ruler with draws of its own serves all ways
where latents are few. With many, draws collapse, and sooner on items that tell much: posteriors
that particles carry on then judge all ways (`next_items_tests.Carried`); the reference still
chooses.
"""

from collections.abc import Sequence

import numpy as np
from banks import Bank, drawn

DRAWS = 20_000
CHOOSING, RULER = 11, 12
"""Seeds of the draws that choose, and of those that judge."""
_EDGE = 1e-6
_RESAMPLED = 400
_TOGETHER = 2_000


class Reference:
    """A bank's items at draws of the prior.

    Parameters
    ----------
    bank : Bank
        The items, and what is judged.
    seed : int
        Of the draws.
    draws : int
        How many.
    """

    def __init__(self, bank: Bank, seed: int, draws: int = DRAWS) -> None:
        profiles = drawn(bank.layout, draws, seed)
        values = profiles[list(bank.judged)].to_numpy()
        self.values = (values - values.mean(axis=0)) / values.std(axis=0)
        self.scale = values.mean(axis=0), values.std(axis=0)
        starts = range(0, draws, _TOGETHER)
        chances = [bank.chances(profiles.iloc[at : at + _TOGETHER]) for at in starts]
        self.chances = np.concatenate(chances).T.astype("float32").clip(_EDGE, 1 - _EDGE)

    def informed(self, answers: np.ndarray, upto: int) -> np.ndarray:
        """Choose items one by one for all subjects; places, shape (subjects, upto)."""
        subjects = len(answers)
        logs = np.zeros((self.chances.shape[1], subjects), dtype="float32")
        chosen = np.empty((subjects, upto), dtype=int)
        entropies, everybody = _entropy(self.chances), np.arange(subjects)
        asked = np.zeros((len(self.chances), subjects), dtype=bool)
        for step in range(upto):
            weights = _weights(logs)
            value = _entropy(self.chances @ weights) - entropies @ weights
            value[asked] = -1
            picked = value.argmax(axis=0)
            chosen[:, step], asked[picked, everybody] = picked, True
            logs += self._gained(answers, picked)
        return chosen

    def judged(self, answers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Mean relative sds before any answer and after each, shape (subjects, answers + 1)."""
        return self._followed(answers, places)[0]

    def distances(self, answers: np.ndarray, places: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Root mean square distances of means from the truth, as `judged`, in prior sds."""
        known = (truth - self.scale[0]) / self.scale[1]
        means = self._followed(answers, places)[1]
        return np.asarray(np.sqrt(((means - known[:, None]) ** 2).mean(axis=2)))

    def _followed(self, answers: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logs = np.zeros((self.chances.shape[1], len(answers)), dtype="float32")
        sds, means = [], []
        for step in range(places.shape[1] + 1):
            if step:
                logs += self._gained(answers, places[:, step - 1])
            weights = _weights(logs)
            mean = weights.T @ self.values
            variance = weights.T @ self.values**2 - mean**2
            sds.append(np.sqrt(variance.clip(0)).mean(axis=1))
            means.append(mean)
        return np.stack(sds, axis=1), np.stack(means, axis=1)

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


def needs_of(
    levels: np.ndarray, ways: Sequence[np.ndarray], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count what ways need to reach the mean of some levels, and again for resampled subjects.

    Parameters
    ----------
    levels : ndarray, shape (subjects,)
        What random choice reaches.
    ways : sequence of ndarray, shape (subjects, answers + 1)
        Curves.
    seed : int
        Of the resampling.

    Returns
    -------
    tuple of ndarray
        By way, shape (ways,); and shape (400, ways), all for the same subjects.
    """
    rng, count = np.random.default_rng(seed), len(levels)
    found = np.array([needs(way.mean(axis=0), levels.mean()) for way in ways])
    again = []
    for _ in range(_RESAMPLED):
        who = rng.integers(count, size=count)
        again.append([needs(way[who].mean(axis=0), levels[who].mean()) for way in ways])
    return found, np.array(again)


def _weights(logs: np.ndarray) -> np.ndarray:
    found = np.exp(logs - logs.max(axis=0))
    return found / found.sum(axis=0)


def _entropy(chances: np.ndarray) -> np.ndarray:
    inside = chances.clip(_EDGE, 1 - _EDGE)
    return -(inside * np.log(inside) + (1 - inside) * np.log1p(-inside))
