"""Posteriors of rates given counts, from hierarchical beta-binomial models, by integration."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside, whole
from ..evaluations.tables import need_columns, read_numbers
from .hyperposterior import GroupRates, hyperposterior

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
    values = _read(counts, by)
    groups = []
    for name in by.unique():
        rows = np.flatnonzero(by == name)
        different, which, times = np.unique(
            values[rows], axis=0, return_inverse=True, return_counts=True
        )
        hyper = hyperposterior(different, times)
        groups.append(GroupRates(str(name), rows, different, which, hyper))
    return RatePosteriors(counts.index, tuple(groups))


def _read(counts: pd.DataFrame, by: pd.Series) -> np.ndarray:
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
