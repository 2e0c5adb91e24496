"""What a joint fit leaves over in each cell, draw by draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from ....inference.fit import Fit
from ....inference.forecasts.likelihood import Attempted
from ....inference.forecasts.streaming import probabilities

_MOST = 2**25  # chances that are kept, 256 MiB; of more cells, fewer draws are read
_AT_A_TIME = 2**20
_EDGE = 1e-6
_MEMORY_MIB = 8.0


@dataclass(frozen=True, eq=False)
class Block:
    """Some draws of what is left over; zeros where there was no attempt.

    Attributes
    ----------
    log_odds, weights, leftover : ndarray, shape (draws, subjects, items)
        Log-odds of success, variance of the successes, and successes less their expectation.
    """

    log_odds: np.ndarray
    weights: np.ndarray
    leftover: np.ndarray

    def beside(self, anchor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Set each cell beside the other items of its subject.

        Parameters
        ----------
        anchor : ndarray of bool, shape (items,)
            Items that say what a subject is in all; any other stands beside them and itself.

        Returns
        -------
        leftover : ndarray, shape (draws, subjects, items)
            Of a cell, less its share of what its subject leaves over in all.
        weights : ndarray, shape (draws, subjects, items)
            Variance of that as far as it is the cell's own.
        """
        shares = self.weights / positive(together(self.weights, anchor))
        left = self.leftover - shares * together(self.leftover, anchor)
        return left, self.weights * (1 - shares)


def together(values: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    """Sum a subject's cells over an anchor and, of an item that is not in it, its own."""
    return np.asarray((values @ anchor.astype(float))[..., None] + values * ~anchor)


def positive(values: np.ndarray) -> np.ndarray:
    """Give numbers to divide by: 1 instead of 0."""
    return np.where(values > 0, values, 1)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Outcomes of a joint fit beside the chances that its draws give them.

    Attributes
    ----------
    subjects : list of str
        Names.
    items : list of str
        Names.
    successes, trials : ndarray, shape (subjects, items)
        Outcomes.
    chances : ndarray, shape (draws, subjects, items)
        Of success; 0.5 where there was no attempt.
    """

    subjects: list[str]
    items: list[str]
    successes: np.ndarray
    trials: np.ndarray
    chances: np.ndarray

    @classmethod
    def of(cls, fit: Fit) -> "Residuals":
        """Read all cells, of as many draws as there is room for."""
        observed = fit.observed.transpose("subject", "item")
        successes, trials = (
            observed[name].to_numpy().astype(float) for name in ("successes", "trials")
        )
        names = observed.indexes["item"].map(str)
        drawn = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
        step = -(-drawn * trials.size // _MOST)
        chances = np.full((len(range(0, drawn, step)), *trials.shape), 0.5)
        for row in range(len(trials)):
            tried = Attempted.of(fit, row)
            where = names.get_indexer(tried.names)
            parts = probabilities(fit, row, tried.features, len(where), memory_mib=_MEMORY_MIB)
            for places, found in parts:
                chances[:, row, where[places]] = found[:, ::step].T
        np.clip(chances, _EDGE, 1 - _EDGE, out=chances)
        return cls(fit.subjects, list(names), successes, trials, chances)

    def take(self, rows: np.ndarray) -> "Residuals":
        """Keep some of the subjects, by place."""
        return Residuals(
            [self.subjects[row] for row in rows],
            self.items,
            self.successes[rows],
            self.trials[rows],
            self.chances[:, rows],
        )

    def blocks(self) -> Iterator[Block]:
        """Go through the draws, some at a time."""
        together = max(1, _AT_A_TIME // self.trials.size)
        for start in range(0, len(self.chances), together):
            yield self._block(self.chances[start : start + together])

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean chances, shape (subjects, items)."""
        return np.asarray(self.chances.mean(axis=0))

    @cached_property
    def centre(self) -> Block:
        """What is left over of mean chances, as a single draw."""
        return self._block(self.mean[None])

    @cached_property
    def two_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Leftovers of an outcome that is one of two, about the mean chances.

        Their mean is 0, and their variance and third moment are the Binomial's: with one trial they
        are the failure's and the success's.
        """
        skewed = 1 - 2 * self.mean
        upper = (skewed + np.sqrt(skewed**2 + 4 * self.centre.weights[0])) / 2
        tried = self.trials > 0
        return np.where(tried, skewed - upper, 0), np.where(tried, upper, 0)

    def _block(self, chances: np.ndarray) -> Block:
        return Block(
            np.where(self.trials > 0, logit(chances), 0),
            self.trials * chances * (1 - chances),
            self.successes - self.trials * chances,
        )
