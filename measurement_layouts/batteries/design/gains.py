"""Expected reduction of uncertainty by an item, given the chosen ones."""

from dataclasses import dataclass

import numpy as np

from ..information.expected import APART, ENOUGH, Uncertainty, divergence, near_by
from ..information.sensitivity import Sensitivity

_TOGETHER = 512  # rows at a time


@dataclass(eq=False)
class Gains:
    r"""Expected uncertainty after a battery, at draws of the profile, and its reduction by items.

    The loss is the mean over draws of :math:`\sum_k w_k s_k / s_{0k}`, with expected posterior
    standard deviations s, those before any item :math:`s_0`, and the target's weights. Adding a
    row lowers it by about

    .. math:: \sum_k \frac{w_k}{2 s_k s_{0k}} \Delta_k, \qquad
       \Delta_k = \frac{(C g)_k^2}{1 + g^\top C g} \quad \text{or} \quad
       \Delta_k = \frac{\mathrm{cov}(\theta_k, p)^2}{\bar p (1 - \bar p)}

    The first form uses the row's scaled slopes g near each draw, where the posterior is
    approximated as normal. The second form uses its probabilities p over the draws that the
    outcomes cannot distinguish, where the posterior is approximated by these draws; it is the
    expected change of the variance for any shape of the posterior.

    Attributes
    ----------
    source : Sensitivity
        Layout, draws and rows.
    weights : ndarray, shape (elements,)
        Weights of the target; they sum to 1.
    """

    source: Sensitivity
    weights: np.ndarray

    def __post_init__(self) -> None:
        draws, size = len(self.source.draws), len(self.weights)
        self._scaled = self.source.scaled.astype(np.float32)
        self._chance = self.source.chance.astype(np.float32)
        self._tried = self.source.tried.astype(np.float32)
        self._information = np.zeros((draws, size, size))
        self._divergence = np.zeros((draws, draws))
        self._settle()

    def add(self, rows: np.ndarray) -> None:
        """Add the rows of an item to the battery."""
        scaled = self._scaled[:, rows].astype(float)
        self._information += scaled.transpose(0, 2, 1) @ scaled
        self._divergence += divergence(self.source.chance[:, rows], self.source.tried[:, rows])
        self._settle()

    def _settle(self) -> None:
        """Prepare what `of_rows` needs."""
        covariance, nearness = near_by(self._information, self.source)
        self._after = Uncertainty.of(covariance, self._divergence, self.source)
        sd = np.sqrt(np.maximum(self._after.variance, np.finfo(float).tiny))
        price = self.weights / (2 * sd * self.source.spread)
        effective = 1 / (self._after.weights**2).sum(axis=1, keepdims=True)
        several = self._after.variance > APART * np.diagonal(covariance, axis1=1, axis2=2)
        by_draws = self._after.by_draws & ((effective >= ENOUGH * len(self.weights)) | several)
        normal, drawn = np.where(by_draws, 0, price), np.where(by_draws, price, 0)
        flat = (len(covariance), -1)
        worth = (covariance * normal[:, None, :]) @ covariance
        shape = covariance.shape
        self._worth = (nearness.T @ worth.reshape(flat)).reshape(shape).astype(np.float32)
        mean = nearness.T / nearness.sum(axis=0)[:, None]
        self._mean = (mean @ covariance.reshape(flat)).reshape(shape).astype(np.float32)
        self._prepare_draws(drawn)

    def _prepare_draws(self, price: np.ndarray) -> None:
        """Prepare covariances of elements and chances over the draws, times roots of prices."""
        used = np.ix_(price.any(axis=1), price.any(axis=0))  # draws and elements
        weights, price = self._after.weights[used[0].ravel()], price[used]
        values = self.source.draws[:, used[1].ravel()]
        centred = values[None] - (weights @ values)[:, None]
        roots = np.sqrt(price)[:, :, None] * weights[:, None] * centred.transpose(0, 2, 1)
        self._roots = roots.reshape(-1, len(weights.T)).astype(np.float32)
        self._weights = weights.astype(np.float32)
        share = (weights**2).sum(axis=1)  # of a covariance that few draws have by chance
        variance = self._after.variance[used]
        self._by_chance = (share * (price * variance).sum(axis=1)).astype(np.float32)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Compute the reduction of the loss by each of some rows, shape (rows,)."""
        gains = np.empty(len(rows))
        for start in range(0, len(rows), _TOGETHER):
            block = slice(start, start + _TOGETHER)
            gains[block] = self._by_normal(rows[block]) + self._by_draws(rows[block])
        return gains / len(self.source.draws)

    def _by_normal(self, rows: np.ndarray) -> np.ndarray:
        if not self._worth.any():
            return np.zeros(len(rows))
        scaled = self._scaled[:, rows]
        lowered = ((scaled @ self._worth) * scaled).sum(axis=2)
        variance = 1 + ((scaled @ self._mean) * scaled).sum(axis=2)
        return np.asarray((lowered / variance).sum(axis=0))

    def _by_draws(self, rows: np.ndarray) -> np.ndarray:
        count = len(self._weights)
        if not count:
            return np.zeros(len(rows))
        chance, tried = self._chance[:, rows], self._tried[:, rows]
        mean = self._weights @ chance
        spread = np.maximum(self._weights @ chance**2 - mean**2, 0)
        covariance = (self._roots @ chance).reshape(count, -1, len(rows))
        lowered = (covariance**2).sum(axis=1) - self._by_chance[:, None] * spread
        precision = (self._weights @ tried) / (mean * (1 - mean))
        return np.asarray((lowered * precision).sum(axis=0), dtype=float)
