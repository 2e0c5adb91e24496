"""Logistic models with random effects, and with factors, by hand in NumPy: forecasts of cells.

Every rival is given successes and trials of subjects x items, with 0 trials where a cell is held
out, and returns a probability for every cell, averaged over what it knows of subject and item.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from population_data import Cohort, standardised
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp

USUAL = 2.5  # prior standard deviation of intercept and covariates' weights, in log-odds
LEAST = 1e-3  # standard deviation of effects
ROUNDS, CLOSE = 100, 1e-4
SCALES = (0.5, 1.0, 2.0, 4.0)  # prior standard deviations of loadings that are tried
NODES = 25  # of each factor
REACH = 4.0  # prior standard deviations that the nodes cover, to either side


def subject_means(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Each subject's mean, for every item; everybody's where a subject has no outcome."""
    own = trials.sum(axis=1)
    everybody = successes.sum() / trials.sum()
    mean = np.where(own > 0, successes.sum(axis=1) / np.maximum(own, 1), everybody)
    return np.repeat(mean[:, None], trials.shape[1], axis=1)


@dataclass(frozen=True, eq=False)
class Mixed:
    r"""A logistic model with normal effects, fitted.

    .. math:: \mathrm{logit}\, p = x \beta, \quad \beta_j \sim \mathrm{Normal}(0, \sigma_{b(j)})

    Effects lie at their joint mode, normal about it. Standard deviations of blocks of effects are
    where the Laplace approximation of the marginal likelihood is largest.

    Attributes
    ----------
    chances : ndarray
        Subjects x items: the probability, averaged over the effects' normal posterior.
    spreads : dict of str to float
        Standard deviation of each block that has one estimated.
    weights : ndarray
        Of the covariates, per standard deviation.
    """

    chances: np.ndarray
    spreads: dict[str, float]
    weights: np.ndarray


def mixed(
    successes: np.ndarray,
    trials: np.ndarray,
    *,
    demands: pd.DataFrame | None = None,
    covariates: pd.DataFrame | None = None,
) -> Mixed:
    """Fit effects of subjects and items, and weights of their properties.

    Parameters
    ----------
    successes, trials : ndarray
        Subjects x items.
    demands : DataFrame, optional
        Properties of the items; their weights per standard deviation share one prior.
    covariates : DataFrame, optional
        Properties of the subjects; texts become flags.
    """
    subjects, items = trials.shape
    who, what = np.divmod(np.arange(trials.size), items)
    blocks = {"intercept": np.ones((trials.size, 1))}
    if covariates is not None:
        blocks["covariates"] = _numbers(covariates)[who]
    if demands is not None:
        blocks["demands"] = _numbers(demands)[what]
    each = np.arange(trials.size)
    for name, place, count in (("subjects", who, subjects), ("items", what, items)):
        ones = np.ones(trials.size)
        blocks[name] = sparse.csr_matrix((ones, (each, place)), (trials.size, count))
    design = sparse.hstack(list(blocks.values()), "csr")
    block = np.repeat(list(blocks), [matrix.shape[1] for matrix in blocks.values()])
    own = [name for name in blocks if name not in ("intercept", "covariates")]
    attempted = trials.ravel() > 0
    likelihood = _Likelihood(
        design[attempted], successes.ravel()[attempted], trials.ravel()[attempted], block
    )
    found = minimize(
        lambda logs: -likelihood.at(dict(zip(own, np.exp(logs), strict=True))).evidence,
        np.zeros(len(own)),
        method="Nelder-Mead",
        bounds=[(-4.0, 3.0)] * len(own),
        options={"initial_simplex": _around(len(own)), "xatol": 0.01, "fatol": 0.01},
    )
    spreads = dict(zip(own, np.exp(found.x).tolist(), strict=True))
    effects, covariance, _ = likelihood.at(spreads)
    mean = design @ effects
    variance = np.asarray(design.multiply(design @ covariance).sum(axis=1)).ravel()
    chances = averaged(mean, np.sqrt(np.maximum(variance, 0))).reshape(trials.shape)
    return Mixed(chances, spreads, effects[block == "covariates"])


def _around(count: int) -> np.ndarray:
    """Corners about zero to begin a search in logarithms."""
    return np.vstack([np.zeros(count), np.eye(count)]) - 0.3


