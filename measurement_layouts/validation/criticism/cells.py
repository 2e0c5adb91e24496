"""Attempted cells of a fit, with their probabilities of success in posterior draws."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit

from ...common.progress import track
from ...common.seeds import subject_seed
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import every_draw
from ...inference.kernel.outcomes import log_ways
from ...inference.posterior.posterior import some_draws

_MOST_NUMBERS = 2**25  # probabilities in memory (128 MiB)
_MOST_DRAWS, _FEWEST_DRAWS = 1000, 100
_MOST_SELECTED = 2**22  # probabilities of selected cells
_EDGE = 1e-6
_MEMORY_MIB = 8.0


@dataclass(frozen=True, eq=False)
class Cells:
    """Outcomes of some cells, with the probabilities of success in each posterior draw.

    Attributes
    ----------
    position : ndarray of int, shape (cells,)
        Positions among all attempted cells.
    successes, trials : ndarray, shape (cells,)
        Outcomes.
    chances : ndarray, shape (cells, draws)
        Probabilities of success.
    """

    position: np.ndarray
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
    def deviations(self) -> np.ndarray:
        """Expected numbers minus their means, (cells, draws), scaled to their covariance."""
        centred = self.expected - self.expected.mean(axis=1, keepdims=True)
        return np.asarray(centred / np.sqrt(centred.shape[1] - 1))

    @cached_property
    def covariance(self) -> np.ndarray:
        """Posterior covariance of the expected numbers, (cells, cells)."""
        return np.asarray(self.deviations @ self.deviations.T)

    @cached_property
    def probability(self) -> float:
        """Posterior predictive probability of exactly these outcomes."""
        logs = self.successes @ self.log_odds + self.trials @ np.log1p(-self.chances)
        return float(np.exp(logs + log_ways(self.successes, self.trials).sum()).mean())

    @cached_property
    def _by_draw(self) -> np.ndarray:
        return np.ascontiguousarray(self.chances.T, dtype=np.float32)

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Subtract the mean over cells, weighted by variances, in each draw."""
        total = self.variances.sum(axis=0)
        return np.asarray(values - (self.variances * values).sum(axis=0) / total)

    def replicated(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw residuals of replicated outcomes, (replicates, cells)."""
        chances = self._by_draw[rng.integers(len(self._by_draw), size=count)]
        if self.trials.max(initial=0) == 1:
            passed = rng.random(chances.shape, dtype=np.float32) < chances
            return np.asarray(np.subtract(passed, chances, dtype=float))
        trials = self.trials.astype(int)
        return np.asarray(rng.binomial(trials, chances) - trials * chances)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All attempted cells of some subjects, and the settings of their criticism.

    Attributes
    ----------
    subjects, items : list of str
        Names; items are steps where outcomes have several.
    criticised : list of str
        Subjects in the tables of subjects and properties.
    subject, item : ndarray of int, shape (cells,)
        Positions of the cells' subjects and items.
    successes, trials : ndarray, shape (cells,)
        Outcomes.
    chances : ndarray of float32, shape (cells, draws)
        Probabilities of success for 1,000 draws, or for fewer where there are many cells.
    alpha, prob : float
        Probability of any false alarm in a table, and mass of the intervals.
    seed : int
        Seed of the replicated outcomes.
    progressbar : bool
        Whether to show the progress.
    """

    subjects: list[str]
    criticised: list[str]
    items: list[str]
    subject: np.ndarray
    item: np.ndarray
    successes: np.ndarray
    trials: np.ndarray
    chances: np.ndarray
    alpha: float
    prob: float
    seed: int
    progressbar: bool

    @classmethod
    def of(
        cls, fit: Fit, rows: np.ndarray, criticised: np.ndarray, progressbar: bool, **settings: Any
    ) -> "Outcomes":
        """Read the cells of the subjects at some positions of a fit."""
        coded = fit.coded.select(rows)
        most = np.clip(_MOST_NUMBERS // max(len(coded.item), 1), _FEWEST_DRAWS, _MOST_DRAWS)
        draws = some_draws(fit, int(most))
        chances = np.empty((len(coded.item), len(draws)), dtype=np.float32)
        for subject, row in enumerate(track(rows, len(rows), progressbar)):
            attempted = Attempted.of(fit, row)
            blocks = every_draw(
                fit, row, attempted.features, len(attempted.names), memory_mib=_MEMORY_MIB
            )
            for positions, values in blocks:
                chances[coded.of_subject(subject)][positions] = values[:, draws]
        return cls(
            subjects=fit.names(rows),
            criticised=fit.names(criticised),
            items=list(fit.item_names),
            subject=coded.subject,
            item=coded.item,
            successes=coded.successes.astype(float),
            trials=coded.trials.astype(float),
            chances=np.clip(chances, _EDGE, 1 - _EDGE, out=chances),
            progressbar=progressbar,
            **settings,
        )

    @cached_property
    def by_subject(self) -> dict[str, np.ndarray]:
        """Positions of each subject's cells."""
        return _positions(self.subject, self.subjects)

    @cached_property
    def by_criticised(self) -> dict[str, np.ndarray]:
        """Positions of the cells of each subject that is criticised."""
        return {name: self.by_subject[name] for name in self.criticised}

    @cached_property
    def by_item(self) -> dict[str, np.ndarray]:
        """Positions of each item's cells."""
        return _positions(self.item, self.items)

    def cells(self, position: np.ndarray) -> Cells:
        """Select cells, with every draw or, of many cells, some."""
        most = max(_MOST_SELECTED // max(len(position), 1), _FEWEST_DRAWS)
        step = -(-self.chances.shape[1] // most)
        chances = self.chances[position, ::step].astype(float)
        return Cells(position, self.successes[position], self.trials[position], chances)

    def each(
        self, groups: dict[str, np.ndarray], what: str = "subjects"
    ) -> Iterator[tuple[str, Cells]]:
        """Iterate over the cells of groups, with the progress."""
        progress = track(groups.items(), len(groups), self.progressbar, what)
        return ((name, self.cells(position)) for name, position in progress)

    def test(self, name: str, count: float) -> dict[str, Any]:
        """Return arguments of `scores.score` for some of a number of tests."""
        return {"rng": self.rng(name), "least": self.alpha / max(count, 1), "prob": self.prob}

    def rng(self, name: str) -> np.random.Generator:
        """Make the random generator of a test, by its name."""
        return np.random.default_rng(subject_seed(self.seed, name))


def _positions(codes: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(1, len(names)))
    return dict(zip(names, np.split(order, starts), strict=True))
