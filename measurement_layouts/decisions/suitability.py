"""Suitability of subjects for a job, which is given as a distribution of demands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from ..common.errors import DataError, FitError
from ..common.given import refuse_other
from ..common.messages import many, some
from ..common.options import inside, whole
from ..evaluations.tables import known_names, need_columns, read_numbers
from ..inference.fit import Fit
from ..inference.forecasts.support import defined_columns, features_of_items
from ..inference.given import refuse_no_fit
from ..validation.comparison import APART
from .chances import chances, read_items

_RESAMPLES = 200
_PROBABLE = 1e-6
_RENAMED = "job: "


@dataclass(frozen=True, eq=False, repr=False)
class Suitability:
    """Expected success of subjects on a job, their order, and the demands that limit them.

    It is made by `suitability`, which defines the numbers.

    Attributes
    ----------
    ranking : DataFrame
        Indexed by subject, the highest first: ``expected`` success with ``low`` and ``high``;
        expected ``rank``, ``best``, the probability of rank 1, and ``tied``, the number (from 1) of
        the set of subjects that are not distinguished.
    orders : DataFrame
        Probability that the subject of the row expects more success than that of the column.
    limits : DataFrame
        One row per subject and demand: ``subject``, ``demand``, ``easiest`` (the end of the
        training items' range, or the level among them, with the highest expected success), ``gain``
        in expected success if all items had this value, with ``low`` and ``high``, and ``first``,
        the probability that the gain is the largest of all demands.
    confidence : float
        Probability at which subjects are distinguished.
    prob : float
        Probability mass of the intervals.
    sampled : bool
        Whether the items are a sample of the job.
    joint : bool
        Whether the subjects have one joint posterior, whose draws are compared one by one.

    Examples
    --------
    >>> ranking = pd.DataFrame(
    ...     {"expected": [0.8, 0.6], "tied": [1, 2]}, index=pd.Index(["Ann", "Bob"]))
    >>> Suitability(ranking, pd.DataFrame(), pd.DataFrame(), 0.9, 0.9, True, joint=True)
    <Suitability: 2 subjects, all distinguished at 90%, Ann 0.80 first; items are a sample>
    """

    ranking: pd.DataFrame
    orders: pd.DataFrame
    limits: pd.DataFrame
    confidence: float
    prob: float
    sampled: bool
    joint: bool = False

    @property
    def tied(self) -> list[list[str]]:
        """Sets of subjects that are not distinguished, the best first."""
        sets = self.ranking.groupby("tied", sort=True)
        return [list(own.index) for _, own in sets]

    def __repr__(self) -> str:
        first = self.ranking.iloc[0]
        what = "are a sample" if self.sampled else "are the job"
        return (
            f"<Suitability: {self.in_words()}, {self.ranking.index[0]} "
            f"{first['expected']:.2f} first; items {what}{'' if self.joint else f'; {APART}'}>"
        )

    def in_words(self) -> str:
        """Describe which subjects are distinguished.

        Examples
        --------
        >>> ranking = pd.DataFrame({"tied": [1, 1, 2]}, index=pd.Index(["Ann", "Bob", "Cy"]))
        >>> found = Suitability(ranking, pd.DataFrame(), pd.DataFrame(), 0.9, 0.9, True)
        >>> found.in_words()
        '3 subjects in 2 sets that are distinguished at 90%'
        """
        sets, at = len(self.tied), f"distinguished at {self.confidence:.0%}"
        who = many(len(self.ranking), "subject")
        if len(self.ranking) == 1:
            return who
        if sets == 1:
            return f"{who}, none {at} from the first"
        return (
            f"{who}, all {at}"
            if sets == len(self.ranking)
            else f"{who} in {sets} sets that are {at}"
        )


def job(levels: Mapping[str, Mapping[float, float] | pd.Series]) -> pd.DataFrame:
    r"""Write a job as items, from the probability of each level of each demand.

    .. math:: w_i = \prod_d \Pr(\ell_{id})

    Demands are assumed to be independent of each other. When they are not, give `suitability` a
    table of items with their weights.

    Parameters
    ----------
    levels : mapping of str to mapping of number to number
        By demand, a column of the layout: the probability of each level; they add up to 1.

    Returns
    -------
    DataFrame
        One row per combination of levels, and a column ``weight``, its probability.

    Raises
    ------
    DataError
        When `levels` is something else, a demand has no level, or its probabilities are negative or
        do not add up to 1.

    Examples
    --------
    >>> job({"steps": {2: 0.5, 5: 0.5}, "size": {1: 0.9, 3: 0.1}})
                       steps  size  weight
    item
    steps 2, size 1      2.0   1.0    0.45
    steps 2, size 3      2.0   3.0    0.05
    steps 5, size 1      5.0   1.0    0.45
    steps 5, size 3      5.0   3.0    0.05
    """
    remedy = "give the probability of each level of each demand, as in {'steps': {2: 0.5, 5: 0.5}}"
    refuse_other("levels", levels, Mapping, "a mapping", remedy)
    if not levels:
        raise DataError("job: there is no demand; give at least one with its levels")
    known = {str(name): dict(own) for name, own in levels.items()}
    for name, own in known.items():
        shares = np.array(list(own.values()), dtype=float)
        wrong = not len(shares) or not np.isfinite(shares).all() or (shares < 0).any()
        if wrong or abs(shares.sum() - 1) > _PROBABLE:
            raise DataError(
                f"job: the probabilities of {name} are {some(own.values())}; give numbers from 0 "
                "that add up to 1"
            )
    rows = list(product(*(own.items() for own in known.values())))
    found = pd.DataFrame([[float(level) for level, _ in row] for row in rows], columns=list(known))
    found["weight"] = [float(np.prod([share for _, share in row])) for row in rows]
    told = [", ".join(f"{n} {x:g}" for n, (x, _) in zip(known, row, strict=True)) for row in rows]
    return found.set_axis(pd.Index(told, name="item"), axis=0)


def suitability(
    fit: Fit,
    items: pd.DataFrame,
    *,
    weights: str | None = None,
    sampled: bool = True,
    demands: Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    confidence: float = 0.9,
    prob: float = 0.9,
    seed: int = 1,
) -> Suitability:
    r"""Forecast each subject's success on a job, rank the subjects, and find their limits.

    .. math:: S_s = \sum_i w_i\, p_{si} \Big/ \sum_i w_i

    with the weights w of the items and a draw of the success probabilities p. When the items are a
    sample of the job, each draw has different weights, which are multiplied by independent
    Exponential(1) numbers (the Bayesian bootstrap). All subjects have the same resampled job, so
    that common variation does not affect their order. Two subjects are distinguished when the S of
    one is larger with the probability `confidence`. A tied set consists of a leader, the first
    subject that is in no earlier set, and all following subjects that are not distinguished from
    the leader.

    Parameters
    ----------
    fit : Fit
        Joint fit, or fit of subjects one by one.
    items : DataFrame
        Meta-features of the items of the job, such as those of a benchmark, or made by `job`.
    weights : str, optional
        Column of the items with their weights, numbers of at least 0 (default: equal weights).
    sampled : bool, default True
        Whether the items are a sample of the job, so that other items might have been drawn. Pass
        False if the items are the whole job, such as those made by `job`.
    demands : sequence of str, optional
        Columns to make easy, one at a time (default: all meta-features of the layout). Each needs
        two more forecasts of all items; ``[]`` omits them.
    subjects : iterable, optional
        Subjects to compare (default: all).
    confidence : float, default 0.9
        Probability at which subjects are distinguished, at least .5 and below 1.
    prob : float, default 0.9
        Mass of the intervals.
    seed : int
        Seed of the resampled jobs, and of the pairs of draws of subjects that were fitted apart.

    Returns
    -------
    Suitability
        Ranking, probabilities of order, tied sets and limiting demands.

    Raises
    ------
    DataError
        When the items do not fit the layout, a weight is negative, a demand is not a meta-feature
        of the layout, or outcomes have several steps.
    FitError
        When `fit` is something else, a subject is not in the fit, a number is out of range, or
        there are few draws.

    Notes
    -----
    Subjects are compared within each draw of a joint fit. Draws of subjects that were fitted apart
    are paired at random, among those with the same resampled job, and the result says so. A tied
    set is defined by its leader: two other subjects of the set may still be distinguished from each
    other.
    In a joint fit, the limits use effects of new items, and the ranking uses the items' own effects
    if they are in the fit.

    References
    ----------
    Rubin, D. B. (1981), The Bayesian bootstrap, Annals of Statistics 9; Goldstein, H. and
    Spiegelhalter, D. J. (1996), League tables and their limitations, Journal of the Royal
    Statistical Society A 159, for ranks with their uncertainty.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> steps = MetaFeature("steps", low=0, high=10)
    >>> layout = Layout("sums", Success("right", logistic(Capability("skill", 0, 10) - steps)))
    >>> items = pd.DataFrame({"steps": np.linspace(0, 10, 41)})
    >>> passed = [(items["steps"] < level).astype(int) for level in (6.9, 3, 7.2)]
    >>> outcomes = pd.DataFrame(passed, index=["Ann", "Bob", "Cy"])
    >>> found = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", seed=1)
    >>> suits = suitability(found, job({"steps": {4: 0.5, 6: 0.5}}), weights="weight",
    ...                     sampled=False)
    >>> suits.tied
    [['Cy', 'Ann'], ['Bob']]
    >>> suits.limits[["subject", "demand", "easiest"]]
      subject demand  easiest
    0     Ann  steps      0.0
    1     Bob  steps      0.0
    2      Cy  steps      0.0
    """
    refuse_no_fit(fit)
    confidence = inside("confidence", confidence, such_as=0.9)
    if confidence < 0.5:
        raise FitError(f"confidence={confidence}; give at least 0.5, and below 1")
    prob, seed = inside("prob", prob, such_as=0.9), whole("seed", seed)
    table = read_items(items, fit, "suitability")
    own = _weights(table, weights)
    who = fit.subjects if subjects is None else fit.named(subjects)
    rng = np.random.default_rng(seed)
    jobs = own[:, None] * (rng.exponential(size=(len(own), _RESAMPLES)) if sampled else 1.0)
    jobs = jobs / jobs.sum(axis=0)
    features = table.drop(columns=weights) if weights else table
    expected = np.array([_over(jobs, each) for each in chances(fit, features, who)])
    if not fit.layout.joint:
        expected = _shuffled(expected, jobs.shape[1], rng)
    limits = _limits(fit, features, jobs, _demands(fit, demands), who, prob)
    orders = (expected[:, None] > expected[None]).mean(axis=2)
    orders += (expected[:, None] == expected[None]).mean(axis=2) / 2
    place = np.argsort(-expected.mean(axis=1), kind="stable")
    ranked = _ranking(expected[place], orders[np.ix_(place, place)], confidence, prob)
    names = pd.Index(who, name="subject")
    return Suitability(
        ranked.set_axis(names[place], axis=0),
        pd.DataFrame(orders, names, who).iloc[place, place],
        limits,
        confidence,
        prob,
        sampled,
        fit.layout.joint,
    )


def _weights(table: pd.DataFrame, column: str | None) -> np.ndarray:
    """Read the weights of the items."""
    if column is None:
        return np.full(len(table), 1.0)
    need_columns(table.columns, [column], f"weights={column!r}: the items have")
    values, foreign = read_numbers(table[[column]])
    own = values[:, 0]
    if foreign.any() or not np.isfinite(own).all() or (own < 0).any() or not own.any():
        raise DataError(f"weights in {column}: give numbers from 0, of which some are above")
    return np.asarray(own)


def _demands(fit: Fit, names: Sequence[str] | None) -> list[str]:
    """Check the demands that are to be made easy."""
    known = [name for node in fit.layout.meta_features for name in node.columns]
    return known if names is None else known_names(names, pd.Index(known), "demand")


def _over(jobs: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Average probabilities (items, draws) over the items, each draw with the next of the jobs."""
    found = np.empty(own.shape[1])
    for number, each in enumerate(jobs.T):
        found[number :: jobs.shape[1]] = each @ own[:, number :: jobs.shape[1]]
    return found


def _shuffled(expected: np.ndarray, jobs: int, rng: np.random.Generator) -> np.ndarray:
    """Pair independent draws at random: each subject's are shuffled among those of one job."""
    found = expected.copy()
    for number in range(jobs):
        part = found[:, number::jobs]
        found[:, number::jobs] = rng.permuted(part, axis=1)
    return found


def _limits(
    fit: Fit,
    items: pd.DataFrame,
    jobs: np.ndarray,
    demands: Sequence[str],
    who: Sequence[str],
    prob: float,
) -> pd.DataFrame:
    """Compute the gain in expected success by making each demand easiest."""
    named = items.set_axis(_RENAMED + items.index.astype(str), axis=0)  # as new items, all alike
    base = [_over(jobs, each) for each in chances(fit, named, who)]
    gains: dict[str, list[tuple[str, float, np.ndarray]]] = {name: [] for name in who}
    for demand, values in _easy(fit, demands).items():
        found = [
            [_over(jobs, each) for each in chances(fit, named.assign(**{demand: value}), who)]
            for value in values
        ]
        for place, name in enumerate(who):
            best = int(np.argmax([own[place].mean() for own in found]))
            gains[name].append((demand, float(values[best]), found[best][place] - base[place]))
    tail = (1 - prob) / 2
    rows = []
    for name, own in gains.items():
        most = np.max([gain for *_, gain in own], axis=0) if own else None
        for demand, easiest, gain in sorted(own, key=lambda row: -row[2].mean()):
            low, high = np.quantile(gain, [tail, 1 - tail])
            first = float((gain >= most).mean())
            rows.append((name, demand, easiest, float(gain.mean()), low, high, first))
    names = ["subject", "demand", "easiest", "gain", "low", "high", "first"]
    return pd.DataFrame(rows, columns=names)


def _easy(fit: Fit, demands: Sequence[str]) -> dict[str, np.ndarray]:
    """List the values that may be easiest: ends of the training items, or their levels."""
    layout, known = fit.layout, features_of_items(fit)
    columns = [(name, node) for node in layout.meta_features for name in node.columns]
    count = len(next(iter(known.values()))) if known else 0
    found = {}
    for (name, node), values in zip(columns, defined_columns(layout, known, count).T, strict=True):
        there = np.unique(values[~np.isnan(values)])
        if name in demands and len(there):
            found[name] = there if node.levels is not None else there[[0, -1]]
    return found


def _ranking(
    expected: np.ndarray, orders: np.ndarray, confidence: float, prob: float
) -> pd.DataFrame:
    """Rank subjects, (subjects, draws), given in descending order of their means."""
    ranks = (-expected).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") + 1
    tail = (1 - prob) / 2
    low, high = np.quantile(expected, [tail, 1 - tail], axis=1)
    return pd.DataFrame(
        {
            "expected": expected.mean(axis=1),
            "low": low,
            "high": high,
            "rank": ranks.mean(axis=1),
            "best": (ranks == 1).mean(axis=1),
            "tied": tied_sets(orders, confidence),
        }
    )


def tied_sets(orders: np.ndarray, confidence: float) -> np.ndarray:
    """Find sets of subjects that are not distinguished from their leader, and number them.

    Parameters
    ----------
    orders : ndarray, shape (subjects, subjects)
        Probability that the value of the row's subject is larger, the best subject first.
    confidence : float
        Probability from which subjects are distinguished.

    Returns
    -------
    ndarray of int, shape (subjects,)
        Numbers of the sets, from 1. A set ends before the first subject that is distinguished from
        its leader, and that subject is the leader of the next set.

    Examples
    --------
    >>> tied_sets(np.array([[0.5, 0.7, 0.95], [0.3, 0.5, 0.8], [0.05, 0.2, 0.5]]), 0.9)
    array([1, 1, 2])
    """
    found = np.ones(len(orders), dtype=int)
    leader = 0
    for place in range(1, len(orders)):
        if orders[leader, place] >= confidence:
            leader = place
        found[place] = found[place - 1] + (leader == place)
    return found
