"""Memorised items: the likelihood ratio of a share of them, and its distribution without any."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit, log_expit, logit

SHARE = 0.15  # share of memorised items among the hard ones in the likelihood ratio
_REPLICATES = 400  # simulated outcomes; half of them have memorised items
_AT_A_TIME = 2**21
_MOST_DRAWS = 1000  # draws for the directions
_OWN = 0.25  # least information of a direction in the subject's outcomes; 1 without a prior
_LOOSE = 0.02  # least precision of the prior of a direction, in the same unit
_LONGEST = 2.0  # longest Newton step, in posterior standard deviations
_SETTLED = 0.01
_STEPS, _MORE_STEPS = 5, 8
_PLACES = 2  # decimal places of log ratios, which are all equal without a hard item
_EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Pattern:
    r"""Outcomes of a subject, and the common changes of its log-odds.

    The log-odds of the cells are :math:`\eta + B u`. Each :math:`\eta_i` is inferred without the
    outcome of its cell, from draws with u at 0, weighted by the reciprocal of the outcome's
    likelihood: a success of this subject does not make the item easier. The columns of B are the
    principal directions of the posterior of the log-odds, one posterior standard deviation long.
    There are at most as many as elements of the profile, and only those on which the subject's
    outcomes have enough information :math:`\lambda = b' W b`. The prior of u is normal with the
    precision :math:`1 - \lambda`, and its mean is the one with which the posterior mean is 0.

    Attributes
    ----------
    successes, trials, log_odds : ndarray, shape (items,)
        Successes, trials and log-odds of the items that were tried.
    directions : ndarray, shape (items, directions)
        B.
    precision, pull : ndarray, shape (directions,)
        Precisions of the prior of u, and precisions times means.
    """

    successes: np.ndarray
    trials: np.ndarray
    log_odds: np.ndarray
    directions: np.ndarray
    precision: np.ndarray
    pull: np.ndarray

    @classmethod
    def of(
        cls, successes: np.ndarray, trials: np.ndarray, chances: np.ndarray, most: int
    ) -> "Pattern":
        """Make it from draws of chances, (draws, items), with at most so many directions."""
        tried = trials > 0
        successes, trials, chances = successes[tried], trials[tried], chances[:, tried]
        mean = chances.mean(axis=0)
        scale = np.sqrt(trials * mean * (1 - mean))
        drawn = logit(chances[:: -(-len(chances) // _MOST_DRAWS)])
        centre = drawn.mean(axis=0)
        scaled = (drawn - centre) * scale
        along, own = _principal(scaled / np.sqrt(len(drawn)), most)
        directions = along * np.sqrt(own) / scale[:, None]
        rest = centre + (scaled - scaled @ along @ along.T) / scale
        log_odds = logit(_without_own(successes, trials, expit(rest)))
        pull = -(successes - trials * expit(log_odds)) @ directions
        precision = np.clip(1 - own, _LOOSE, 1)
        return cls(successes, trials, log_odds, directions, precision, pull)

    @property
    def mirrored(self) -> "Pattern":
        """The pattern with successes and failures exchanged."""
        failures = self.trials - self.successes
        turned = {"log_odds": -self.log_odds, "directions": -self.directions}
        return replace(self, successes=failures, **turned)

    def ratios(self, outcomes: np.ndarray) -> np.ndarray:
        r"""Compute log likelihood ratios of a share m of memorised hard items against none.

        .. math:: T = \max_u \left[\log \pi(u) + \sum_i \log\left(m_i 1_{y_i = n_i} +
            (1 - m_i) L_i(u)\right)\right] - \max_u \left[\log \pi(u) + \sum_i \log L_i(u)\right]

        with m on items that have a chance below .5 at u, and 0 on the others. The likelihood is
        discontinuous where an item becomes hard. Newton's method ignores this, so that it may miss
        a larger value of the first maximum; the same is done for simulated outcomes.

        Parameters
        ----------
        outcomes : ndarray, shape (patterns, items)
            Successes.

        Returns
        -------
        ndarray, shape (patterns,)
            Log likelihood ratios.
        """
        short = self._short
        found = np.empty(len(outcomes))
        together = max(1, _AT_A_TIME // max(1, outcomes.shape[1]))
        for start in range(0, len(outcomes), together):
            own = outcomes[start : start + together].astype(np.float32)
            places = np.zeros((len(own), self.directions.shape[1]), dtype=np.float32)
            fair = short._climb(own, places, 0.0, _STEPS)
            learnt = short._climb(own, fair, SHARE, _MORE_STEPS)
            gain = short._density(own, learnt, SHARE) - short._density(own, fair, 0.0)
            found[start : start + together] = np.round(gain, _PLACES)
        return found

    def replicates(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Simulate outcomes of the layout, with weights; the first row is the observed one.

        Half of the rows are simulated with a share of memorised items, so that large ratios are not
        rare. A weight is the probability under the layout divided by that under the mixture.
        """
        places = rng.normal(size=(_REPLICATES + 1, len(self.precision)))
        places[0] = 0
        log_odds = self._moved(places)
        drawn = rng.binomial(self.trials.astype(int), expit(log_odds)).astype(float)
        known = (rng.random(drawn.shape) < SHARE) & (log_odds < 0)
        known[: _REPLICATES // 2] = False
        drawn = np.where(known, self.trials, drawn)
        drawn[0] = self.successes
        gain = self._known(drawn, log_odds, SHARE).sum(axis=1)
        return drawn, 2 * expit(-gain)

    @property
    def _short(self) -> "Pattern":
        """The pattern in single precision, which is faster and precise enough."""
        return Pattern(*(getattr(self, each.name).astype(np.float32) for each in fields(self)))

    @cached_property
    def _products(self) -> np.ndarray:
        """Products of each two directions, item by item."""
        count = self.directions.shape[1]
        both = self.directions[:, :, None] * self.directions[:, None, :]
        return np.asarray(both.reshape(-1, count * count))

    def _moved(self, places: np.ndarray) -> np.ndarray:
        """Compute the log-odds for some u."""
        return np.asarray(self.log_odds + places @ self.directions.T)

    def _known(self, outcomes: np.ndarray, log_odds: np.ndarray, share: float) -> np.ndarray:
        """Compute the log likelihood ratio of each cell for a share of memorised items."""
        passed = math.log(share) - self.trials * log_expit(log_odds)
        fair = math.log1p(-share)
        gain = np.where(outcomes == self.trials, np.logaddexp(fair, passed), fair)
        return np.asarray(np.where(log_odds < 0, gain, 0))

    def _density(self, outcomes: np.ndarray, places: np.ndarray, share: float) -> np.ndarray:
        """Compute the log-likelihood plus the log prior of u, up to a constant."""
        log_odds = self._moved(places)
        cells = outcomes * log_odds + self.trials * log_expit(-log_odds)
        if share:
            cells += self._known(outcomes, log_odds, share)
        prior = places @ self.pull - (places**2) @ self.precision / 2
        return np.asarray(cells.sum(axis=1) + prior)

    def _climb(
        self, outcomes: np.ndarray, places: np.ndarray, share: float, steps: int
    ) -> np.ndarray:
        """Maximise the density by Newton steps, with the information of cells not memorised."""
        count = places.shape[1]
        for _ in range(steps if count else 0):
            log_odds = self._moved(places)
            chances = expit(log_odds)
            weights = self.trials * chances * (1 - chances)
            left = outcomes - self.trials * chances
            if share:
                all_passed = math.log(1 / share - 1) + self.trials * log_expit(log_odds)
                maybe = (outcomes == self.trials) & (log_odds < 0)
                fair = np.where(maybe, expit(all_passed), 1)
                weights, left = fair * weights, fair * left
            slope = left @ self.directions + self.pull - places * self.precision
            curve = (weights @ self._products).reshape(-1, count, count)
            curve = curve + np.diag(self.precision)
            step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
            places = places + np.clip(step, -_LONGEST, _LONGEST)
            if np.abs(step).max() < _SETTLED:
                break
        return places


def _principal(scaled: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the principal directions of draws, (draws, items), and their variances."""
    draws, items = scaled.shape
    if not items:
        return np.zeros((0, 0)), np.zeros(0)
    across = items > draws
    products = scaled @ scaled.T if across else scaled.T @ scaled
    least = max(0, len(products) - most)
    sizes, along = eigh(products, subset_by_index=(least, len(products) - 1))
    sizes, along = sizes[sizes >= _OWN], along[:, sizes >= _OWN]
    return (scaled.T @ along / np.sqrt(sizes) if across else along), sizes


def _without_own(successes: np.ndarray, trials: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Compute the mean chance of each cell without its own outcome."""
    likelihood = successes * np.log(chances) + (trials - successes) * np.log1p(-chances)
    weights = np.exp(likelihood.min(axis=0) - likelihood)
    most = weights.mean(axis=0) * np.sqrt(len(weights))
    weights = np.minimum(weights, most)
    mean = (weights * chances).sum(axis=0) / weights.sum(axis=0)
    return np.asarray(np.clip(mean, _EDGE, 1 - _EDGE))


@dataclass(frozen=True, eq=False)
class Tails:
    """Ratios of the observed outcomes of many subjects, and of simulated ones.

    Attributes
    ----------
    observed : ndarray, shape (tests,)
        Log likelihood ratios of the observed outcomes.
    ratios, weights : ndarray, shape (tests, replicates)
        Log likelihood ratios of simulated outcomes, and their weights, which sum to 1.
    """

    observed: np.ndarray
    ratios: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, patterns: Iterator[tuple[Pattern, int]]) -> "Tails":
        """Simulate outcomes for each pattern, with its seed."""
        found = []
        for pattern, seed in patterns:
            outcomes, weights = pattern.replicates(np.random.default_rng(seed))
            ratios = pattern.ratios(outcomes)
            found.append((ratios[0], ratios, weights / weights.sum()))
        return cls(*(np.array(each) for each in zip(*found, strict=True)))

    def beyond(self, ratio: float) -> np.ndarray:
        """Compute the probability of at least such a ratio in each test."""
        return np.asarray(np.where(self.ratios >= ratio, self.weights, 0).sum(axis=1))

    @property
    def alone(self) -> np.ndarray:
        """The p value of each test by itself."""
        reached = self.ratios >= self.observed[:, None]
        return np.asarray(np.minimum(np.where(reached, self.weights, 0).sum(axis=1), 1))

    @property
    def together(self) -> np.ndarray:
        """The expected number of such ratios in all tests, at most 1."""
        found = [self.beyond(ratio).sum() for ratio in self.observed]
        return np.minimum(found, 1)
