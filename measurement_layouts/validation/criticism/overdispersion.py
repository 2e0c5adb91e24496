"""Tests of whether repeated attempts at an item are more alike than a layout allows.

Under a layout without an `Unseen` property, attempts at an item are independent given the profile.
If each item has an effect that the layout does not contain, they are dependent: successes vary more
over items than binomial counts do, and intervals are too short.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm, skew

from ...common.digits import beside
from ...common.messages import many, some
from ...layouts import Layout
from .expansion import Expansion, holm, tail

TOGETHER = "(all together)"
"""Name of the row for all subjects' counts together."""

ALIKE = "repeated attempts at an item are more alike than the layout allows"

_COLUMNS = ["subject", "items", "attempts", "statistic", "p", "p_adjusted", "flagged", "item_sd"]
_COLUMNS += ["low", "high", "element", "inflation", "holds"]
_REPLICATES = 1000  # number of replicated data sets
_DRAWN = 2**21  # most replicated outcomes in memory at a time
_ROUNDS = 2  # steps of Newton's method for each replicate
# standard deviations of item effects, in log-odds
_SDS = np.array([0, 0.15, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 4.5])
_FINE = np.linspace(0, _SDS[-1], 451)
_LEAST_SKEW = 0.1  # least skewness of the null distribution
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_ROOTS = np.sqrt(_WEIGHTS / _WEIGHTS.sum())


@dataclass(frozen=True, eq=False)
class Spread:
    """Variation of one subject's successes over items that it attempted several times.

    Attributes
    ----------
    items, attempts : int
        Number of such items, and of the attempts at them.
    statistic : float
        Test statistic; see `Repeated`.
    replicated : ndarray, shape (replicates,)
        Statistics of outcomes drawn from the expected distribution.
    excess : ndarray, shape (sds,)
        Expected increase of the statistic by the standard deviation of the item effects.
    error : ndarray, shape (sds,)
        Standard deviation of the statistic.
    inflation : ndarray, shape (sds, elements)
        Squared error of posterior means over posterior variance.
    """

    items: int
    attempts: int
    statistic: float
    replicated: np.ndarray
    excess: np.ndarray
    error: np.ndarray
    inflation: np.ndarray

    def row(self, names: Sequence[str], prob: float) -> dict[str, Any]:
        """Test the statistic, and estimate the effect of item effects on intervals."""
        p = tail(self.statistic, self.replicated, max(float(skew(self.replicated)), _LEAST_SKEW))
        found = self.statistic - float(self.replicated.mean())
        excess = np.interp(_FINE, _SDS, np.sqrt(np.maximum(self.excess, 0))) ** 2
        error = np.interp(_FINE, _SDS, self.error)
        error = np.sqrt(np.maximum(error**2 - error[0] ** 2, 0) + self.replicated.var())
        far = norm.ppf((1 + prob) / 2) * error
        sd, low, high = (_first(each, found) for each in (excess, excess + far, excess - far))
        told = {"items": self.items, "attempts": self.attempts, "statistic": self.statistic, "p": p}
        told |= {"item_sd": sd, "low": low, "high": high}
        return told | self.suffers(sd, names, prob)

    def suffers(self, sd: float, names: Sequence[str], prob: float) -> dict[str, Any]:
        """Find the element whose interval item effects affect most, and the interval's coverage."""
        every = [float(np.interp(sd, _SDS, column)) for column in self.inflation.T]
        worst = int(np.argmax(every))
        return {
            "element": names[worst],
            "inflation": every[worst],
            "holds": holds(every[worst], prob),
        }


