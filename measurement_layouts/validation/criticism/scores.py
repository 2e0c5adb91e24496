"""Score tests of effects that a layout lacks, with p values from replicated outcomes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize, root
from scipy.special import expit, log_expit, logit
from scipy.stats import binom, norm

from ...common.progress import track
from ...common.seeds import subject_seed
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import every_draw
from ...inference.posterior.posterior import some_draws

_MOST_NUMBERS = 2**25  # probabilities in memory (128 MiB)
_MOST_DRAWS, _FEWEST_DRAWS = 1000, 100
_MOST_SELECTED = 2**22  # probabilities of selected cells
_EDGE = 1e-6
_MEMORY_MIB = 8.0
_FREE = 0.02  # least share of an effect's information that the fit does not absorb
_EFFECT_SD = 5.0  # prior standard deviation of an effect, in log-odds
_REPLICATES = 2000  # first replicates of a statistic
_MOST_REPLICATES = 2**18
_COUNTED = 10  # replicates beyond a statistic for which its p value is precise enough
_BLOCK = 2**21  # replicated outcomes at a time
UNDISTINGUISHED = "cannot be told apart from what the layout uses"


@dataclass(frozen=True, eq=False)
class Cells:
    """Outcomes of some cells, with the probabilities of success in each posterior draw.

    Attributes
    ----------
    successes, trials : ndarray, shape (cells,)
        Outcomes.
    chances : ndarray, shape (cells, draws)
        Probabilities of success.
    """

    successes: np.ndarray
    trials: np.ndarray
    chances: np.ndarray

    @cached_property
    def expected(self) -> np.ndarray:
        """Expected numbers of successes, (cells, draws)."""
        return np.asarray(self.trials[:, None] * self.chances)

    @cached_property
    def residuals(self) -> np.ndarray:
        """Numbers of successes minus expected ones, (cells, draws)."""
        return np.asarray(self.successes[:, None] - self.expected)

    @cached_property
    def variances(self) -> np.ndarray:
        """Variances of the numbers of successes, (cells, draws)."""
        return np.asarray(self.expected * (1 - self.chances))

    @cached_property
    def weights(self) -> np.ndarray:
        """Mean variances, (cells,)."""
        return np.asarray(self.variances.mean(axis=1))

    @cached_property
    def log_odds(self) -> np.ndarray:
        """Log-odds of success, (cells, draws)."""
        return np.asarray(logit(self.chances))

    @cached_property
    def free(self) -> np.ndarray:
        """Variances of the residuals at the posterior mean, (cells,)."""
        return np.asarray(np.maximum(self.weights - self.expected.var(axis=1), _EDGE))

    @cached_property
    def probability(self) -> float:
        """Posterior predictive probability of exactly these outcomes."""
        logs = binom.logpmf(self.successes[:, None], self.trials[:, None], self.chances)
        return float(np.exp(np.asarray(logs).sum(axis=0)).mean())

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Subtract the mean over cells, weighted by variances, in each draw."""
        total = self.variances.sum(axis=0)
        return np.asarray(values - (self.variances * values).sum(axis=0) / total)

    def replicated(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw residuals of replicated outcomes, (cells, replicates)."""
        draws = rng.integers(self.chances.shape[1], size=count)
        chances = self.chances[:, draws]
        if self.trials.max(initial=0) == 1:
            return np.asarray((rng.random(chances.shape) < chances) - chances)
        trials = self.trials[:, None].astype(int)
        return np.asarray(rng.binomial(trials, chances) - trials * chances)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All attempted cells of some subjects, with their probabilities.

    Attributes
    ----------
    subjects, items : list of str
        Names; items are steps where outcomes have several.
    subject, item : ndarray of int, shape (cells,)
        Positions of the cells' subjects and items.
    successes, trials : ndarray, shape (cells,)
        Outcomes.
    chances : ndarray of float32, shape (cells, draws)
        Probabilities of success for 1,000 draws, or for fewer where there are many cells.
    seed : int
        Seed of the replicated outcomes.
    """

    subjects: list[str]
    items: list[str]
    subject: np.ndarray
    item: np.ndarray
    successes: np.ndarray
    trials: np.ndarray
    chances: np.ndarray
    seed: int

    @classmethod
    def of(cls, fit: Fit, rows: np.ndarray, seed: int, progressbar: bool) -> "Outcomes":
        """Read the cells of the subjects at some positions of a fit."""
        coded, names = fit.coded, fit.item_names
        every = np.arange(len(coded.item))
        cells = np.concatenate([every[coded.of_subject(row)] for row in rows])
        most = np.clip(_MOST_NUMBERS // max(len(cells), 1), _FEWEST_DRAWS, _MOST_DRAWS)
        draws = some_draws(fit, int(most))
        chances = np.empty((len(cells), len(draws)), dtype=np.float32)
        start, subject = 0, []
        for place, row in enumerate(track(rows, len(rows), progressbar)):
            attempted = Attempted.of(fit, row)
            count = len(attempted.names)
            blocks = every_draw(fit, row, attempted.features, count, memory_mib=_MEMORY_MIB)
            for places, values in blocks:
                chances[start + places] = values[:, draws]
            start += count
            subject.append(np.full(count, place))
        np.clip(chances, _EDGE, 1 - _EDGE, out=chances)
        successes, trials = (
            coded.successes[cells].astype(float),
            coded.trials[cells].astype(float),
        )
        subjects = [fit.subjects[row] for row in rows]
        codes, items = np.concatenate(subject), coded.item[cells]
        return cls(subjects, list(names), codes, items, successes, trials, chances, seed)

    @cached_property
    def by_subject(self) -> list[np.ndarray]:
        """Positions of each subject's cells."""
        return _positions(self.subject, len(self.subjects))

    @cached_property
    def by_item(self) -> list[np.ndarray]:
        """Positions of each item's cells."""
        return _positions(self.item, len(self.items))

    def cells(self, where: np.ndarray) -> Cells:
        """Select cells, with every draw or, of many cells, some."""
        most = max(_MOST_SELECTED // max(len(where), 1), _FEWEST_DRAWS)
        step = -(-self.chances.shape[1] // most)
        chances = self.chances[where, ::step].astype(float)
        return Cells(self.successes[where], self.trials[where], chances)

    def rng(self, name: str) -> np.random.Generator:
        """Make the random generator of a test, by its name."""
        return np.random.default_rng(subject_seed(self.seed, name))

    def among(self, subjects: list[str]) -> "Outcomes":
        """Keep the cells of some subjects."""
        if subjects == self.subjects:
            return self
        place = pd.Index(subjects).get_indexer(pd.Index(self.subjects))[self.subject]
        kept = place >= 0
        return replace(
            self,
            subjects=subjects,
            subject=place[kept],
            item=self.item[kept],
            successes=self.successes[kept],
            trials=self.trials[kept],
            chances=self.chances[kept],
        )

    def cell_name(self, cell: int) -> tuple[str, str]:
        """Name the subject and the item of a cell."""
        return self.subjects[self.subject[cell]], self.items[self.item[cell]]


def _positions(codes: np.ndarray, count: int) -> list[np.ndarray]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, count)))


def score(
    cells: Cells,
    columns: np.ndarray,
    rng: np.random.Generator,
    *,
    least: float,
    prob: float,
    moving: np.ndarray | None = None,
    beside: np.ndarray | None = None,
) -> dict[str, Any]:
    r"""Test whether log-odds of cells change along columns that the layout lacks.

    With the residuals :math:`r_c = y_c - n_c p_c` and columns :math:`D`, the score and its
    variance over outcomes that the layout generates and that the fit has adapted to are

    .. math:: U = E[D^\top r], \qquad
        V = E[D^\top W D] - \mathrm{var}[D^\top (n p)], \quad W = \mathrm{diag}(n p (1 - p))

    over the posterior (Louis 1982): the second part is what the layout's own values absorb. The
    statistic is :math:`U^\top V^{-1} U`, over the directions in which at least 2 % of the
    information is neither absorbed nor that of the columns beside. Its p value is the share of
    replicated outcomes, drawn with the probabilities of posterior draws, whose standardised sums
    are at least as large, and at least the probability of the outcomes themselves: of two or three
    cells, the standardised sum may lie beyond all that are possible.

    Parameters
    ----------
    cells : Cells
        The cells.
    columns : ndarray, shape (cells, effects)
        Changes of the log-odds.
    rng : Generator
        Random generator of the replicates.
    least : float
        P value that has to be reached; more replicates are drawn while few exceed the statistic.
    prob : float
        Mass of the interval.
    moving : ndarray, shape (cells, draws), optional
        The only column in each draw, where it depends on the probabilities. The score is then the
        mean over draws, so that it is not biased by a column that follows the outcomes, and a
        third of the information that the column's uncertainty adds is added to V: with none of it,
        slopes of items raised false alarms in 13 % of data sets of 10 subjects and 15 items.
    beside : ndarray, shape (cells, others), optional
        Columns of effects that the alternative may also have.

    Returns
    -------
    dict
        ``effect``, ``low``, ``high`` (of the first column, in its unit of log-odds, as a refit with
        this effect would give), ``statistic``, ``df``, ``p``, ``remark`` where there is no test;
        ``gain`` and ``gain_se`` in elpd, and ``cell``: the position of the cell without which
        nothing would be unexpected, or at most half of the statistic would remain, or -1.

    References
    ----------
    Louis, T. A. (1982), Finding the observed information matrix when using the EM algorithm,
    Journal of the Royal Statistical Society B 44. Davison, A. C. and Hinkley, D. V. (1997),
    Bootstrap Methods and their Application, section 4.2.5.
    """
    if beside is not None:
        means = cells.weights @ columns / cells.weights.sum()
        total = (columns - means).T @ (cells.weights[:, None] * (columns - means))
        explained = beside @ shares(cells, columns, beside)
        columns = columns - explained
        moving = moving if moving is None else moving - explained
    else:
        total = columns.T @ (cells.weights[:, None] * columns)
    weights, residuals = cells.weights, cells.residuals.mean(axis=1)
    absorbed = columns.T @ cells.expected
    alone = columns.T @ (weights[:, None] * columns)
    information = alone - np.atleast_2d(np.cov(absorbed))
    scores = columns.T @ residuals
    tested = information
    if moving is not None:
        scores = np.array([(moving * cells.residuals).sum(axis=0).mean()])
        uncertain = (moving**2 * cells.variances).sum(axis=0).mean() - alone
        tested = information + np.maximum(uncertain, 0) / 3
    basis = _free_directions(total, tested)
    if not basis.shape[1]:
        return {"df": 0, "p": np.nan, "remark": UNDISTINGUISHED, "cell": -1}
    standardised = basis.T @ scores
    p = replicated_p(
        lambda count: (columns @ basis).T @ cells.replicated(rng, count),
        standardised,
        least,
        max(1, _BLOCK // len(weights)),
        basis.T @ alone @ basis,
    )
    centred = absorbed - absorbed.mean(axis=1, keepdims=True)
    changes = columns - cells.log_odds @ centred.T / (centred.shape[1] - 1)
    statistic = float(standardised @ standardised)
    directions = columns @ basis
    # covariances of the scores with each cell's residual, as if this cell were free
    shared = weights[:, None] * directions
    shared -= cells.expected @ (centred.T @ basis) / (centred.shape[1] - 1)
    without = standardised - shared * (residuals / cells.free)[:, None]
    lost = np.maximum(cells.free - (shared**2).sum(axis=1), _EDGE)
    remaining = (without**2).sum(axis=1) + (shared * without).sum(axis=1) ** 2 / lost
    smallest = int(remaining.argmin())
    explains = remaining[smallest] < max(basis.shape[1] + 2, statistic / 2)
    return {
        **_sizes(cells, columns, changes, scores, information, prob),
        "statistic": statistic,
        "df": basis.shape[1],
        "p": max(p, cells.probability),
        "remark": "",
        "cell": smallest if explains else -1,
    }


def shares(cells: Cells, columns: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Regress columns on others, in the information that the fit does not absorb."""
    both = np.concatenate([columns, beside], axis=1)
    width = columns.shape[1]
    shared = both.T @ (cells.weights[:, None] * both) - np.cov(both.T @ cells.expected)
    scale = np.sqrt(np.maximum((beside**2 * cells.weights[:, None]).sum(axis=0), _EDGE))
    inverse = np.linalg.pinv(shared[width:, width:] / np.outer(scale, scale), _FREE, hermitian=True)
    return np.asarray(inverse / np.outer(scale, scale) @ shared[width:, :width])


def _free_directions(total: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Combine columns to scores of unit variance, without those that the fit absorbs."""
    sizes, mixed = np.linalg.eigh(total)
    kept = sizes > 1e-9 * max(sizes[-1], _EDGE)
    scaled = mixed[:, kept] / np.sqrt(sizes[kept])
    shares, mixed = np.linalg.eigh(scaled.T @ information @ scaled)
    free = shares > _FREE
    return np.asarray(scaled @ mixed[:, free] / np.sqrt(shares[free]))


def replicated_p(
    draw: Callable[[int], np.ndarray],
    statistic: np.ndarray,
    least: float,
    block: int,
    covariance: np.ndarray | None = None,
) -> float:
    """Compute a p value, (k + 1) / (n + 1), from replicates of standardised scores.

    The replicates are scaled to unit covariance. One score is compared on its own side, with the
    result doubled, and several by their sum of squares. Replicates are drawn until ten exceed the
    statistic, or there are enough for a p value of half of `least`.

    Parameters
    ----------
    draw : callable
        Function of a number that returns so many replicates, (scores, replicates).
    statistic : ndarray, shape (scores,)
        Standardised scores.
    least : float
        P value that has to be reached.
    block : int
        Largest number of replicates at a time.
    covariance : ndarray, shape (scores, scores), optional
        Covariance of the replicates, whose mean is 0 (default: both as those of the first 2,000).
    """
    first = np.concatenate(
        [draw(min(block, _REPLICATES - at)) for at in range(0, _REPLICATES, block)], axis=1
    )
    mean = first.mean(axis=1, keepdims=True) if covariance is None else np.zeros((len(first), 1))
    covariance = np.atleast_2d(np.cov(first)) if covariance is None else covariance
    scale = np.linalg.cholesky(covariance + _EDGE**2 * np.eye(len(first)))
    sided = len(statistic) == 1
    observed = float(np.abs(statistic[0]) if sided else statistic @ statistic) * (1 - _EDGE)
    sign = 1.0 if statistic[0] >= 0 else -1.0

    def beyond(replicates: np.ndarray) -> int:
        values = np.linalg.solve(scale, replicates - mean)
        return int(
            ((sign * values[0] if sided else np.square(values).sum(axis=0)) >= observed).sum()
        )

    count, total = beyond(first), _REPLICATES
    wanted = min(4 / least, _MOST_REPLICATES)
    while count < _COUNTED and total < wanted:
        size = int(min(block, wanted - total + 1))
        count, total = count + beyond(draw(size)), total + size
    return float(min(1, (1 + sided) * (count + 1) / (total + 1)))


def _sizes(
    cells: Cells,
    columns: np.ndarray,
    changes: np.ndarray,
    scores: np.ndarray,
    information: np.ndarray,
    prob: float,
) -> dict[str, float]:
    """Estimate effects that make the scores 0 after the fit has adapted, and their gain in elpd."""
    start = logit(cells.chances.mean(axis=1))
    trials, precision = cells.trials, np.eye(columns.shape[1]) / _EFFECT_SD**2
    curved = columns.T @ (cells.weights[:, None] * changes)
    if len(scores) == 1 and curved[0, 0] > 0:
        changes = changes * max(information[0, 0] / curved[0, 0], 0.1)

    def excess(effects: np.ndarray) -> np.ndarray:
        moved = expit(start + changes @ effects) - expit(start)
        return np.asarray(scores - columns.T @ (trials * moved) - precision @ effects)

    def slope(effects: np.ndarray) -> np.ndarray:
        chances = expit(start + changes @ effects)
        weights = trials * chances * (1 - chances)
        return np.asarray(-columns.T @ (weights[:, None] * changes) - precision)

    def loss(effects: np.ndarray) -> float:
        moved = start + changes @ effects
        failures = (trials - cells.successes) @ log_expit(-moved)
        likelihood = cells.successes @ log_expit(moved) + failures
        return float(effects @ precision @ effects / 2 - likelihood)

    solution = root(excess, np.zeros(len(scores)), jac=slope)
    effects = solution.x
    if (
        len(scores) > 1 or not solution.success
    ):  # levels without any success or failure have no root
        effects = minimize(loss, np.zeros(len(scores))).x
    error = np.sqrt(np.abs(np.linalg.pinv(-slope(effects))[0, 0]))
    half = norm.isf((1 - prob) / 2) * error
    moved = start + changes @ effects
    gains = cells.successes * (log_expit(moved) - log_expit(start))
    gains += (trials - cells.successes) * (log_expit(-moved) - log_expit(-start))
    penalty = np.trace(np.linalg.solve(information + precision, information))
    return {
        "effect": float(effects[0]),
        "low": float(effects[0] - half),
        "high": float(effects[0] + half),
        "gain": float(gains.sum() - penalty),
        "gain_se": float(np.sqrt(len(gains) * gains.var(ddof=1))) if len(gains) > 1 else np.nan,
    }


def holm(chances: np.ndarray) -> np.ndarray:
    """Adjust p values for their number with Holm's method; NaN is kept."""
    tested = np.flatnonzero(np.isfinite(chances))
    order = tested[np.argsort(chances[tested], kind="stable")]
    remaining = len(order) - np.arange(len(order))
    adjusted = np.full(len(chances), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(chances[order] * remaining))
    return adjusted


def false_discovery(chances: np.ndarray) -> np.ndarray:
    """Adjust p values with Benjamini and Hochberg's method; NaN is kept."""
    tested = np.flatnonzero(np.isfinite(chances))
    order = tested[np.argsort(-chances[tested], kind="stable")]
    factors = len(order) / np.arange(len(order), 0, -1)
    adjusted = np.full(len(chances), np.nan)
    adjusted[order] = np.minimum(1, np.minimum.accumulate(chances[order] * factors))
    return adjusted
