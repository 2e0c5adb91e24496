"""A logistic model with normal effects of subjects and items, by Laplace's approximation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from population_data import standardised
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, log_expit

USUAL = 2.5  # prior standard deviation of intercept and covariates' weights, in log-odds
LOGARITHMS = (-4.0, 3.0)  # of standard deviations, where they are searched for
STEPS, CLOSE, LONGEST = 100, 1e-4, 5.0  # of Newton's method


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
    of_subjects = {} if covariates is None else {"covariates": _numbers(covariates)}
    of_items = {} if demands is None else {"demands": _numbers(demands)}
    # the larger of both is eliminated from every system of equations
    turned = items > subjects
    if turned:
        successes, trials = successes.T, trials.T
        few, of_many, of_few = "subjects", of_items, of_subjects
    else:
        few, of_many, of_few = "items", of_subjects, of_items
    many = "items" if turned else "subjects"
    blocks = {"intercept": np.ones((*trials.shape, 1))}
    blocks |= {name: _spread(table[:, None], trials) for name, table in of_many.items()}
    blocks |= {name: _spread(table[None], trials) for name, table in of_few.items()}
    blocks[few] = _spread(np.eye(trials.shape[1])[None], trials)
    names = np.repeat(list(blocks), [block.shape[2] for block in blocks.values()])
    cells = Cells(successes, trials, np.concatenate(list(blocks.values()), axis=2), names, many)
    own = [name for name in (*blocks, many) if name not in ("intercept", "covariates")]
    corners = np.vstack([np.zeros(len(own)), np.eye(len(own))]) - 0.3
    found = minimize(
        lambda logs: -cells.at(dict(zip(own, np.exp(logs), strict=True))).evidence,
        np.zeros(len(own)),
        method="Nelder-Mead",
        bounds=[LOGARITHMS] * len(own),
        options={"initial_simplex": corners, "xatol": 0.01, "fatol": 0.01},
    )
    spreads = dict(zip(own, np.exp(found.x).tolist(), strict=True))
    mode = cells.at(spreads)
    chances = averaged(*cells.odds(mode))
    return Mixed(chances.T if turned else chances, spreads, mode.common[names == "covariates"])


def averaged(mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Average the logistic function over normal log-odds, by Gauss and Hermite."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(21)
    return expit(mean[..., None] + spread[..., None] * nodes) @ (shares / shares.sum())


class Mode(NamedTuple):
    r"""Effects at their joint mode, and how sharp it is.

    The negative Hessian is ``[[diag(d), b], [b.T, c]]``, the effects of the many first. Kept are d,
    b / d and Cholesky's factor of Schur's complement ``c - b.T (b / d)``.
    """

    own: np.ndarray
    common: np.ndarray
    sharpness: np.ndarray
    coupling: np.ndarray
    factor: tuple[np.ndarray, bool]
    evidence: float


@dataclass(eq=False)
class Cells:
    """Outcomes of many x few cells, one effect for each of the many, others by a design.

    Attributes
    ----------
    successes, trials : ndarray
        Many x few; 0 trials weigh nothing.
    design : ndarray
        Many x few x effects.
    block : ndarray of str
        By effect of the design, its block.
    many : str
        The block of the many.
    """

    successes: np.ndarray
    trials: np.ndarray
    design: np.ndarray
    block: np.ndarray
    many: str
    start: tuple[np.ndarray, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        self.start = np.zeros(len(self.trials)), np.zeros(len(self.block))

    def at(self, spreads: Mapping[str, float]) -> Mode:
        """Find the mode by Newton's steps, from where the last one was; and the evidence."""
        flat = self.design.reshape(-1, len(self.block))
        own_precision = spreads[self.many] ** -2.0
        precision = np.array([spreads.get(name, USUAL) for name in self.block]) ** -2.0
        own, common = self.start
        for _ in range(STEPS):
            chance = expit(own[:, None] + self.design @ common)
            curvature = self.trials * chance * (1 - chance)
            residual = self.successes - self.trials * chance
            weighed = self.design * curvature[..., None]
            sharpness = curvature.sum(axis=1) + own_precision
            across = weighed.sum(axis=1)
            coupling = across / sharpness[:, None]
            inner = weighed.reshape(flat.shape).T @ flat + np.diag(precision)
            factor = cho_factor(inner - across.T @ coupling)
            own_slope = residual.sum(axis=1) - own_precision * own
            slope = residual.ravel() @ flat - precision * common - coupling.T @ own_slope
            step = cho_solve(factor, slope)
            own_step = own_slope / sharpness - coupling @ step
            longest = max(np.abs(step).max(), np.abs(own_step).max())
            # a long step from afar is shortened, so that log-odds do not overshoot
            share = min(1.0, LONGEST / max(longest, CLOSE))
            own, common = own + share * own_step, common + share * step
            if longest < CLOSE:
                break
        self.start = own, common
        odds = own[:, None] + self.design @ common
        evidence = (self.successes * odds + self.trials * log_expit(-odds)).sum()
        evidence += (np.log(precision) - precision * common**2).sum() / 2
        evidence += (np.log(own_precision) - own_precision * own**2).sum() / 2
        evidence -= np.log(factor[0].diagonal()).sum() + np.log(sharpness).sum() / 2
        return Mode(own, common, sharpness, coupling, factor, float(evidence))

    def odds(self, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each cell's log-odds."""
        mean = mode.own[:, None] + self.design @ mode.common
        apart = self.design - mode.coupling[:, None, :]
        solved = cho_solve(mode.factor, apart.reshape(-1, len(self.block)).T).T
        variance = (apart * solved.reshape(apart.shape)).sum(axis=2) + 1 / mode.sharpness[:, None]
        return mean, np.sqrt(variance)


def _numbers(table: pd.DataFrame) -> np.ndarray:
    """Standardise columns; texts become a flag for each value but the first."""
    return pd.get_dummies(table, drop_first=True).astype(float).apply(standardised).to_numpy()


def _spread(table: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Give a table to every cell."""
    return np.broadcast_to(table, (*trials.shape, table.shape[2]))
