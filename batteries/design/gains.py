"""How much items are expected to lower what is uncertain, given those that are chosen."""

from dataclasses import dataclass, field

import numpy as np

from ..information.expected import Divergence, Uncertainty, near_by
from ..information.sensitivity import Sensitivity


@dataclass(eq=False)
class Gains:
    r"""What a battery has taught so far at draws of the profile, and what more items would.

    The loss is the mean over draws of :math:`\sum_k w_k s_k / s_{0k}`, with expected posterior
    standard deviations s, those before any item :math:`s_0`, and the target's weights. Adding a
    row lowers it by about

    .. math:: \sum_k \frac{w_k}{2 s_k s_{0k}} \Delta_k, \qquad
       \Delta_k = \frac{(C g)_k^2}{1 + g^\top C g} \quad \text{or} \quad
       \Delta_k = \frac{\mathrm{cov}(\theta_k, p)^2}{\bar p (1 - \bar p)}

    with its scaled slopes g, near by each draw, where the posterior is taken as normal, and with
    its chances p over the draws that cannot be told apart, where it is taken from these: there it
    is the expected change of the variance, whatever the shape of the posterior.

    Attributes
    ----------
    source : Sensitivity
        Layout, draws and rows.
    weights : ndarray, shape (elements,)
        Of the target; they sum to 1.
    """

    source: Sensitivity
    weights: np.ndarray
    _scaled: np.ndarray = field(init=False, repr=False)
    _outcomes: Divergence = field(init=False, repr=False)
    _information: np.ndarray = field(init=False, repr=False)
    _divergence: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        draws, rows, size = len(self.source.draws), self.source.block.count, len(self.weights)
        self._scaled = np.empty((draws, rows, size), dtype=np.float32)
        for part, scaled in self.source.slopes():
            self._scaled[part] = scaled
        self._outcomes = Divergence.of(self.source)
        self._information = np.zeros((draws, size, size))
        self._divergence = np.zeros((draws, draws))
        self.active = np.ones(size, dtype=bool)
        self._settle()

    def add(self, rows: np.ndarray) -> None:
        """Learn from an item's rows."""
        own = self._scaled[:, rows].astype(float)
        self._information += own.transpose(0, 2, 1) @ own
        outcomes = Divergence(self._outcomes.chance[:, rows], self._outcomes.tried[:, rows])
        self._divergence += outcomes.told(np.ones(len(rows)))
        self._settle()

    def aim(self, active: np.ndarray) -> None:
        """Lower only the standard deviations of some elements from now on."""
        self.active = active
        self._settle()

    @property
    def sds(self) -> np.ndarray:
        """Expected posterior standard deviations, the mean over draws; shape (elements,)."""
        return np.asarray(np.sqrt(self._found.variance).mean(axis=0))

    @property
    def loss(self) -> float:
        """What is to be lowered."""
        return float(self.weights @ (self.sds / self.source.spread))

    def _settle(self) -> None:
        """Prepare what `of_rows` needs."""
        covariance, nearness = near_by(self._information, self.source)
        self._found = Uncertainty.of(covariance, self._divergence, self.source)
        sd = np.sqrt(np.maximum(self._found.variance, np.finfo(float).tiny))
        price = self.weights * self.active / (2 * sd * self.source.spread)
        normal = np.where(self._found.by_draws, 0, price)
        drawn = np.where(self._found.by_draws, price, 0)
        flat = (len(covariance), -1)
        worth = (covariance * normal[:, None, :]) @ covariance
        shape = covariance.shape
        self._worth = (nearness.T @ worth.reshape(flat)).reshape(shape).astype(np.float32)
        mean = nearness.T / nearness.sum(axis=0)[:, None]
        self._mean = (mean @ covariance.reshape(flat)).reshape(shape).astype(np.float32)
        self._priced = np.argwhere(drawn > 0)
        self._price = drawn[drawn > 0]

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Compute by how much each of some rows would lower the loss, shape (rows,)."""
        found = self._by_normal(rows) + self._by_draws(rows)
        return np.asarray(found / len(self.source.draws))

    def _by_normal(self, rows: np.ndarray) -> np.ndarray:
        if not self._worth.any():
            return np.zeros(len(rows))
        total = np.zeros(len(rows))
        for own, worth, mean in zip(self._scaled, self._worth, self._mean, strict=True):
            some = own[rows]
            lowered = np.einsum("rk,rk->r", some @ worth, some)
            total += lowered / (1 + np.einsum("rk,rk->r", some @ mean, some))
        return total

    def _by_draws(self, rows: np.ndarray) -> np.ndarray:
        if not len(self._priced):
            return np.zeros(len(rows))
        chance = self._outcomes.chance[:, rows]
        weights = self._found.weights
        mean = weights @ chance
        spread = np.maximum(weights @ chance**2 - mean**2, 0)
        share = (weights**2).sum(axis=1)  # of a covariance that few draws have by chance
        who, which = self._priced.T
        apart = self.source.draws[:, which].T - (weights @ self.source.draws)[who, which][:, None]
        covariance = (weights[who] * apart) @ chance
        chances = share[who] * self._found.variance[who, which]
        lowered = covariance**2 - chances[:, None] * spread[who]
        told = (weights @ self._outcomes.tried[:, rows]) / (mean * (1 - mean))
        return np.asarray((self._price[:, None] * lowered * told[who]).sum(axis=0))
