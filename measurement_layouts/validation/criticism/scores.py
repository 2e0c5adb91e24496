"""Score tests of effects that a layout lacks, with p values from replicated outcomes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize, root
from scipy.special import expit, log_expit, logit
from scipy.stats import false_discovery_control, norm

from .cells import Cells

_EDGE = 1e-6
_FREE = 0.02  # least share of an effect's information that the fit does not absorb
_EFFECT_SD = 5.0  # prior standard deviation of an effect, in log-odds
_REPLICATES = 2000  # first replicates of a statistic
_MOST_REPLICATES = 2**18
_COUNTED = 10  # replicates beyond a statistic for which its p value is precise enough
_BLOCK = 2**21  # replicated outcomes at a time
UNDISTINGUISHED = "cannot be told apart from what the layout uses"
SIZES = ["effect", "low", "high", "p", "p_adjusted", "flagged", "cell", "remark"]


class Change(NamedTuple):
    """A change of the log-odds of some cells, as an alternative to a layout.

    Attributes
    ----------
    columns : ndarray, shape (cells, effects) or (cells, draws)
        Changes for effects of 1; if `moves`, of one effect in each draw, because it depends on the
        probabilities.
    beside : ndarray, shape (cells, others), optional
        Columns of effects that the alternative may also have.
    moves : bool
        Whether the columns belong to draws.
    """

    columns: np.ndarray
    beside: np.ndarray | None = None
    moves: bool = False


class _Test(NamedTuple):
    """A score test without its p value.

    Attributes
    ----------
    result : dict
        Columns of a table.
    statistic : ndarray, shape (scores,)
        Standardised scores.
    standardise : ndarray, shape (cells, scores)
        Weights that give scores of unit covariance from replicated residuals.
    """

    result: dict[str, Any]
    statistic: np.ndarray
    standardise: np.ndarray


def score(
    cells: Cells,
    alternatives: Sequence[tuple[dict[str, Any], Change | str]],
    rng: np.random.Generator,
    *,
    least: float,
    prob: float,
) -> list[dict[str, Any]]:
    r"""Test whether log-odds of cells change in ways that the layout lacks.

    With the residuals :math:`r_c = y_c - n_c p_c` and columns :math:`D`, the score and its
    variance over outcomes that the layout generates and that the fit has adapted to are

    .. math:: U = E[D^\top r], \qquad
        V = E[D^\top W D] - \mathrm{var}[D^\top (n p)], \quad W = \mathrm{diag}(n p (1 - p))

    over the posterior (Louis 1982): the second part is what the layout's own values absorb. The
    statistic is :math:`U^\top V^{-1} U`, over the directions in which at least 2 % of the
    information is neither absorbed nor that of the columns beside. Its p value is the share of
    replicated outcomes, drawn with the probabilities of posterior draws, whose standardised sums
    are at least as large, and at least the probability of the outcomes themselves: of two or three
    cells, the standardised sum may lie beyond all that are possible. All changes are compared with
    the same replicates.

    If a column depends on the draw, the score is the mean over draws, so that it is not biased by
    a column that follows the outcomes, and a third of the information that the column's uncertainty
    adds is added to V: with none of it, slopes of items raised false alarms in 13 % of data sets of
    10 subjects and 15 items.

    Parameters
    ----------
    cells : Cells
        The cells.
    alternatives : sequence of (dict, Change or str)
        Names of each row of a table, and a change of the log-odds that is tested without the
        others, or the reason why nothing is.
    rng : Generator
        Random generator of the replicates.
    least : float
        P value that has to be reached; more replicates are drawn while few exceed the statistic.
    prob : float
        Mass of the interval.

    Returns
    -------
    list of dict
        By alternative, its names with ``effect``, ``low``, ``high`` (of the first column, in its
        unit of log-odds, as a refit with this effect would give), ``statistic``, ``df``, ``p``,
        ``remark`` where there is no test; ``free``, the share of the information of the first
        column that the fit does not absorb; ``gain`` and ``gain_se`` in elpd, and ``cell``: the
        position of the cell without which nothing would be unexpected, or at most half of the
        statistic would remain, or -1.

    References
    ----------
    Louis, T. A. (1982), Finding the observed information matrix when using the EM algorithm,
    Journal of the Royal Statistical Society B 44. Davison, A. C. and Hinkley, D. V. (1997),
    Bootstrap Methods and their Application, section 4.2.5.
    """
    tests = [_test(cells, change, prob) for _, change in alternatives]
    tested = [test for test in tests if len(test.statistic)]
    chances = replicated_p(
        lambda count: cells.replicated(rng, count),
        [(test.statistic, test.standardise) for test in tested],
        least,
        max(1, _BLOCK // max(len(cells.trials), 1)),
    )
    for test, p in zip(tested, chances, strict=True):
        test.result["p"] = max(p, cells.probability)
    return [names | test.result for (names, _), test in zip(alternatives, tests, strict=True)]


def predictive_p(cells: Cells, columns: np.ndarray) -> float:
    """Compute the posterior predictive p value of a score, which is normal in each draw.

    It counts nothing as absorbed by the fit, so that it holds, and is rather too large, also where
    values of the layout are near the ends of their ranges or their effects far from linear.
    """
    deviations = np.sqrt((columns**2 * cells.variances).sum(axis=0))
    sizes = (columns * cells.residuals).sum(axis=0) / np.maximum(deviations, _EDGE)
    return float(2 * min(norm.cdf(sizes).mean(), norm.sf(sizes).mean()))


def _test(cells: Cells, change: Change | str, prob: float) -> _Test:
    """Compute scores, their variance, and all but the p value of a change."""
    untested: dict[str, Any] = {"p": np.nan, "cell": -1}
    if isinstance(change, str):
        return _Test(untested | {"remark": change}, np.empty(0), np.empty((0, 0)))
    columns, beside = change.columns, change.beside
    weights, residuals = cells.weights, cells.residuals.mean(axis=1)
    moving = columns
    if change.moves:
        columns = ((moving * cells.variances).mean(axis=1) / weights)[:, None]
    total = columns
    if beside is not None:
        total = columns - weights @ columns / weights.sum()
        common = beside @ shares(cells, columns, beside)
        columns, moving = columns - common, moving - common
    total = total.T @ (weights[:, None] * total)
    absorbed = columns.T @ cells.deviations
    alone = columns.T @ (weights[:, None] * columns)
    information = alone - absorbed @ absorbed.T
    scores, variance = columns.T @ residuals, information
    if change.moves:
        scores = np.array([(moving * cells.residuals).sum(axis=0).mean()])
        uncertain = (moving**2 * cells.variances).sum(axis=0).mean() - alone
        variance = information + np.maximum(uncertain, 0) / 3
    basis = _free_directions(total, variance)
    directions, statistic = columns @ basis, basis.T @ scores
    if not len(statistic):
        return _Test(untested | {"df": 0, "remark": UNDISTINGUISHED}, statistic, directions)
    adapted = columns - cells.log_odds @ absorbed.T / np.sqrt(absorbed.shape[1] - 1)
    result = {
        **_sizes(cells, columns, adapted, scores, information, prob),
        "statistic": float(statistic @ statistic),
        "free": float(information[0, 0] / alone[0, 0]),
        "df": len(statistic),
        "remark": "",
        "cell": _single(cells, directions, statistic),
    }
    scale = np.linalg.cholesky(basis.T @ alone @ basis + _EDGE**2 * np.eye(len(statistic)))
    return _Test(result, statistic, np.linalg.solve(scale, directions.T).T)


def _single(cells: Cells, directions: np.ndarray, statistic: np.ndarray) -> int:
    """Find the position of the cell that explains the scores, as if it were free, or -1."""
    shared = cells.weights[:, None] * directions
    shared -= cells.deviations @ (directions.T @ cells.deviations).T
    without = statistic - shared * (cells.residuals.mean(axis=1) / cells.free)[:, None]
    lost = np.maximum(cells.free - (shared**2).sum(axis=1), _EDGE)
    remaining = (without**2).sum(axis=1) + (shared * without).sum(axis=1) ** 2 / lost
    explains = remaining.min() < max(len(statistic) + 2, statistic @ statistic / 2)
    return int(cells.position[remaining.argmin()]) if explains else -1


def shares(cells: Cells, columns: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Regress columns on others, in the information that the fit does not absorb."""
    both = np.concatenate([columns, beside], axis=1)
    width, absorbed = columns.shape[1], both.T @ cells.deviations
    shared = both.T @ (cells.weights[:, None] * both) - absorbed @ absorbed.T
    scale = np.sqrt(np.maximum((beside**2 * cells.weights[:, None]).sum(axis=0), _EDGE))
    scale = np.outer(scale, scale)
    inverse = np.linalg.pinv(shared[width:, width:] / scale, _FREE, hermitian=True)
    return np.asarray(inverse / scale @ shared[width:, :width])


