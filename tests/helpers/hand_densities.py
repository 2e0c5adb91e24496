"""Whole log-densities by hand: priors on the real line, chances of success, and Binomial outcomes.

No formula here or in the layouts' files comes from the package, from PyMC or from SciPy. Points are
rows: a latent has the shape (points, 1), or (points, 1, labels); a property of the items (items,),
or (items, labels). All is computed in extended precision, so that what the engine's double
precision loses shows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Long = np.longdouble
EDGE, FAR_EDGE = 1e-12, 1 - 1e-12  # the promise, with the rounding that 1 - 1e-12 has in doubles
LOG_ROOT_2PI = np.log(2 * Long("3.14159265358979323846264338327950288")) / 2


def log_sigma(x):
    """Logarithm of the logistic function."""
    return -np.logaddexp(Long(0), -x)


def sigma(x):
    return np.exp(log_sigma(x))


def mu(ability, flag):
    """An ability where its obstacle is, and 1 where it is not."""
    return 1 - (1 - ability) * flag


def log_normal(x, mean, spread):
    """Log-density of a normal variable."""
    return -(((x - mean) / spread) ** 2) / 2 - np.log(spread) - LOG_ROOT_2PI


def parameter(of, profile, z):
    """Take a number, or another latent's value where z has labels and it may not."""
    value = profile[of] if isinstance(of, str) else Long(of)
    return value[..., None] if np.ndim(value) == 2 < z.ndim else value


@dataclass(frozen=True)
class Line:
    """A normal latent, on the real line as it is; its parameters may be other latents."""

    mean: float | str = 0.0
    spread: float | str = 1.0

    def read(self, z, profile):
        mean, spread = (parameter(of, profile, z) for of in (self.mean, self.spread))
        return z, log_normal(z, mean, spread)


@dataclass(frozen=True)
class Deviation:
    """A normal latent; z is how many of its spreads it lies above its mean."""

    mean: str
    spread: str

    def read(self, z, profile):
        mean, spread = (parameter(of, profile, z) for of in (self.mean, self.spread))
        return mean + spread * z, log_normal(z, 0, Long(1))


@dataclass(frozen=True)
class Positive:
    """A half-normal latent; z is its logarithm. Its scale may be another latent."""

    spread: float | str

    def read(self, z, profile):
        x = np.exp(z)
        return x, np.log(Long(2)) + log_normal(x, 0, parameter(self.spread, profile, z)) + z


@dataclass(frozen=True)
class LogNormal:
    """A latent whose logarithm is normal; z is that logarithm."""

    mean: float
    spread: float

    def read(self, z, profile):
        return np.exp(z), log_normal(z, Long(self.mean), Long(self.spread))


@dataclass(frozen=True)
class Between:
    """A uniform latent; z is the log-odds of its place in the range, whose width cancels."""

    low: float
    high: float

    def read(self, z, profile):
        low, high = Long(self.low), Long(self.high)
        return low + (high - low) * sigma(z), log_sigma(z) + log_sigma(-z)


@dataclass(frozen=True)
class Share:
    """A latent with a beta prior of whole numbers; z is its log-odds."""

    a: int
    b: int

    def read(self, z, profile):
        whole = math.factorial
        beta = Long(whole(self.a - 1) * whole(self.b - 1)) / Long(whole(self.a + self.b - 1))
        return sigma(z), self.a * log_sigma(z) + self.b * log_sigma(-z) - np.log(beta)

    def unlikely(self, x):
        """One over the distance to 1 whose logarithm is taken after rounding x."""
        return (self.b - 1) / (1 - x)


@dataclass(frozen=True)
class Shown:
    """A normal latent about 0 between 0 and 2.5 of its spreads; z as in `Between`.

    PyMC takes a root of 2 in single precision: its logarithm of the mass is 4e-10 too large.
    """

    high: float

    def read(self, z, profile):
        spread, x = Long(self.high / 2.5), self.high * sigma(z)
        mass = Long(math.erf(2.5 / math.sqrt(2)) / 2)
        moved = np.log(Long(self.high)) + log_sigma(z) + log_sigma(-z)
        return x, log_normal(x, 0, spread) - np.log(mass) + moved


