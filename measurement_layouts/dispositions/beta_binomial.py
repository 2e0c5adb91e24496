"""Posteriors of rates given counts, from hierarchical beta-binomial models, by integration."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import elementwise
from scipy.special import betainc, digamma, gammaln, log_expit, polygamma

from ..common.errors import DataError
from ..common.given import refuse_other
from ..common.messages import some
from ..common.options import inside, whole
from ..evaluations.tables import need_columns, need_frame, read_numbers

_REACH = 20.0  # range of logit mu and log k: the prior has 2e-9 of its mass beyond each end
_NEGLIGIBLE = 16.0  # depth of the log-density below its maximum at which mass is ignored
_SIDES = (13, 25, 49, 97, 193)  # points per axis
_COARSE = 41  # points per axis while the range is narrowed
_STEPS = 40  # largest number of steps in which the range is narrowed; about five are usual
_SETTLED = 1e-5  # largest change of the rates' means and standard deviations at the end


@dataclass(frozen=True, eq=False)
class Hyperposterior:
    """Weighted points of a group's mean rate and concentration.

    Attributes
    ----------
    logit_mu, log_k : ndarray, shape (points,)
        Log-odds of the mean rate mu; logarithm of the concentration k.
    weight : ndarray, shape (points,)
        Posterior mass of the points; its sum is 1.
    """

    logit_mu: np.ndarray
    log_k: np.ndarray
    weight: np.ndarray

    @property
    def alpha(self) -> np.ndarray:
        """First parameter of the beta distribution: mu k."""
        return np.asarray(np.exp(self.log_k + log_expit(self.logit_mu)))

    @property
    def beta(self) -> np.ndarray:
        """Second parameter of the beta distribution: (1 - mu) k."""
        return np.asarray(np.exp(self.log_k + log_expit(-self.logit_mu)))

    def moments(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute means and standard deviations of rates with these counts.

        Parameters
        ----------
        counts : ndarray, shape (rows, 2)
            Positive and negative counts.

        Returns
        -------
        mean, sd : ndarray, shape (rows,)
            Mean and standard deviation of each rate, in [0, 1].
        """
        first = counts[:, :1] + self.alpha
        total = first + counts[:, 1:] + self.beta
        mean = first / total
        second = mean * (first + 1) / (total + 1)
        expected = mean @ self.weight
        return expected, np.sqrt(np.maximum(second @ self.weight - expected**2, 0))


def hyperposterior(counts: np.ndarray, times: np.ndarray) -> Hyperposterior:
    r"""Integrate over a grid that is narrowed to the posterior and refined until results settle.

    .. math:: p(\mu, k \mid a, b) \propto \frac{1}{(1 + k)^2} \prod_s
        \frac{B(\mu k + a_s, (1 - \mu) k + b_s)}{B(\mu k, (1 - \mu) k)}

    The grid is even in logit mu and log k. For a smooth density that vanishes at the edges, the
    error of such a sum is much smaller than its step.

    Parameters
    ----------
    counts : ndarray, shape (rows, 2)
        Distinct pairs of positive and negative counts, not below 0.
    times : ndarray, shape (rows,)
        Number of times that each pair occurs.

    Returns
    -------
    Hyperposterior
        Weighted points; those without mass are left out.

    Examples
    --------
    >>> found = hyperposterior(np.array([[2.0, 8.0], [5.0, 5.0]]), np.array([40, 40]))
    >>> mean, sd = found.moments(np.array([[2.0, 8.0]]))
    >>> mean.round(2)
    array([0.33])
    """
    box = _close_in(counts, times)
    found = _weighted(counts, times, box, _SIDES[0])
    before = np.array(found.moments(counts))
    for side in _SIDES[1:]:
        found = _weighted(counts, times, box, side)
        now = np.array(found.moments(counts))
        if np.abs(now - before).max() < _SETTLED:
            break
        before = now
    return found


