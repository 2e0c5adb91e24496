"""The most likely profile of each subject, found without a sampler."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlog1py, xlogy
from threadpoolctl import threadpool_limits

from ...batteries.information.sensitivity import Sensitivity
from ...common.seeds import subject_seed
from ...evaluations.subject_data import EDGE
from ...inference.model.alignment import Features
from ...layouts import Layout
from ...layouts.elements import elements
from ..criticism.expansion import Columns, constant, expand, log_odds
from ..criticism.overdispersion import Repeated, Spread

_DRAWS = 200  # draws from the prior, among which the start of each optimisation is chosen
_MOST = 50  # most subjects that are tested
_ROWS = 2**18  # most rows of all tested subjects together
_TOGETHER = 2**21  # most derivatives in memory at a time
_STEPS = 30  # most steps of each optimisation
_SETTLED = 1e-3  # gain of a step, in nats, below which an optimisation ends
_FIRST, _LAST, _CHANGE = 1e-2, 1e4, 8.0  # damping, relative to the information
_LOOSE = 10.0  # prior sd of further changes of the elements, in posterior sd


@dataclass(frozen=True, eq=False)
class Counts:
    """Outcomes of subjects on rows.

    Attributes
    ----------
    subjects : list of str
        Names of the subjects.
    successes, trials : ndarray of int, shape (subjects, rows)
        Outcomes of the subjects.
    groups : ndarray of int, shape (rows,)
        Item, or outcome of an item, that each row belongs to.
    """

    subjects: list[str]
    successes: np.ndarray
    trials: np.ndarray
    groups: np.ndarray

    def take(self, places: np.ndarray) -> "Counts":
        """Keep some subjects."""
        who = [self.subjects[place] for place in places]
        return Counts(who, self.successes[places], self.trials[places], self.groups)


def spreads(
    layout: Layout, features: Features, counts: Counts, *, seed: int
) -> dict[str, Spread | None]:
    """Estimate how subjects' successes vary over items that they attempted several times.

    Parameters
    ----------
    layout : Layout
        The layout.
    features : dict of str to ndarray
        Values by meta-feature, including hidden ones, of shape (rows,) or (rows, labels).
    counts : Counts
        Outcomes of the subjects.
    seed : int
        Seed of the draws from the prior, and of outcomes drawn anew.

    Returns
    -------
    dict of str to Spread or None
        By subject with repeated attempts; of at most 50 subjects, evenly chosen (fewer with over
        5,000 rows). Empty where attempts share an `Unseen` property.
    """
    repeating = np.flatnonzero((counts.trials > 1).any(axis=1))
    if layout.several.outcome.unseen is not None or not len(repeating):
        return {}
    most = min(_MOST, max(1, _ROWS // counts.trials.shape[1]), len(repeating))
    chosen = np.linspace(0, len(repeating) - 1, most).round().astype(int)
    own = counts.take(repeating[chosen])
    source = Sensitivity.of(layout, features, counts.trials.shape[1], _DRAWS, seed)
    with threadpool_limits(1, user_api="blas"):  # threads do not speed up small matrices
        return {
            who: each.spread(np.random.default_rng(subject_seed(seed, who)))
            for who, each in zip(own.subjects, repeated(source, own), strict=True)
        }


def repeated(source: Sensitivity, counts: Counts) -> Iterator[Repeated]:
    """Compare each subject's outcomes with its most likely profile.

    The log-posterior, with a normal prior of the layout's means and variances, is maximised by
    damped Fisher scoring from the most likely of the draws from the prior, for many subjects at
    once. The profile's covariance is the inverse of the sum of information and prior precision at
    the maximum.

    Parameters
    ----------
    source : Sensitivity
        Layout, rows and draws from the layout's prior.
    counts : Counts
        Outcomes of the subjects on these rows.

    Yields
    ------
    Repeated
        One subject after the other, each with the rows that it attempted.
    """
    size = source.block.count * len(source.spread)
    together = max(1, _TOGETHER // size)
    for start in range(0, len(counts.trials), together):
        stop = min(start + together, len(counts.trials))
        yield from _some(source, counts.take(np.arange(start, stop)))


def _some(source: Sensitivity, counts: Counts) -> Iterator[Repeated]:
    alike, trials = source.block.number, source.block.totals(counts.trials)
    climb = _Climb.of(source, source.block.totals(counts.successes), trials)
    chances, slopes = climb.at(climb.top())
    weights = trials * chances * (1 - chances)
    precisions = np.einsum("sr,srk,srl->skl", weights, slopes, slopes) + source.precision
    for row, covariance in enumerate(np.linalg.inv(precisions)):
        done = np.flatnonzero(counts.trials[row])
        tried, passed = counts.trials[row, done], counts.successes[row, done]
        slope, sd = slopes[row, alike[done]], np.sqrt(np.diag(covariance))
        free = constant(len(done)).beside(Columns.of(slope * sd, _LOOSE))
        base = expand(log_odds(chances[row, alike[done]]), passed, tried, free)
        yield Repeated(passed, tried, counts.groups[done], base, slope @ covariance, sd**2)


@dataclass(frozen=True, eq=False)
class _Climb:
    """Log-posteriors of subjects over the distinct rows of a layout."""

    source: Sensitivity
    successes: np.ndarray
    trials: np.ndarray
    low: np.ndarray
    high: np.ndarray
    failure: np.ndarray

    @classmethod
    def of(cls, source: Sensitivity, successes: np.ndarray, trials: np.ndarray) -> "_Climb":
        spans = [element.latent.range for element in elements(source.layout)]
        failure = 1 - successes.sum(axis=1) / trials.sum(axis=1)
        low, high = (np.array([getattr(span, end) for span in spans]) for end in ("low", "high"))
        return cls(source, successes, trials, low, high, failure)

    def top(self) -> np.ndarray:
        """Find the profiles that maximise the log-posterior; shape (subjects, elements)."""
        profiles = self._start()
        value = self._value(profiles)
        damping, rising = np.full(len(value), _FIRST), np.ones(len(value), dtype=bool)
        for _ in range(_STEPS):
            chances, slopes = self.at(profiles)
            weights = self.trials * chances * (1 - chances)
            left = self.successes - self.trials * chances
            slope = np.einsum("sr,srk->sk", left, slopes) - self._away(profiles)
            precision = (
                np.einsum("sr,srk,srl->skl", weights, slopes, slopes) + self.source.precision
            )
            precision *= 1 + damping[:, None, None] * np.eye(precision.shape[1])
            step = np.linalg.solve(precision, slope[..., None])[..., 0]
            tried = np.clip(profiles + step, self.low, self.high)
            gain = self._value(tried) - value
            better = rising & (gain > 0)
            profiles = np.where(better[:, None], tried, profiles)
            value = value + np.where(better, gain, 0.0)
            damping = np.where(better, damping / _CHANGE, damping * _CHANGE)
            rising &= np.where(better, gain > _SETTLED, damping < _LAST)
            if not rising.any():
                break
        return profiles

    def at(self, profiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the success probabilities of rows, and the slopes of their log-odds."""
        own = self._of(profiles)
        chances = self._chances(own)
        scaled = np.concatenate([found for _, found in own.slopes()])
        return chances, scaled / np.sqrt(chances * (1 - chances))[..., None]

    def _start(self) -> np.ndarray:
        """Find the draw from the prior that is most likely for each subject."""
        passed, lost = self.successes, self.trials - self.successes
        chances = self._chances(self.source)
        likely = passed @ np.log(chances).T + lost @ np.log1p(-chances).T
        return np.asarray(self.source.draws[likely.argmax(axis=1)])

    def _value(self, profiles: np.ndarray) -> np.ndarray:
        chances = self._chances(self._of(profiles))
        lost = self.trials - self.successes
        each = xlogy(self.successes, chances) + xlog1py(lost, -chances)
        far = (self._centred(profiles) * self._away(profiles)).sum(axis=1)
        return np.asarray(each.sum(axis=1) - far / 2)

    def _centred(self, profiles: np.ndarray) -> np.ndarray:
        return profiles - self.source.draws.mean(axis=0)

    def _away(self, profiles: np.ndarray) -> np.ndarray:
        return np.asarray(self._centred(profiles) @ self.source.precision)

    def _of(self, profiles: np.ndarray) -> Sensitivity:
        constants = {constant.name: self.failure for constant in self.source.layout.constants}
        return replace(self.source, draws=profiles, ordered_steps=[], constants=constants)

    def _chances(self, source: Sensitivity) -> np.ndarray:
        found = source.success(source.draws, slice(None))
        return np.asarray(np.clip(found, EDGE, 1 - EDGE))