def kept_off(p):
    """Keep a probability 1e-12 from 0 and 1."""
    return np.clip(p, EDGE, FAR_EDGE)


def ways(outcomes):
    """Logarithm of the binomial coefficient of each item."""
    counts = zip(outcomes.successes.tolist(), outcomes.trials.tolist(), strict=True)
    return np.array([np.log(Long(math.comb(n, won))) for won, n in counts])


def of_trials(p, outcomes):
    """Log-likelihood by item of independent trials with the same chance of success."""
    p = kept_off(p)
    won, lost = outcomes.successes, outcomes.trials - outcomes.successes
    return ways(outcomes) + won * np.log(p) + lost * np.log1p(-p)


def unlikely(p, outcomes):
    """Say how unlikely the rarer of an item's outcomes is, as one over its chance.

    A chance is made of sums and products of numbers up to 1, and each of these is rounded. Of a
    success that is next to impossible the logarithm of p takes that in proportion to p, and of a
    failure in proportion to 1 - p. Beyond the guard nothing is rounded.
    """
    won, lost = outcomes.successes > 0, outcomes.trials > outcomes.successes
    inside = (p > 0.9 * EDGE) & (1 - p > 0.9 * EDGE)
    return inside * np.maximum(won / kept_off(p), lost / (1 - kept_off(p)))


@dataclass(frozen=True)
class Hand:
    """A layout's log-density by hand.

    Attributes
    ----------
    latents : dict
        Prior and transformation by latent, in an order in which parameters come first.
    success : callable
        From profile, items and the mean failure, the chance of success, (points, items).
    labels : dict of str to int
        How many values the labelled latents have.
    likelihood, unlikely : callable
        From that and the outcomes, log-probabilities and how unlikely they are, (points, items).
    constant : float
        How far PyMC's constant may be off.
    """

    latents: dict[str, object]
    success: Callable
    labels: dict[str, int] = field(default_factory=dict)
    likelihood: Callable = of_trials
    unlikely: Callable = unlikely
    constant: float = 0.0

    def parts(self, order, points, items, outcomes):
        """Give the log-densities of the prior and of each item, (points, 1 + items).

        And how unlikely they are, as one over what is rounded beside 1. Points have columns: the
        latents in an order.
        """
        profile, prior, beside = {}, 0, 0
        columns = self.columns(order, np.asarray(points, dtype=Long))
        items = {name: values.astype(Long) for name, values in items.items()}
        for name, latent in self.latents.items():
            profile[name], log_prior = latent.read(columns[name], profile)
            prior = prior + log_prior.reshape(len(points), -1).sum(axis=-1)
            if hasattr(latent, "unlikely"):
                beside = beside + latent.unlikely(profile[name]).reshape(len(points), -1).sum(-1)
        chance = self.success(profile, items, outcomes.failure)
        found = self.likelihood(chance, outcomes)
        unlikely = outcomes.trials * self.unlikely(chance, outcomes)
        beside = np.broadcast_to(beside, prior.shape)
        return np.column_stack([prior, found]), np.column_stack([beside, unlikely])

    def columns(self, order, points):
        """Cut points into latents."""
        assert set(order) == set(self.latents), (order, list(self.latents))
        found, start = {}, 0
        for name in order:
            count = self.labels.get(name)
            part = points[:, start : start + (count or 1)]
            found[name] = part if count is None else part[:, None, :]
            start += count or 1
        assert start == points.shape[1]
        return found


@dataclass(frozen=True)
class Outcomes:
    """Counts by item, and one minus their mean, which the published noise pulls to."""

    successes: np.ndarray
    trials: np.ndarray

    @property
    def failure(self):
        return float(1 - self.successes.sum() / self.trials.sum())