def _close_in(counts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Find the ranges of logit mu and log k in which the density has mass.

    A coarse grid may place the maximum too far to one side, so that the box may also grow and move.
    """
    box = np.array([[-_REACH, _REACH], [-_REACH, _REACH]])
    for _ in range(_STEPS):
        axes = [np.linspace(ends[0], ends[1], _COARSE) for ends in box]
        places = np.stack(np.meshgrid(*axes, indexing="ij"))
        density = _log_density(counts, times, *places)
        inside = places[:, density > density.max() - _NEGLIGIBLE]
        ends = np.column_stack([inside.min(axis=1), inside.max(axis=1)])
        width = np.diff(box)
        room = np.where(np.isclose(ends, box) & (np.abs(box) < _REACH), width / 4, width / _COARSE)
        new = (ends + room * [-1, 1]).clip(-_REACH, _REACH)
        settled = (np.diff(new) > 0.8 * width).all() and (np.diff(new) < 1.2 * width).all()
        box = new
        if settled:
            break
    return box


def _weighted(counts: np.ndarray, times: np.ndarray, box: np.ndarray, side: int) -> Hyperposterior:
    """Compute the weights of an even grid over the box; points without mass are left out."""
    axes = [np.linspace(ends[0], ends[1], side) for ends in box]
    logit_mu, log_k = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    density = _log_density(counts, times, logit_mu, log_k)
    density -= density.max()
    kept = density > -_NEGLIGIBLE
    weight = np.exp(density[kept])
    return Hyperposterior(logit_mu[kept], log_k[kept], weight / weight.sum())


def _log_density(
    counts: np.ndarray, times: np.ndarray, logit_mu: np.ndarray, log_k: np.ndarray
) -> np.ndarray:
    """Compute the log-density per unit of logit mu and log k, up to a constant."""
    total = np.exp(log_k)
    mu, rest = log_expit(logit_mu), log_expit(-logit_mu)
    density = mu + rest + log_k - 2 * np.log1p(total)
    density += _rising(np.exp(log_k + mu), counts[:, 0], times)
    density += _rising(np.exp(log_k + rest), counts[:, 1], times)
    return np.asarray(density - _rising(total, counts.sum(axis=1), times))


def _rising(start: np.ndarray, counts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Sum the logarithms of gamma(start + count) / gamma(start)."""
    different, which = np.unique(counts, return_inverse=True)
    often = np.bincount(which, times)
    rise = gammaln(start[..., None] + different) - gammaln(start)[..., None]
    return np.asarray(rise @ often)


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates that inform each other.

    Attributes
    ----------
    name : str
        Name of the group.
    rows : ndarray of int, shape (rows,)
        Positions of its rows among all.
    counts : ndarray, shape (pairs, 2)
        Distinct pairs of positive and negative counts.
    which : ndarray of int, shape (rows,)
        Pair of each row.
    hyper : Hyperposterior
        Posterior of the group's mean rate and concentration.
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
        """Compute mean and standard deviation of log-odds, by pair; NaN where they do not exist.

        With a count of 0 the log-odds have a variance only if at least two rows are evidence that
        rates differ from 0 and 1.
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
        """Compute the probabilities of 0 to `trials` positive ones among new choices, by pair."""
        steps, numbers = np.arange(trials), np.arange(trials + 1)
        rises = [
            np.log(start[..., None] + steps).cumsum(axis=-1)
            for start in (self.first, self.second, self.first + self.second)
        ]
        rises = [np.insert(rise, 0, 0, axis=-1) for rise in rises]
        ways = gammaln(trials + 1) - gammaln(numbers + 1) - gammaln(trials - numbers + 1)
        chances = np.exp(ways + rises[0] + rises[1][..., ::-1] - rises[2][..., -1:])
        return np.asarray(np.einsum("ipn,p->in", chances, self.hyper.weight))


_COUNTS = ["positive", "negative"]


@dataclass(frozen=True, eq=False)
class RatePosteriors:
    r"""Posteriors of the rates behind positive and negative counts.

    .. math:: a_s \sim \mathrm{Binomial}(a_s + b_s, p_s), \quad
        p_s \sim \mathrm{Beta}(\mu k, (1 - \mu) k), \quad \mu \sim \mathrm{Uniform}(0, 1), \quad
        p(k) = (1 + k)^{-2}

    Made by `rate_posteriors`. Given `mu` and `k`, the posterior of a rate is a beta distribution;
    overall it is a mixture of these, weighted by the posterior of `mu` and `k` given all rows of
    the group.

    Attributes
    ----------
    index : Index
        Names of the rows.
    groups : tuple of GroupRates
        Groups, in order of appearance.

    Examples
    --------
    Ten choices of each of two models, of which few were positive; the last model has none yet:

    >>> counts = pd.DataFrame({"positive": [1, 2, 0], "negative": [9, 8, 0]}, list("abc"))
    >>> rates = rate_posteriors(counts, pd.Series("haste", index=counts.index))
    >>> rates.summary().round(1)
       mean   sd  low  high
    a   0.1  0.1  0.0   0.3
    b   0.2  0.1  0.1   0.4
    c   0.3  0.3  0.0   0.9
    """

    index: pd.Index
    groups: tuple[GroupRates, ...]

    def summary(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise each rate.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the equal-tailed intervals, in (0, 1).

        Returns
        -------
        DataFrame
            By row: ``mean``, ``sd``, ``low`` and ``high`` of the rate, in [0, 1].

        Raises
        ------
        FitError
            When `prob` is out of range.
        """
        tail = (1 - inside("prob", prob, such_as=0.9)) / 2
        columns = ["mean", "sd", "low", "high"]
        found = self._by_row(
            lambda group: (
                *group.hyper.moments(group.counts),
                group.quantile(tail),
                group.quantile(1 - tail),
            ),
            len(columns),
        )
        return pd.DataFrame(found, index=self.index, columns=columns)

    def logits(self) -> pd.DataFrame:
        r"""Compute mean and standard deviation of each rate's log-odds.

        .. math:: \mathrm{E} = \overline{\psi(\mu k + a) - \psi((1 - \mu) k + b)}, \qquad
            \mathrm{Var} = \overline{\psi_1(\mu k + a) + \psi_1((1 - \mu) k + b)} +
            \mathrm{Var}(\psi(\mu k + a) - \psi((1 - \mu) k + b))

        over the posterior of `mu` and `k` (law of total variance).

        Returns
        -------
        DataFrame
            By row: ``mean`` and ``sd``. They are NaN where they do not exist, which is when the row
            has no positive or no negative count and fewer than two rows of its group have both.
        """
        columns = ["mean", "sd"]
        found = self._by_row(lambda group: group.log_odds(), len(columns))
        return pd.DataFrame(found, index=self.index, columns=columns)

    def draws(self, draws: int = 1000, *, seed: int = 1) -> np.ndarray:
        """Draw from the joint posterior; the rows of a group share the draw of `mu` and `k`.

        Parameters
        ----------
        draws : int, default 1000
            Number of draws.
        seed : int, default 1
            Seed of the draws.

        Returns
        -------
        ndarray, shape (draws, rows)
            Rates in [0, 1].

        Raises
        ------
        FitError
            When a number is out of range.
        """
        found = np.empty((whole("draws", draws, least=1), len(self.index)))
        rng = np.random.default_rng(whole("seed", seed))
        for group in self.groups:
            found[:, group.rows] = group.draws(draws, rng)
        return found

    def predicted(self, trials: int) -> np.ndarray:
        """Compute the distribution of the number of positive ones among new choices of each row.

        Parameters
        ----------
        trials : int
            Number of new choices, at least 1.

        Returns
        -------
        ndarray, shape (rows, trials + 1)
            Probabilities of 0, 1, ... positive choices.

        Raises
        ------
        FitError
            When `trials` is out of range.
        """
        whole("trials", trials, least=1)
        return self._by_row(lambda group: group.predicted(trials).T, trials + 1)

    @property
    def hyperparameters(self) -> pd.DataFrame:
        """Mean and concentration of the rates of each group.

        Indexed by ``group``: the number of ``rows``, and the posterior mean and standard deviation
        of the mean rate (``mu``, ``mu_sd``) and of the concentration's natural logarithm
        (``log_k``, ``log_k_sd``). The larger `k` is, the more similar are the rates: the group's
        mean counts like `k` observations.
        """
        table = {}
        for group in self.groups:
            weight, log_k = group.hyper.weight, group.hyper.log_k
            mu = group.hyper.alpha / np.exp(log_k)
            spreads = (*_spread(mu, weight), *_spread(log_k, weight))
            table[group.name] = (len(group.rows), *spreads)
        columns = ["rows", "mu", "mu_sd", "log_k", "log_k_sd"]
        found = pd.DataFrame.from_dict(table, orient="index", columns=columns)
        return found.rename_axis("group")

    def _by_row(
        self, compute: Callable[[GroupRates], Iterable[np.ndarray]], columns: int
    ) -> np.ndarray:
        """Compute columns for the distinct counts of each group, and assign them to the rows."""
        found = np.empty((len(self.index), columns))
        for group in self.groups:
            found[group.rows] = np.column_stack(tuple(compute(group)))[group.which]
        return found


def rate_posteriors(counts: pd.DataFrame, by: pd.Series) -> RatePosteriors:
    """Infer rates from counts; the rates of a group inform each other.

    The model is that of `RatePosteriors`. The density of the concentration `k` makes k / (1 + k)
    uniform: the weight of the group's mean against a single observation. `mu` and `k` are
    integrated over a grid in (logit mu, log k), refined until the rates' means and standard
    deviations settle to 1e-5. Half votes enter as half counts.

    Parameters
    ----------
    counts : DataFrame
        By row: ``positive`` and ``negative``, finite and not below 0. The posterior of a row
        without counts is determined by the rest of its group.
    by : Series
        Name of each row's group, such as the trait; indexed like `counts`.

    Returns
    -------
    RatePosteriors
        Posteriors, with `summary`, `logits`, `draws`, `predicted` and `hyperparameters`.

    Raises
    ------
    DataError
        When a column is missing, a count is negative or not a number, there are no rows, or `by` is
        not indexed like `counts` or lacks a name.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, section 5.3.

    Examples
    --------
    >>> counts = pd.DataFrame({"positive": [10, 9, 10, 5], "negative": [0, 1, 0, 5]}, list("abcd"))
    >>> found = rate_posteriors(counts, pd.Series("empathy", index=counts.index))
    >>> found.summary(prob=0.9).round(2)
       mean    sd   low  high
    a  0.97  0.05  0.85  1.00
    b  0.88  0.09  0.71  0.99
    c  0.97  0.05  0.85  1.00
    d  0.55  0.15  0.30  0.79
    >>> found.draws(200, seed=1).shape
    (200, 4)
    """
    values = read_counts(counts, by)
    groups = []
    for name in by.unique():
        rows = np.flatnonzero(by == name)
        different, which, times = np.unique(
            values[rows], axis=0, return_inverse=True, return_counts=True
        )
        hyper = hyperposterior(different, times)
        groups.append(GroupRates(str(name), rows, different, which, hyper))
    return RatePosteriors(counts.index, tuple(groups))


def read_counts(counts: pd.DataFrame, by: pd.Series) -> np.ndarray:
    """Read positive and negative counts, in rows that each have a group.

    Raises
    ------
    DataError
        When the counts are no such table, or a row has no group or no counts.
    """
    need_frame(counts, "counts")
    refuse_other("by", by, pd.Series, "a Series", "give each row of counts its group")
    need_columns(counts.columns, _COUNTS, "the table of counts has")
    if counts.empty:
        raise DataError("the table of counts has no rows; give at least one")
    if not counts.index.equals(by.index) or by.isna().any():
        raise DataError(
            f"by= has {len(by)} rows, {by.isna().sum()} without a name, for {len(counts)} of "
            "counts; give each row of counts its group, in a Series with the same index"
        )
    values, _ = read_numbers(counts[_COUNTS])
    bad = ~(np.isfinite(values) & (values >= 0)).all(axis=1)
    if bad.any():
        raise DataError(
            f"counts of {some(counts.index[bad])} are negative, missing or not numbers; give "
            "positive and negative counts of at least 0"
        )
    return values


def _spread(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Compute the weighted mean and standard deviation."""
    mean = values @ weight
    return float(mean), float(np.sqrt((values - mean) ** 2 @ weight))
