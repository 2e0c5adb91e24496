"""Residuals of a joint fit in each cell, for each draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from ....inference.fit import Fit
from ....inference.forecasts.likelihood import Attempted
from ....inference.forecasts.streaming import every_draw

_MOST = 2**25  # number of probabilities in memory (256 MiB); with more cells, fewer draws are read
_AT_A_TIME = 2**20
_EDGE = 1e-6
_MEMORY_MIB = 8.0


@dataclass(frozen=True, eq=False)
class Block:
    """Residuals for a block of draws; 0 for cells without attempts.

    Attributes
    ----------
    log_odds, weights, leftover : ndarray, shape (draws, subjects, items)
        Log-odds of success, variances of the numbers of successes, and residuals, which are the
        numbers of successes minus their expectations.
    """

    log_odds: np.ndarray
    weights: np.ndarray
    leftover: np.ndarray

    def beside(self, anchor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute residuals relative to the other items of the subject.

        Parameters
        ----------
        anchor : ndarray of bool, shape (items,)
            Items that determine the level of a subject, together with the cell's own item.

        Returns
        -------
        leftover : ndarray, shape (draws, subjects, items)
            Residual of a cell, minus its share of the sum of the subject's residuals.
        weights : ndarray, shape (draws, subjects, items)
            Variance of this difference due to the cell itself.
        """
        shares = self.weights / positive(together(self.weights, anchor))
        left = self.leftover - shares * together(self.leftover, anchor)
        return left, self.weights * (1 - shares)


def together(values: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    """Sum a subject's cells over an anchor, to which the cell's own item is added."""
    return np.asarray((values @ anchor.astype(float))[..., None] + values * ~anchor)


def positive(values: np.ndarray) -> np.ndarray:
    """Return numbers to divide by, with 1 instead of 0."""
    return np.where(values > 0, values, 1)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Outcomes of a joint fit, with their probabilities in each draw.

    Attributes
    ----------
    subjects : list of str
        Names of the subjects.
    items : list of str
        Names of the items.
    successes, trials : ndarray, shape (subjects, items)
        Outcomes.
    chances : ndarray, shape (draws, subjects, items)
        Probabilities of success; 0.5 for cells without attempts.
    """

    subjects: list[str]
    items: list[str]
    successes: np.ndarray
    trials: np.ndarray
    chances: np.ndarray

    @classmethod
    def of(cls, fit: Fit) -> "Residuals":
        """Read all cells, for as many draws as memory allows."""
        successes, trials = (count.astype(float) for count in fit.coded.tables)
        names = fit.item_names
        drawn = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
        step = -(-drawn * trials.size // _MOST)
        chances = np.full((len(range(0, drawn, step)), *trials.shape), 0.5)
        for row in range(len(trials)):
            tried = Attempted.of(fit, row)
            where = names.get_indexer(tried.names)
            parts = every_draw(fit, row, tried.features, len(where), memory_mib=_MEMORY_MIB)
            for places, found in parts:
                chances[:, row, where[places]] = found[:, ::step].T
        np.clip(chances, _EDGE, 1 - _EDGE, out=chances)
        return cls(fit.subjects, list(names), successes, trials, chances)

    def blocks(self) -> Iterator[Block]:
        """Yield the residuals of blocks of draws."""
        together = max(1, _AT_A_TIME // self.trials.size)
        for start in range(0, len(self.chances), together):
            yield self._block(self.chances[start : start + together])

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean probabilities, shape (subjects, items)."""
        return np.asarray(self.chances.mean(axis=0))

    @cached_property
    def centre(self) -> Block:
        """Residuals at the mean probabilities, as a single draw."""
        return self._block(self.mean[None])

    @cached_property
    def two_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residuals of two possible outcomes, and the probability of the second, at the means.

        Their mean is 0, and their variance and third moment are those of the Binomial distribution.
        With one trial, they are the residuals of failure and success.
        """
        skewed = 1 - 2 * self.mean
        upper = (skewed + np.sqrt(skewed**2 + 4 * self.centre.weights[0])) / 2
        tried = self.trials > 0
        low, high = np.where(tried, skewed - upper, 0), np.where(tried, upper, 0)
        return low, high, -low / positive(high - low)

    def _block(self, chances: np.ndarray) -> Block:
        return Block(
            np.where(self.trials > 0, logit(chances), 0),
            self.trials * chances * (1 - chances),
            self.successes - self.trials * chances,
        )
