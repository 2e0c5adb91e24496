"""A logistic model with two factors of subjects, which are integrated out on a grid."""

import numpy as np
from scipy.special import expit, log_expit, logit, logsumexp

INTERCEPT = 2.5  # prior standard deviation, in log-odds
SCALES = (0.5, 1.0, 2.0, 4.0)  # prior standard deviations of loadings that are tried
NODES = 25  # of each factor
REACH = 4.0  # prior standard deviations that the nodes cover, to either side
ROUNDS, CLOSE = 500, 1e-4  # of EM, and the change of chances at which it ends


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
    precision = np.array([INTERCEPT, scale, scale]) ** -2.0
    failures = trials - successes
    items = _first_loadings(successes, trials)
    chances = np.zeros_like(trials)
    for _ in range(ROUNDS):
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