def _free_directions(total: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Combine columns to scores of unit variance, without those that the fit absorbs."""
    sizes, mixed = np.linalg.eigh(total)
    kept = sizes > 1e-9 * max(sizes[-1], _EDGE)
    scaled = mixed[:, kept] / np.sqrt(sizes[kept])
    remaining, mixed = np.linalg.eigh(scaled.T @ information @ scaled)
    free = remaining > _FREE
    return np.asarray(scaled @ mixed[:, free] / np.sqrt(remaining[free]))


def replicated_p(
    draw: Callable[[int], np.ndarray],
    tests: Sequence[tuple[np.ndarray, np.ndarray]],
    least: float,
    block: int,
) -> list[float]:
    """Compute p values, (k + 1) / (n + 1), of several statistics from the same replicates.

    One score is compared on its own side, with the result doubled, and several by their sum of
    squares. Replicates are drawn until ten exceed each statistic, or there are enough for a p value
    of half of `least`.

    Parameters
    ----------
    draw : callable
        Function of a number that returns so many replicates, (replicates, values).
    tests : sequence of (ndarray, ndarray)
        Standardised scores, (scores,), and weights by which replicated values become standardised
        scores, (values, scores).
    least : float
        P value that has to be reached.
    block : int
        Largest number of replicates at a time.
    """
    beyond, drawn = np.zeros((2, len(tests)), dtype=int)
    most = int(max(_REPLICATES, min(4 / least, _MOST_REPLICATES)))
    total, pending = 0, list(range(len(tests)))
    while pending and total < most:
        count = min(block, (most if total >= _REPLICATES else _REPLICATES) - total)
        replicates, total = draw(count), total + count
        for number in pending:
            statistic, weights = tests[number]
            scores = replicates @ weights
            if len(statistic) == 1:
                sizes, size = np.sign(statistic[0]) * scores[:, 0], abs(statistic[0])
            else:
                sizes, size = np.square(scores).sum(axis=1), statistic @ statistic
            beyond[number] += (sizes >= size * (1 - _EDGE)).sum()
            drawn[number] = total
        if total >= _REPLICATES:
            pending = [number for number in pending if beyond[number] < _COUNTED]
    sides = [2 if len(statistic) == 1 else 1 for statistic, _ in tests]
    chances: list[float] = np.minimum(1, np.array(sides) * (beyond + 1) / (drawn + 1)).tolist()
    return chances


def _sizes(
    cells: Cells,
    columns: np.ndarray,
    changes: np.ndarray,
    scores: np.ndarray,
    information: np.ndarray,
    prob: float,
) -> dict[str, float]:
    """Estimate effects that make the scores 0 after the fit has adapted, and their gain in elpd."""
    start, trials = logit(cells.chances.mean(axis=1)), cells.trials
    none, precision = np.zeros(len(scores)), np.eye(len(scores)) / _EFFECT_SD**2
    curved = columns.T @ (cells.weights[:, None] * changes)
    single = len(scores) == 1
    if single and curved[0, 0] > 0:
        changes = changes * max(information[0, 0] / curved[0, 0], 0.1)

    def gains(effects: np.ndarray) -> np.ndarray:
        moved = start + changes @ effects
        passes = cells.successes * (log_expit(moved) - log_expit(start))
        return np.asarray(
            passes + (trials - cells.successes) * (log_expit(-moved) - log_expit(-start))
        )

    def excess(effects: np.ndarray) -> np.ndarray:
        moved = expit(start + changes @ effects) - expit(start)
        return np.asarray(scores - columns.T @ (trials * moved) - precision @ effects)

    def slope(effects: np.ndarray) -> np.ndarray:
        chances = expit(start + changes @ effects)
        weights = trials * chances * (1 - chances)
        return np.asarray(-columns.T @ (weights[:, None] * changes) - precision)

    def loss(effects: np.ndarray) -> tuple[float, np.ndarray]:
        excesses = cells.successes - trials * expit(start + changes @ effects)
        gradient = precision @ effects - changes.T @ excesses
        return float(effects @ precision @ effects / 2 - gains(effects).sum()), gradient

    solution = root(excess, none, jac=slope) if single else None
    effects = none if solution is None else solution.x
    if solution is None or not solution.success:  # levels without any success have no root
        effects = minimize(loss, none, jac=True).x
    error = np.sqrt(np.abs(np.linalg.pinv(-slope(effects))[0, 0]))
    half = norm.isf((1 - prob) / 2) * error
    gained = gains(effects)
    penalty = np.trace(np.linalg.solve(information + precision, information))
    return {
        "effect": float(effects[0]),
        "low": float(effects[0] - half),
        "high": float(effects[0] + half),
        "gain": float(gained.sum() - penalty),
        "gain_se": float(np.sqrt(len(gained)) * gained.std(ddof=1)) if len(gained) > 1 else np.nan,
    }


def holm(chances: np.ndarray) -> np.ndarray:
    """Adjust p values for their number with Holm's method; NaN is kept."""
    order = np.argsort(chances, kind="stable")[: np.isfinite(chances).sum()]
    remaining = len(order) - np.arange(len(order))
    adjusted = np.full(len(chances), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(chances[order] * remaining))
    return adjusted


def false_discovery(chances: np.ndarray) -> np.ndarray:
    """Adjust p values with Benjamini and Hochberg's method; NaN is kept."""
    tested, adjusted = np.isfinite(chances), np.full(len(chances), np.nan)
    adjusted[tested] = false_discovery_control(chances[tested])
    return adjusted


def judged(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    alpha: float,
    adjust: Callable[[np.ndarray], np.ndarray] = holm,
    within: str = "",
) -> pd.DataFrame:
    """Tabulate tests, adjust their p values, also within a column, and flag those up to alpha."""
    table = pd.DataFrame(rows).reindex(columns=list(columns))
    table["remark"] = table["remark"].fillna("")
    p = table["p"].astype(float)
    groups = [np.arange(len(table))] if not within else table.groupby(within).indices.values()
    for positions in groups:
        table.loc[positions, "p_adjusted"] = adjust(p.to_numpy()[positions])
    return table.assign(flagged=(table["p_adjusted"] <= alpha).astype(bool))
