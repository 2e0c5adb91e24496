"""Paired differences of outcomes, with standard errors over clusters of items, without a model."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from ...evaluations.cells import Cells
from ...evaluations.steps import Rows

_SIMULATED = 10_000  # draws of the largest of several studentised differences
_ROUNDING = 1e-12  # a standard error below it is 0
_SEED = 20231


@dataclass(frozen=True, eq=False)
class PairedOutcomes:
    """Mean outcomes of subjects by item, in [0, 1], and the clusters of the items.

    Attributes
    ----------
    means : ndarray, shape (subjects, items)
        Mean outcome over attempts; NaN where there is none.
    clusters : ndarray of int, shape (items,)
        Number of the cluster of each item.
    binary : bool
        Whether every outcome is one attempt, 0 or 1.
    prob : float
        Mass of the intervals.
    references : ndarray, shape (subjects, items), optional
        Mean outcomes of the subjects that each is compared with (default: `means`).

    Examples
    --------
    >>> means = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, np.nan]])
    >>> pairs = PairedOutcomes(means, np.arange(4), binary=True, prob=0.9)
    >>> row = pairs.against(0).loc[1]
    >>> row[["difference", "se", "p", "mcnemar"]].round(3).tolist(), int(row["items"])
    ([0.333, 0.333, 0.423, 1.0], 3)
    """

    means: np.ndarray
    clusters: np.ndarray
    binary: bool
    prob: float
    references: np.ndarray | None = None

    @classmethod
    def of(
        cls, cells: Cells, rows: Rows | None, items: np.ndarray, clusters: np.ndarray, prob: float
    ) -> "PairedOutcomes":
        """Average the attempts of each subject at some items, by position; -1 has no outcomes."""
        item, gained, attempts, count = cells.item, cells.successes, cells.trials, cells.shape[1]
        if rows is not None:
            item, attempts, count = rows.places[item], rows.attempts(cells), len(rows.items)
            gained = gained / rows.tops[cells.item]
        sums = np.zeros((2, cells.shape[0], count + 1))  # the last column stays empty
        np.add.at(sums[0], (cells.subject, item), gained)
        np.add.at(sums[1], (cells.subject, item), attempts)
        with np.errstate(invalid="ignore"):
            means = (sums[0] / sums[1])[:, items]
        return cls(means, clusters, rows is None and bool((cells.trials == 1).all()), prob)

    def against(self, subject: int) -> pd.DataFrame:
        """Compare a subject, by position, with every subject, by row.

        Returns
        -------
        DataFrame
            ``difference``, ``se``, ``low``, ``high``, ``p``, ``mcnemar``, ``items`` and
            ``clusters``, as `compare` describes them.
        """
        return self._against(subject)[0]

    def _against(self, subject: int) -> tuple[pd.DataFrame, np.ndarray]:
        """Return `against`, and the part of each cluster in the errors, (clusters, subjects)."""
        references = self.means if self.references is None else self.references
        gaps = self.means[subject] - references
        both = np.isfinite(gaps)
        items = both.sum(axis=1)
        shape = self.clusters.max(initial=-1) + 1, len(gaps)
        errors, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(counts, self.clusters, both.T)
        clusters = (counts > 0).sum(axis=0)
        freedom = np.maximum(clusters - 1, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.where(both, gaps, 0).sum(axis=1) / items
            residuals = np.where(both, gaps - difference[:, None], 0) / items[:, None]
            np.add.at(errors, self.clusters, residuals.T)
            errors *= np.sqrt(clusters / (clusters - 1))
            se = np.sqrt((errors**2).sum(axis=0))
            se = np.where(se < _ROUNDING, 0, se)
            p = 2 * stats.t.sf(np.abs(difference) / se, freedom)
        p = np.where(se == 0, np.where(np.abs(difference) < _ROUNDING, 1.0, 2.0**-freedom), p)
        half = stats.t.isf((1 - self.prob) / 2, freedom) * se
        wins, losses = ((sign * gaps > 0).sum(axis=1) for sign in (1, -1))
        columns = {
            "difference": difference,
            "se": se,
            "low": difference - half,
            "high": difference + half,
            "p": p,
            "mcnemar": _mcnemar(wins, losses) if self.binary else np.nan,
            "items": items,
            "clusters": clusters,
        }
        return pd.DataFrame(columns), errors

    def certain(self, subject: int) -> np.ndarray:
        """Say which differences of a subject are certain, all together with the probability `prob`.

        Returns
        -------
        ndarray of int, shape (subjects,)
            1 where it is ahead, -1 where it is behind, 0 where that is not known. The largest
            studentised difference is simulated from the multivariate t distribution with the
            covariance of the differences; of differences without an error, the sign test counts.
        """
        table, errors = self._against(subject)
        freedom, se = np.maximum(table["clusters"].to_numpy() - 1, 1), table["se"].to_numpy()
        with_error = se > 0
        limit = stats.t.isf((1 - self.prob) / 2 / max(1, len(table) - 1), freedom)
        if with_error.any():
            studentised = errors[:, with_error] / se[with_error]
            _, scales, axes = np.linalg.svd(studentised, full_matrices=False)
            rng, least = np.random.default_rng(_SEED), freedom[with_error].min()
            simulated = rng.standard_normal((_SIMULATED, len(scales))) @ (scales[:, None] * axes)
            simulated /= np.sqrt(rng.chisquare(least, (_SIMULATED, 1)) / least)
            limit[with_error] = np.quantile(np.abs(simulated).max(axis=1), self.prob)
        beyond = stats.t.isf(table["p"] / 2, freedom) > limit
        return np.where(beyond, np.sign(table["difference"]), 0).astype(int)


@dataclass(frozen=True, eq=False)
class BoundedOutcomes:
    """Paired outcomes of attempts of which some have no grade.

    Attributes
    ----------
    worst, best : PairedOutcomes
        Each subject with all its ungraded attempts failed against others whose have succeeded, and
        the reverse.
    """

    worst: PairedOutcomes
    best: PairedOutcomes

    @classmethod
    def of(cls, failed: PairedOutcomes, succeeded: PairedOutcomes) -> "BoundedOutcomes":
        """Combine outcomes in which all ungraded attempts failed, or all succeeded."""
        return cls(
            replace(failed, references=succeeded.means, binary=False),
            replace(succeeded, references=failed.means, binary=False),
        )

    @property
    def means(self) -> np.ndarray:
        """Middle of the bounds of mean outcomes."""
        return np.asarray((self.worst.means + self.best.means) / 2)

    def against(self, subject: int) -> pd.DataFrame:
        """Compare a subject with every subject: the middle, and ends beyond both bounds."""
        worst, best = self.worst.against(subject), self.best.against(subject)
        alike = np.sign(worst["difference"]) == np.sign(best["difference"])
        return best.assign(
            difference=(worst["difference"] + best["difference"]) / 2,
            se=np.maximum(worst["se"], best["se"]),
            low=worst["low"],
            p=np.where(alike, np.maximum(worst["p"], best["p"]), 1.0),
        )

    def certain(self, subject: int) -> np.ndarray:
        """Say which differences are certain whatever the ungraded attempts were."""
        ahead, behind = self.worst.certain(subject) > 0, self.best.certain(subject) < 0
        return ahead.astype(int) - behind


def ranks_of(outcomes: PairedOutcomes | BoundedOutcomes) -> pd.DataFrame:
    """Ranks by the mean difference to the others, with intervals.

    Returns
    -------
    DataFrame
        By subject: ``mean`` (of its own outcomes), ``rank``, ``rank_low`` and ``rank_high``.
    """
    subjects = range(len(outcomes.means))
    lead = np.array([np.nansum(outcomes.against(subject)["difference"]) for subject in subjects])
    certain = np.array([outcomes.certain(subject) for subject in subjects])
    return pd.DataFrame(
        {
            "mean": pd.DataFrame(outcomes.means).mean(axis=1),
            "rank": stats.rankdata(-lead.round(12)),
            "rank_low": 1 + (certain < 0).sum(axis=1),
            "rank_high": len(certain) - (certain > 0).sum(axis=1),
        }
    )


def _mcnemar(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return McNemar's exact two-sided p for numbers of items that only one solved."""
    rarer = np.minimum(wins, losses)
    return np.asarray(np.minimum(1, 2 * stats.binom.cdf(rarer, wins + losses, 0.5)))