@dataclass(frozen=True, eq=False)
class Repeated:
    r"""Outcomes of one subject, with the layout's expectation of them.

    The statistic is twice the derivative of the log-likelihood by the variance of a normal
    effect of each item on the log-odds, at variance 0:

    .. math:: S = \sum_g \left(\sum_{r \in g} (y_r - n_r p_r)\right)^2
        - \sum_r n_r p_r (1 - p_r)

    over groups g of rows r: items, or the steps of an item's outcome. Items attempted once are left
    out. The statistic is compared with its values for outcomes drawn from the expected
    distribution, where the layout's own elements and a constant are refitted to each data set by
    Newton's method.

    The size of the item effects is estimated from the difference between the statistic and its
    mean. The posterior mean of an element :math:`\theta` changes with an outcome by the posterior
    covariance with that row's log-odds, so the expected squared error is

    .. math:: V + \sum_g \mathrm{cov}(\theta, \eta_g)^\top \, (C_g - B_g)\, \mathrm{cov}(\theta,
        \eta_g)

    with the posterior variance V, the covariance C of the group's counts under item effects, and B
    that of binomial counts.

    Attributes
    ----------
    successes, trials : ndarray of int, shape (rows,)
        Outcomes of the rows that were attempted.
    groups : ndarray of int, shape (rows,)
        Group of each row.
    base : Expansion
        The layout's forecast, with the possible changes of its own elements.
    pulls : ndarray, shape (rows, elements)
        Posterior covariance of each profile element with each row's log-odds.
    variances : ndarray, shape (elements,)
        Posterior variances.

    References
    ----------
    Tarone, R. E. (1979), Testing the goodness of fit of the binomial distribution, Biometrika 66;
    Dean, C. B. (1992), Testing for overdispersion in Poisson and binomial regression models, JASA
    87, for the statistic. Giordano, R. and Broderick, T. (2023), The Bayesian infinitesimal
    jackknife for variance, arXiv:2305.06466, for the error of a posterior mean.
    """

    successes: np.ndarray
    trials: np.ndarray
    groups: np.ndarray
    base: Expansion
    pulls: np.ndarray
    variances: np.ndarray

    def spread(self, rng: np.random.Generator) -> Spread | None:
        """Compute the statistic and its expected values; None without two such items."""
        _, number = np.unique(self.groups, return_inverse=True)
        most = np.zeros(number.max(initial=-1) + 1, dtype=int)
        np.maximum.at(most, number, self.trials)
        several = most > 1
        if several.sum() < 2:
            return None
        order = np.argsort(number, kind="stable")
        rows = order[several[number[order]]]
        starts = np.flatnonzero(np.diff(number[rows], prepend=-1))
        statistic, replicated = self._statistics(rows, starts, rng)
        excess, error, inflation = zip(*(self._with(sd, rows, starts) for sd in _SDS), strict=True)
        return Spread(
            int(several.sum()),
            int(most[several].sum()),
            statistic,
            replicated,
            np.array(excess),
            np.array(error),
            np.array(inflation),
        )

    def _statistics(
        self, rows: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> tuple[float, np.ndarray]:
        """Compute the statistic, and those of outcomes drawn from the expected distribution."""
        base, trials = self.base, self.trials
        values, precision = base.columns.values, 1 / base.columns.sds**2

        def of(left: np.ndarray, chances: np.ndarray) -> np.ndarray:
            sums = np.add.reduceat(left[..., rows], starts, axis=-1)
            own = (trials * chances * (1 - chances))[..., rows]
            return np.asarray(np.square(sums).sum(axis=-1) - own.sum(axis=-1))

        def anew(count: int) -> np.ndarray:
            drawn = rng.binomial(trials, base.chances, (count, len(trials)))
            moved, chances, odds = np.zeros(values.shape[1]), base.chances, logit(base.chances)
            for _ in range(_ROUNDS):
                slope = (drawn - trials * chances) @ values
                slope -= precision * (base.coefficients + moved)
                moved = moved + slope @ base.covariance
                chances = expit(odds + moved @ values.T)
            return of(drawn - trials * chances, chances)

        parts = max(1, math.ceil(_REPLICATES * len(trials) / _DRAWN))
        sizes = np.diff(np.linspace(0, _REPLICATES, parts + 1).astype(int))
        statistic = of(self.successes - trials * base.chances, base.chances)
        return float(statistic), np.concatenate([anew(int(size)) for size in sizes])

    def _with(
        self, sd: float, rows: np.ndarray, starts: np.ndarray
    ) -> tuple[float, float, np.ndarray]:
        """Compute the consequences of item effects, centred at the layout's success probabilities.

        Returns
        -------
        excess, error : float
            Mean of the statistic, less the part that the base's columns absorb, and approximate
            standard deviation of the statistic.
        inflation : ndarray, shape (elements,)
            As in `Spread`.
        """
        base, trials, pulls = self.base, self.trials[rows], self.pulls[rows]
        middle, weights, values = base.chances[rows], base.weights[rows], base.columns.values[rows]
        curves = expit(logit(middle)[:, None] + sd * _NODES)
        mean = curves @ _ROOTS**2
        curves = (curves - mean[:, None]) * _ROOTS * trials[:, None]
        binomial = trials * (mean * (1 - mean) - middle * (1 - middle))
        # variance that attempts do not share
        alone = binomial - np.square(curves).sum(axis=1) / trials
        shift = trials * (mean - middle)

        def summed(of: np.ndarray) -> np.ndarray:
            return np.asarray(np.add.reduceat(of, starts, axis=0))

        together = summed(curves)
        variance = np.square(together).sum(axis=1) + summed(alone)
        moved = summed(values[:, :, None] * curves[:, None])
        taken = summed(weights[:, None] * values) @ base.covariance
        flat = moved.transpose(1, 0, 2).reshape(values.shape[1], -1)
        shared = flat @ flat.T + (values.T * alone) @ values
        own = ((taken[:, None] @ moved)[:, 0] * together).sum()
        own += (taken * summed(values * alone[:, None])).sum()
        excess = variance.sum() - 2 * own + ((taken @ shared) * taken).sum()
        excess += np.square(summed(shift) - taken @ (values.T @ shift)).sum()
        error = np.sqrt(2 * np.square(variance + summed(weights)).sum())
        pulled = np.square(summed(pulls[:, :, None] * curves[:, None])).sum(axis=(0, 2))
        pulled += alone @ np.square(pulls)
        return float(excess), float(error), 1 + np.maximum(pulled, 0) / self.variances


def _first(expected: np.ndarray, found: float) -> float:
    """Find the smallest standard deviation of item effects whose expected value is reached."""
    return float(_FINE[min(int((np.maximum.accumulate(expected) < found).sum()), len(_FINE) - 1)])


def holds(inflation: float, prob: float) -> float:
    """Compute the coverage of intervals whose squared error is inflated by a factor.

    Examples
    --------
    >>> round(holds(1.0, 0.9), 3), round(holds(2.5, 0.9), 3)
    (0.9, 0.702)
    """
    return float(2 * norm.cdf(norm.ppf((1 + prob) / 2) / np.sqrt(inflation)) - 1)


def overdispersion(
    found: Mapping[str, Spread | None], names: Sequence[str], prob: float, alpha: float
) -> pd.DataFrame:
    """Test every subject, and all together, with Holm's adjustment.

    Parameters
    ----------
    found : mapping of str to Spread or None
        Results by subject.
    names : sequence of str
        Names of the profile elements.
    prob : float
        Mass of the intervals.
    alpha : float
        Probability of any false alarm.

    Returns
    -------
    DataFrame
        One row per subject with at least two items that it attempted several times and, if there
        are several such subjects, a last row for all together.

        - ``items``, ``attempts``: number of such items, and of the attempts at them.
        - ``statistic``, ``p``, ``p_adjusted``: the test that attempts are independent, see
          `Repeated`, alone and adjusted for all rows; ``flagged``: whether the last is at most
          `alpha`.
        - ``item_sd``, ``low``, ``high``: standard deviation of item effects, in log-odds, with an
          approximate interval.
        - ``element``: the element whose interval they affect most; ``inflation``: its squared error
          over the posterior variance; ``holds``: the interval's coverage, instead of `prob`. In the
          row for all together, means over subjects.
    """
    tested = {who: spread for who, spread in found.items() if spread is not None}
    rows = [{"subject": who} | spread.row(names, prob) for who, spread in tested.items()]
    if len(rows) > 1:
        rows.append({"subject": TOGETHER} | _pooled(list(tested.values()), names, prob))
    made = pd.DataFrame(rows).reindex(columns=_COLUMNS)
    made["p_adjusted"] = holm(made["p"].to_numpy(dtype=float))
    made["flagged"] = made["p_adjusted"] <= alpha
    return made


def _pooled(every: list[Spread], names: Sequence[str], prob: float) -> dict[str, Any]:
    """Test all subjects' counts together, assuming item effects of equal size."""
    sums = {
        name: sum(getattr(each, name) for each in every)
        for name in ("items", "attempts", "statistic", "replicated", "excess")
    }
    error = np.sqrt(np.sum([each.error**2 for each in every], axis=0))
    row = Spread(**sums, error=error, inflation=every[0].inflation).row(names, prob)
    own = pd.DataFrame([each.suffers(row["item_sd"], names, prob) for each in every])
    means = {name: float(own[name].mean()) for name in ("inflation", "holds")}
    return row | means | {"element": own["element"].mode()[0]}


def count_flagged(table: pd.DataFrame) -> str:
    """Count the subjects of a table whose attempts are too similar, separately or together."""
    own = table[table["subject"] != TOGETHER]
    together = ", and all together" if len(own) < len(table) and table["flagged"].iloc[-1] else ""
    return f"{int(own['flagged'].sum())} of {many(len(own), 'subject')}{together}"


def told(table: pd.DataFrame, prob: float, layout: Layout) -> list[str]:
    """Describe attempts that are too similar, the effect on intervals, and a remedy.

    Parameters
    ----------
    table : DataFrame
        Table as returned by `overdispersion`.
    prob : float
        Mass of the intervals.
    layout : Layout
        The layout with which the counts were compared.

    Returns
    -------
    list of str
        Sentences; empty if nothing is flagged.
    """
    flagged = table[table["flagged"]]
    if flagged.empty:
        return []
    names = some(name for name in flagged["subject"] if name != TOGETHER)
    rows = flagged.to_dict("records")
    row = rows[-1] if rows[-1]["subject"] == TOGETHER else min(rows, key=lambda row: row["p"])
    whose = f" of {row['subject']}" if row["subject"] != TOGETHER and len(table) > 1 else ""
    return [
        f"{ALIKE} ({count_flagged(table)}{': ' * bool(names)}{names}), as if each item{whose} had "
        f"an effect of its own of {part(row)} log-odds, or a property that the layout misses: "
        f"{harm(row, prob)}; {remedy(layout)}"
    ]


def part(row: Mapping[Any, Any]) -> str:
    """Write the standard deviation of item effects with its interval."""
    low, high = float(row["low"]), float(row["high"])
    digits = min(max(0, beside((high - low) / 2)), 1)
    most = f"{high:.{digits}f}" if high < _SDS[-1] else "more"
    return f"{row['item_sd']:.{digits}f} [{low:.{digits}f}, {most}]"


def harm(row: Mapping[Any, Any], prob: float) -> str:
    """Describe the effect on intervals by the coverage for the most affected element.

    Examples
    --------
    >>> harm({"holds": 0.687, "element": "skill"}, 0.9)
    'the 90% intervals are too short and contain the value in about 70% of cases (skill)'
    """
    told = f"contain the value in about {share(row, prob)} of cases ({row['element']})"
    return f"the {prob:.0%} intervals are too short and {told}"


def share(row: Mapping[Any, Any], prob: float) -> str:
    """Write the coverage of intervals, rounded more coarsely the farther it is from `prob`."""
    found = float(row["holds"])
    step = 0.05 if prob - found > 0.1 else 0.01
    return f"{step * round(found / step):.0%}"


def remedy(layout: Layout) -> str:
    """Describe the remedy: add item effects to the layout, or keep one attempt at each item."""
    once = "keep one attempt at each item"
    if layout.steps is not None:
        return once
    spread, whose = "Slope", "each item an effect of its own"
    if layout.joint:
        spread, whose = "Spread", "each subject an effect of its own on each item"
    return (
        f'add Unseen("itemEffect", 0, {spread}("itemSpread")) to the margin of the layout, which '
        f"gives {whose}, or {once}"
    )
