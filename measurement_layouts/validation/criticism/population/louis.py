"""Score tests of effects that a fitted layout does not have."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from ..expansion import holm
from .residuals import Block, Residuals, positive, together
from .saddlepoint import tails

_LEAST = 0.05  # smallest part of the information that the layout's own effects may leave
SUBJECT, ITEM = 2, 1
"""Axis of the cells of a test: there is one test for each subject, or for each item."""


@dataclass(frozen=True, eq=False)
class Tested:
    """Scores of effects at zero, averaged over the posterior of the layout.

    Attributes
    ----------
    score : ndarray, shape (tests, effects)
        Slope of the log marginal likelihood.
    information : ndarray, shape (tests, effects, effects)
        Information of the outcomes on the effects.
    complete : ndarray, shape (tests, effects, effects)
        Information if all latents of the layout were known.
    """

    score: np.ndarray
    information: np.ndarray
    complete: np.ndarray

    @property
    def testable(self) -> np.ndarray:
        """Whether enough information is left on each effect; shape (tests,)."""
        left, whole = (
            np.diagonal(each, axis1=1, axis2=2) for each in (self.information, self.complete)
        )
        return np.asarray(((left > _LEAST * whole) & (whole > 0)).all(axis=1))

    def alone(self) -> tuple[np.ndarray, np.ndarray]:
        """Estimate each effect without the others, and its standard error; NaN if untestable."""
        own = np.diagonal(self.information, axis1=1, axis2=2)
        own = np.where(self.testable[:, None], own, np.nan)
        return self.score / own, 1 / np.sqrt(own)

    def together(self) -> np.ndarray:
        """Compute the chi-square statistic of all effects of a test; NaN if untestable."""
        found = np.full(len(self.score), np.nan)
        for at in np.flatnonzero(self.testable):
            found[at] = self.score[at] @ np.linalg.solve(self.information[at], self.score[at])
        return found

    def take(self, effects: slice) -> "Tested":
        """Select effects."""
        return Tested(
            self.score[:, effects],
            self.information[:, effects, effects],
            self.complete[:, effects, effects],
        )


def louis(residuals: Residuals, scores: Callable[[Block], tuple[np.ndarray, np.ndarray]]) -> Tested:
    r"""Test single effects by their scores, given the draws of a layout without them.

    .. math:: U = \mathrm{E}[U(\theta)], \qquad
        I = \mathrm{E}[J(\theta)] - \mathrm{Var}[U(\theta)]

    where the moments are those of the posterior, and :math:`U(\theta)` and :math:`J(\theta)` are
    score and information of the effect if all latents :math:`\theta` are known. U is the slope of
    the log marginal likelihood, and I its information (Louis 1982). Under the layout,
    :math:`U / \sqrt I` is standard normal. One step from zero gives the estimate :math:`U / I` of
    the effect, with the standard error :math:`1 / \sqrt I`.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    scores : callable
        Function that returns scores and information, both of shape (draws, tests), given a block of
        draws.

    Returns
    -------
    Tested
        Results of all tests.

    References
    ----------
    Louis, T. A. (1982), Finding the observed information matrix when using the EM algorithm,
    Journal of the Royal Statistical Society B 44. Glas, C. A. W. (1999), Modification indices for
    the 2-PL and the nominal response model, Psychometrika 64.

    Examples
    --------
    >>> known = Residuals(["Ann"], ["a", "b"], np.ones((1, 2)), np.ones((1, 2)),
    ...                   np.full((1, 1, 2), 0.5))
    >>> easier = louis(known, lambda part: (part.leftover.sum(axis=2), part.weights.sum(axis=2)))
    >>> easier.score, easier.information
    (array([[1.]]), array([[[0.5]]]))
    """
    parts = []
    for block in residuals.blocks():
        score, information = scores(block)
        parts.append((score.sum(axis=0), (score**2).sum(axis=0), information.sum(axis=0)))
    mean, square, complete = (
        np.sum(each, axis=0) / len(residuals.chances) for each in zip(*parts, strict=True)
    )
    missing = square - mean**2
    return Tested(mean[:, None], (complete - missing)[:, None, None], complete[:, None, None])


@dataclass(frozen=True, eq=False)
class Direction:
    r"""Tests of a change of the log-odds of cells along given values, by subject or by item.

    The values x of a test's cells may depend on the draw, as log-odds do, so that they need not be
    estimated from the tested outcomes. They are centred with the weights :math:`w = n p (1 - p)`,
    so that the level that the layout infers has no effect on the test. An item's cells change
    relative to their subjects' other cells, :math:`d_{ik} = x_{ij} (1_{j = k} - w_{ik} /
    \sum_l w_{il})`, so that the subjects' levels have no effect either.

    .. math:: U(\theta) = \sum_c d_c (y_c - n_c p_c), \qquad J(\theta) = \sum_c d_c^2 w_c

    The variance of U over the posterior, which `louis` subtracts from the information, is replaced
    by its expectation over outcomes, because the observed variance is larger if U is far from 0, so
    that tails would be too heavy. The expectation is the variance of
    :math:`\sum_c \bar d_c \bar w_c \eta_c` plus that from d itself,
    :math:`\sum_c \bar w_c \mathrm{Var}(d_c)`.

    Attributes
    ----------
    values : callable
        Function that returns a list with the values of each effect, given a block of draws; their
        shape is broadcast to (draws, subjects, items).
    over : int
        `SUBJECT` or `ITEM`, for one test for each subject or for each item.
    anchor : ndarray of bool, shape (items,), optional
        For tests of items, those that determine the levels of subjects (default: all). An item that
        is not among them is tested relative to them and itself.
    """

    values: Callable[[Block], list[np.ndarray]]
    over: int
    anchor: np.ndarray | None = None

    def test(self, residuals: Residuals) -> Tested:
        """Compute scores and information of the effects of each test."""
        centre = residuals.centre
        weights = self._beside(centre)[1]
        centred = np.stack(self._along(centre, weights))
        moved = centred * weights
        scores, lines, sums = [], [], []
        for block in residuals.blocks():
            left, own = self._beside(block)
            along = self._along(block, own)
            scores.append(np.stack([(x * left).sum(axis=self.over) for x in along], axis=2))
            odds = block.log_odds
            if self.over == ITEM:
                odds = odds - self._of_subjects(centre, odds)
            lines.append(np.stack([(x * odds).sum(axis=self.over) for x in moved], axis=2))
            both = [[(x * y * own).sum(axis=(0, self.over)) for y in along] for x in along]
            moments = ([(x**power).sum(axis=0) for x in along] for power in (1, 2))
            sums.append((np.array(both), *map(np.array, moments)))
        score, line = np.concatenate(scores), np.concatenate(lines)
        draws = len(score)
        complete, first, second = (np.sum(each, axis=0) / draws for each in zip(*sums, strict=True))
        complete, line = np.moveaxis(complete, 2, 0), line - line.mean(axis=0)
        of_values = (weights[0] * (second - first**2)).sum(axis=self.over).T
        missing = np.einsum("dtk,dtl->tkl", line, line) / draws
        missing = missing + of_values[:, :, None] * np.eye(of_values.shape[1])
        return Tested(score.mean(axis=0), complete - missing, complete)

    def chances(self, residuals: Residuals, tested: Tested) -> np.ndarray:
        """Compute p values of tests of single effects by saddlepoints; NaN if untestable."""
        effect, error = tested.alone()
        centre = residuals.centre
        (along,) = self._along(centre, self._beside(centre)[1])
        return of_cells(residuals, (effect / error)[:, 0], along[0], self.over)

    def _anchored(self, block: Block) -> np.ndarray:
        """Return which items are in the anchor."""
        return np.ones(block.weights.shape[2], dtype=bool) if self.anchor is None else self.anchor

    def _beside(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals of a test's cells, and the weights with which they are centred."""
        if self.over == SUBJECT:
            return block.leftover, block.weights
        return block.beside(self._anchored(block))

    def _of_subjects(self, block: Block, values: np.ndarray) -> np.ndarray:
        """Average values over a subject's cells, weighted by information."""
        anchor = self._anchored(block)
        total = together(block.weights, anchor)
        return np.asarray(together(block.weights * values, anchor) / positive(total))

    def _along(self, block: Block, weights: np.ndarray) -> list[np.ndarray]:
        """Return the centred values of each effect."""
        found = []
        total = positive(weights.sum(axis=self.over, keepdims=True))
        for values in self.values(block):
            x = np.broadcast_to(values, weights.shape)
            mean = (weights * x).sum(axis=self.over, keepdims=True) / total
            found.append((x - mean) * (weights > 0))
        return found


def of_cells(residuals: Residuals, z: np.ndarray, along: np.ndarray, over: int) -> np.ndarray:
    """Compute p values of weighted sums of residuals over cells.

    Parameters
    ----------
    residuals : Residuals
        Residuals, whose mean probabilities are those of the outcomes.
    z : ndarray, shape (tests,)
        Standardised sums.
    along : ndarray, shape (subjects, items)
        Weights of the cells.
    over : int
        `SUBJECT` or `ITEM`, for one sum for each subject or for each item.

    Returns
    -------
    ndarray, shape (tests,)
        P values; see `saddlepoint.tails`.
    """
    low, high, passing = residuals.two_points
    cells = np.stack([along * low, along * high, 1 - passing, passing])
    below, above, failing, passing = cells if over == SUBJECT else cells.swapaxes(1, 2)
    return tails(z, np.stack([below, above], axis=2), np.stack([failing, passing], axis=2))


def intervals(tested: Tested, prob: float) -> dict[str, np.ndarray]:
    """Return single effects with approximate intervals and standardised scores."""
    effect, error = (each[:, 0] for each in tested.alone())
    half = norm.isf((1 - prob) / 2) * error
    return {"effect": effect, "low": effect - half, "high": effect + half, "z": effect / error}


def adjusted(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Adjust p values for the number of rows, and flag those that are at most alpha."""
    found = holm(table["p"].to_numpy(dtype=float))
    return table.assign(p_adjusted=found, flagged=found <= alpha)
