"""Rates of one group, given how they spread: mixtures of beta distributions."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import elementwise
from scipy.special import betainc, digamma, gammaln, polygamma

from .hyperposterior import Hyperposterior


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates that inform each other.

    Attributes
    ----------
    name : str
        Of the group.
    rows : ndarray of int, shape (rows,)
        Places of its rows among all.
    counts : ndarray, shape (pairs, 2)
        Different pairs of positive and negative counts.
    which : ndarray of int, shape (rows,)
        Pair of each row.
    hyper : Hyperposterior
        Of the group's mean rate and concentration.
    """

    name: str
    rows: np.ndarray
    counts: np.ndarray
    which: np.ndarray
    hyper: Hyperposterior

    @property
    def first(self) -> np.ndarray:
        """First parameter of each rate's beta distribution, shape (pairs, points)."""
        return np.asarray(self.counts[:, :1] + self.hyper.alpha)

    @property
    def second(self) -> np.ndarray:
        """Second parameter of each rate's beta distribution, shape (pairs, points)."""
        return np.asarray(self.counts[:, 1:] + self.hyper.beta)

    def quantile(self, mass: float) -> np.ndarray:
        """Find the rate that has the given mass below it, by pair."""
        first, second, weight = self.first, self.second, self.hyper.weight

        def beyond(rate: np.ndarray, pair: np.ndarray) -> np.ndarray:
            place = pair.astype(int)
            return np.asarray(betainc(first[place], second[place], rate[:, None]) @ weight - mass)

        found = elementwise.find_root(
            beyond,
            (np.zeros(len(first)), np.ones(len(first))),
            args=(np.arange(len(first), dtype=float),),
            tolerances={"xatol": 1e-9},
        )
        return np.asarray(found.x)

    def log_odds(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute mean and standard deviation of the log-odds, by pair; NaN where there are none.

        At a count of 0 the log-odds have a variance only when at least two rows say that rates
        keep away from 0 and 1.
        """
        first, second, weight = self.first, self.second, self.hyper.weight
        middle = digamma(first) - digamma(second)
        mean = middle @ weight
        within = (polygamma(1, first) + polygamma(1, second)) @ weight
        between = (middle - mean[:, None]) ** 2 @ weight
        both = (self.counts > 0).all(axis=1)
        exists = both | (both[self.which].sum() >= 2)
        return np.where(exists, mean, np.nan), np.where(exists, np.sqrt(within + between), np.nan)

    def draws(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rates, shape (draws, rows)."""
        points = rng.choice(len(self.hyper.weight), size=draws, p=self.hyper.weight)
        positive, negative = self.counts[self.which].T
        alpha, beta = self.hyper.alpha[points, None], self.hyper.beta[points, None]
        return np.asarray(rng.beta(alpha + positive, beta + negative))

    def predicted(self, trials: int) -> np.ndarray:
        """Compute the chances of 0 to `trials` positive among new choices, by pair."""
        steps, numbers = np.arange(trials), np.arange(trials + 1)
        rises = [
            np.log(start[..., None] + steps).cumsum(axis=-1)
            for start in (self.first, self.second, self.first + self.second)
        ]
        rises = [np.insert(rise, 0, 0, axis=-1) for rise in rises]
        ways = gammaln(trials + 1) - gammaln(numbers + 1) - gammaln(trials - numbers + 1)
        chances = np.exp(ways + rises[0] + rises[1][..., ::-1] - rises[2][..., -1:])
        return np.asarray(np.einsum("ipn,p->in", chances, self.hyper.weight))
