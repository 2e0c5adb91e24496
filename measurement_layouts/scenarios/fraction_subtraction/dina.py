"""The DINA model by maximum likelihood, which estimates skills from all pupils together."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

_STEPS, _SETTLED = 2000, 1e-3  # largest number of steps; smallest gain of a step, in nats
_START = 0.2
_INSIDE = 1e-4


@dataclass(frozen=True, eq=False)
class Dina:
    """Estimates of the DINA model.

    Attributes
    ----------
    masteries : DataFrame
        Probability that a pupil (row) has a skill (column).
    items : DataFrame
        ``guess`` and ``slip`` of each item.
    log_likelihood : float
        Log-likelihood of the estimates, in nats.
    """

    masteries: pd.DataFrame
    items: pd.DataFrame
    log_likelihood: float

    @property
    def prevalence(self) -> pd.Series:
        """Share of the pupils that have each skill."""
        return self.masteries.mean().rename("prevalence")


def dina(answers: pd.DataFrame, needed: pd.DataFrame) -> Dina:
    r"""Fit the DINA model by expectation and maximisation.

    .. math:: P(X_{ij} = 1) = (1 - s_j)^{\eta_{ij}} g_j^{1 - \eta_{ij}}, \quad
        \eta_{ij} = \prod_k \alpha_{ik}^{q_{jk}}

    Unlike a measurement layout of single pupils, the model pools all pupils: items have slips and
    guesses, and the frequencies of all sets of skills are estimated. It is therefore an independent
    estimate with which profiles can be compared.

    Parameters
    ----------
    answers : DataFrame
        Answers, 0 or 1, with one row per pupil and one column per item.
    needed : DataFrame
        Needed skills, 0 or 1, with one row per item and one column per skill.

    Returns
    -------
    Dina
        Estimates. Sets of skills that solve the same items cannot be distinguished and have equal
        shares.

    References
    ----------
    Junker and Sijtsma (2001), section 2, the DINA model.

    Examples
    --------
    >>> needed = pd.DataFrame({"add": [1, 1, 0, 0], "carry": [0, 0, 1, 1]})
    >>> answers = pd.DataFrame([[1, 1, 0, 0], [1, 1, 1, 1]] * 4 + [[0] * 4] * 2)
    >>> dina(answers, needed).prevalence.round(2).to_dict()
    {'add': 0.8, 'carry': 0.4}
    """
    right, asked = answers.to_numpy(float), needed.to_numpy(float)
    sets = np.array(list(itertools.product((0.0, 1.0), repeat=asked.shape[1])))
    solved = (sets @ asked.T >= asked.sum(axis=1)).astype(float)
    able, alike, counts = np.unique(solved, axis=0, return_inverse=True, return_counts=True)
    skills = np.stack([sets[alike == place].mean(axis=0) for place in range(len(able))])
    share = counts / len(sets)
    guess, slip = np.full((2, asked.shape[0]), _START)
    before = -np.inf
    for _ in range(_STEPS):
        chance = able * (1 - slip) + (1 - able) * guess
        joint = right @ np.log(chance).T + (1 - right) @ np.log1p(-chance).T + np.log(share)
        total = logsumexp(joint, axis=1, keepdims=True)
        weight, likelihood = np.exp(joint - total), float(total.sum())
        if likelihood - before < _SETTLED:
            break
        before = likelihood
        share = np.maximum(weight.mean(axis=0), np.finfo(float).tiny)
        knows = weight @ able
        slip = _share(1 - right, knows)
        guess = _share(right, 1 - knows)
    names = needed.columns
    return Dina(
        pd.DataFrame(weight @ skills, answers.index, names),
        pd.DataFrame({"guess": guess, "slip": slip}, needed.index),
        likelihood,
    )


def _share(outcome: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compute the weighted share of pupils with an outcome, per item, clipped off 0 and 1."""
    found = (outcome * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), _INSIDE)
    inside: np.ndarray = np.clip(found, _INSIDE, 1 - _INSIDE)
    return inside
