"""Numbers that summarise profile elements: computed once for a subject, and kept with the fit."""

import math
from dataclasses import dataclass

import numpy as np

from ...common.threads import side_by_side
from ..sampling.convergence import by_element, rhat_ess
from .posterior import Posterior
from .shared import own_latents
from .valleys import describe_modes

LITTLE_LEARNT = 0.1  # variance removed by the data, below which an element is prior-dominated ...
LITTLE_MOVED = 0.5  # ... unless the mean moved by so many of the prior's standard deviations
_BLOCK = 2**19  # bytes of a latent's draws taken at a time; with more, memory is the slow part


@dataclass(frozen=True, eq=False)
class _Kept:
    """Summaries of a fit's subjects, as far as they have been computed.

    Attributes
    ----------
    columns : dict of str to ndarray, shape (subjects, elements)
        By name; empty before the first are computed.
    known : ndarray of bool, shape (subjects,)
        Whose there are.
    """

    columns: dict[str, np.ndarray]
    known: np.ndarray

    def add(self, rows: np.ndarray, found: dict[str, np.ndarray]) -> None:
        """Keep summaries of some subjects."""
        for name, values in found.items():
            if name not in self.columns:
                shape = len(self.known), values.shape[1]
                self.columns[name] = np.empty(shape, values.dtype)
            self.columns[name][rows] = values
        self.known[rows] = True


def summaries(fit: Posterior, rows: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise every profile element of some subjects.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    rows : ndarray of int
        The subjects' places in the fit.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    dict of str to ndarray, shape (rows, elements)
        Columns of `diagnostics.profiles` by name, but that ``prior_dominated`` knows nothing of the
        outcomes. They are copies: what is kept cannot be changed through them.

    Notes
    -----
    Summaries are kept with the fit and not computed again. Draws of a fit are not to be changed in
    place; `dataclasses.replace` makes another fit of other draws, which keeps its own.
    """
    kept = fit.kept.setdefault(prob, _Kept({}, np.zeros(len(fit.subjects), dtype=bool)))
    missing = rows[~kept.known[rows]]
    if len(missing) or not kept.columns:
        blocks = subject_blocks(fit, missing)
        parts = side_by_side(_summaries, [(fit, block, prob) for block in blocks])
        for block, part in zip(blocks, parts, strict=True):
            kept.add(block, part)
    return {name: values[rows] for name, values in kept.columns.items()}


def subject_blocks(fit: Posterior, rows: np.ndarray) -> list[np.ndarray]:
    """Cut subjects' rows into blocks whose draws of one latent take up little memory."""
    draws = fit.posterior
    largest = max(draws[latent.name].nbytes for latent in own_latents(fit.layout))
    most = max(1, _BLOCK * draws.sizes["subject"] // largest)
    return np.array_split(rows, max(1, -(-len(rows) // most)))


def _summaries(fit: Posterior, rows: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise some subjects' draws; each column is of shape (subjects, elements)."""
    posterior = fit.posterior.variables
    parts = []
    for latent in own_latents(fit.layout):
        draws = by_element(posterior[latent.name][rows].to_numpy())
        parts.append(summarise(draws, fit.prior[latent.name], prob))
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def summarise(draws: np.ndarray, prior: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise draws of one latent, (subject or level, element, chain, draw), beside its prior's.

    Parameters
    ----------
    draws : ndarray, shape (subjects or levels, elements, chains, draws)
        Of the posterior.
    prior : ndarray, shape (draws,) or (draws, labels)
        Of one subject or level; elements are its labels, or these again and again.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    dict of str to ndarray, shape (subjects or levels, elements)
        Columns by name.
    """
    flat = draws.reshape(*draws.shape[:2], math.prod(draws.shape[2:]))
    prior = prior.reshape(len(prior), -1)
    prior = np.tile(prior, draws.shape[1] // prior.shape[1])
    tail = (1 - prob) / 2
    places = tail * np.array([0.5, 1, 1.5])  # slopes between the outer ones give the density
    ordered = np.sort(flat, axis=-1)
    ends = np.quantile(ordered, np.concatenate([places, 1 - places[::-1]]), axis=-1)
    mean, variance = flat.mean(axis=-1), flat.var(axis=-1, ddof=1)
    shrinkage = 1 - variance / prior.var(axis=0, ddof=1)
    moved = abs(mean - prior.mean(axis=0)) / prior.std(axis=0, ddof=1)
    mixed = rhat_ess(draws)
    counted = np.sqrt(tail * (1 - tail) / mixed.ess_tail) / tail
    return {
        "mean": mean,
        "sd": np.sqrt(variance),
        "low": ends[1],
        "high": ends[4],
        "low_error": (ends[2] - ends[0]) * counted,
        "high_error": (ends[5] - ends[3]) * counted,
        "ess_bulk": mixed.ess_bulk,
        "ess_tail": mixed.ess_tail,
        "rhat": mixed.rhat,
        "shrinkage": shrinkage,
        "prior_dominated": (shrinkage < LITTLE_LEARNT) & (moved < LITTLE_MOVED),
        "modes": describe_modes(draws, ordered, mixed.rhat),
    }