def averaged(mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Average the logistic function over normal log-odds, by Gauss and Hermite."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(21)
    return expit(mean[..., None] + spread[..., None] * nodes) @ (shares / shares.sum())


def _numbers(table: pd.DataFrame) -> np.ndarray:
    """Standardise columns; texts become a flag for each value but the first."""
    return pd.get_dummies(table, drop_first=True).astype(float).apply(standardised).to_numpy()


class _Mode(NamedTuple):
    """Effects at their joint mode, their covariance about it, and the log marginal likelihood."""

    effects: np.ndarray
    covariance: np.ndarray
    evidence: float


@dataclass(eq=False)
class _Likelihood:
    """Outcomes of the attempted cells, by a design of effects in named blocks."""

    design: sparse.csr_matrix
    successes: np.ndarray
    trials: np.ndarray
    block: np.ndarray
    start: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.start = np.zeros(len(self.block))

    def at(self, spreads: Mapping[str, float]) -> _Mode:
        """Find the mode by Newton's steps, from where the last one was."""
        precision = np.array([spreads.get(name, USUAL) for name in self.block]) ** -2.0
        effects = self.start
        for _ in range(ROUNDS):
            chance = expit(self.design @ effects)
            curvature = self.trials * chance * (1 - chance)
            residual = self.successes - self.trials * chance
            weighed = self.design.multiply(curvature[:, None])
            hessian = (self.design.T @ weighed).toarray() + np.diag(precision)
            factor = cho_factor(hessian)
            step = cho_solve(factor, self.design.T @ residual - precision * effects)
            # a long step from afar is shortened, so that log-odds do not overshoot
            effects = effects + step * min(1.0, 5 / np.abs(step).max())
            if np.abs(step).max() < CLOSE:
                break
        self.start = effects
        odds = self.design @ effects
        likelihood = self.successes @ odds + self.trials @ log_expit(-odds)
        prior = (np.log(precision) - precision * effects**2).sum() / 2
        evidence = likelihood + prior - np.log(factor[0].diagonal()).sum()
        return _Mode(effects, cho_solve(factor, np.eye(len(effects))), float(evidence))


def factors(successes: np.ndarray, trials: np.ndarray, scale: float) -> np.ndarray:
    r"""Forecast by two factors of subjects, with loadings of items.

    .. math:: \mathrm{logit}\, p_{si} = d_i + a_{i1} f_{s1} + a_{i2} f_{s2}

    Factors are standard normal and integrated out on a grid of 25 x 25 nodes; items are at their
    posterior mode, found by EM, under d ~ Normal(0, 2.5) and a ~ Normal(0, `scale`), both apart.
    """
    line = np.linspace(-REACH, REACH, NODES)
    nodes = np.stack([axis.ravel() for axis in np.meshgrid(line, line)], axis=1)
    prior = -(nodes**2).sum(axis=1) / 2
    design = np.column_stack([np.ones(len(nodes)), nodes])
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(nodes), -1)
    precision = np.array([USUAL, scale, scale]) ** -2.0
    failures = trials - successes
    items = _first_loadings(successes, trials)
    chances = np.zeros_like(trials)
    for _ in range(5 * ROUNDS):
        odds = design @ items.T
        joint = prior + successes @ log_expit(odds).T + failures @ log_expit(-odds).T
        weight = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        before, chances = chances, weight @ expit(odds)
        if np.abs(chances - before).max() < CLOSE:
            break
        right, all_of = successes.T @ weight, trials.T @ weight  # items x nodes
        for _ in range(2):
            chance = expit(items @ design.T)
            slope = (right - all_of * chance) @ design - precision * items
            curvature = (all_of * chance * (1 - chance)) @ squares
            hessian = curvature.reshape(-1, 3, 3) + np.diag(precision)
            step = np.linalg.solve(hessian, slope[..., None])[..., 0]
            items = items + np.clip(step, -1, 1)
    return chances


def _first_loadings(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Begin with one common factor, and the largest contrast of items beside it."""
    own = (successes.sum(axis=0) + 0.5) / (trials.sum(axis=0) + 1)
    left = np.where(trials > 0, successes / np.maximum(trials, 1) - own, 0)
    left -= left.mean(axis=1, keepdims=True)
    contrast = np.linalg.svd(left, full_matrices=False)[2][0] * np.sqrt(len(own))
    return np.column_stack([logit(own), np.ones(len(own)), contrast / 2])


def chosen_factors(successes: np.ndarray, trials: np.ndarray, seed: int) -> np.ndarray:
    """Forecast by `factors` with the scale that does best on a fifth of the training cells."""
    away = np.random.default_rng([seed, 1]).random(trials.shape) < 0.2
    held = away & (trials > 0)
    share = successes[held] / trials[held]

    def loss(scale: float) -> float:
        forecast = factors(np.where(away, 0, successes), np.where(away, 0, trials), scale)
        return float((trials[held] * (forecast[held] - share) ** 2).sum())

    return factors(successes, trials, min(SCALES, key=loss))


type Rival = Callable[[Cohort, np.ndarray, np.ndarray, int], np.ndarray]

RIVALS: dict[str, Rival] = {
    "subject's mean": lambda cohort, right, tried, seed: subject_means(right, tried),
    "Rasch": lambda cohort, right, tried, seed: mixed(right, tried).chances,
    "explanatory": lambda cohort, right, tried, seed: _explained(cohort, right, tried).chances,
    "two factors": lambda cohort, right, tried, seed: chosen_factors(right, tried, seed),
}


def forecast(name: str, cohort: Cohort, held: np.ndarray, seed: int) -> np.ndarray:
    """Forecast every cell by a rival that does not see the held-out ones."""
    tried = np.where(held, 0.0, cohort.trials)
    return RIVALS[name](cohort, np.where(held, 0.0, cohort.successes), tried, seed)


def _explained(cohort: Cohort, successes: np.ndarray, trials: np.ndarray) -> Mixed:
    items = cohort.evaluation.items[list(cohort.demands)] if cohort.demands else None
    weighed = cohort.covariates[list(cohort.weighed)] if cohort.weighed else None
    return mixed(successes, trials, demands=items, covariates=weighed)
