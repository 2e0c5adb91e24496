r"""Two-parameter item response theory with Fisher information, calibrated on other subjects.

.. math:: P = \sigma(a_i \theta + b_i), \quad \theta \sim \mathrm{Normal}(0, 1)

One ability, by marginal maximum likelihood: EM over 41 nodes, with a weak prior on slopes and
intercepts, so that items which all or no subjects solve keep finite ones. The next item is the one
of most Fisher information at the posterior mean of the ability.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

_NODES = np.linspace(-4, 4, 41)
_ROUNDS, _STEPS = 30, 3
_SLOPE, _WIDTH, _FAR = 1.0, 1.0, 3.0  # centre and width of the slopes' prior, the intercepts' width


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Slopes and intercepts of the items.

    Attributes
    ----------
    slopes, intercepts : ndarray, shape (items,)
        As in the formula.
    """

    slopes: np.ndarray
    intercepts: np.ndarray

    @property
    def chances(self) -> np.ndarray:
        """At the nodes, shape (nodes, items)."""
        return np.asarray(expit(_NODES[:, None] * self.slopes + self.intercepts))

    def informed(self, answers: np.ndarray, upto: int) -> np.ndarray:
        """Choose items one by one; places, shape (subjects, upto); no cell may be NaN."""
        own = np.arange(len(answers))
        logs = np.broadcast_to(-(_NODES**2) / 2, (len(answers), len(_NODES))).copy()
        left, chosen = np.ones(answers.shape, dtype=bool), np.empty((len(answers), upto), dtype=int)
        chances = self.chances
        for step in range(upto):
            ability = _weights(logs) @ _NODES
            chance = expit(ability[:, None] * self.slopes + self.intercepts)
            information = self.slopes**2 * chance * (1 - chance)
            picked = np.where(left, information, -1).argmax(axis=1)
            chosen[:, step], left[own, picked] = picked, False
            right = answers[own, picked].astype(bool)
            logs += np.log(np.where(right, chances[:, picked], 1 - chances[:, picked])).T
        return chosen


def calibrated(answers: np.ndarray) -> Calibrated:
    """Calibrate the items on subjects' answers, subjects x items; NaN where there is none."""
    there = ~np.isnan(answers)
    right = np.where(there, answers, 0.0)
    slopes = np.ones(answers.shape[1])
    share = (right.sum(axis=0) + 0.5) / (there.sum(axis=0) + 1)
    intercepts = np.log(share / (1 - share))
    for _ in range(_ROUNDS):
        chances = Calibrated(slopes, intercepts).chances.clip(1e-9, 1 - 1e-9)
        logs = right @ np.log(chances).T + (there & (right == 0)) @ np.log1p(-chances).T
        weights = _weights(logs - _NODES**2 / 2)
        passed, tried = weights.T @ right, weights.T @ there  # (nodes, items)
        for _ in range(_STEPS):
            slopes, intercepts = _newton(slopes, intercepts, passed, tried)
    return Calibrated(slopes, intercepts)


def _newton(
    slopes: np.ndarray, intercepts: np.ndarray, passed: np.ndarray, tried: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take one step towards the largest expected posterior density of every item."""
    chances = Calibrated(slopes, intercepts).chances
    over, spread = passed - tried * chances, tried * chances * (1 - chances)
    nodes = _NODES[:, None]
    by_slope = (over * nodes).sum(axis=0) - (slopes - _SLOPE) / _WIDTH**2
    by_intercept = over.sum(axis=0) - intercepts / _FAR**2
    aa = (spread * nodes**2).sum(axis=0) + 1 / _WIDTH**2
    bb = spread.sum(axis=0) + 1 / _FAR**2
    ab = (spread * nodes).sum(axis=0)
    both = aa * bb - ab**2
    step_slope = (bb * by_slope - ab * by_intercept) / both
    step_intercept = (aa * by_intercept - ab * by_slope) / both
    return slopes + step_slope.clip(-1, 1), intercepts + step_intercept.clip(-1, 1)


def _weights(logs: np.ndarray) -> np.ndarray:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
