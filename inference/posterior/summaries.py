"""Summaries of profile elements, computed once for a subject and kept with the fit."""

import math
from dataclasses import dataclass

import numpy as np

from ...common.threads import side_by_side
from ..sampling.convergence import by_element, rhat_ess
from .posterior import Posterior
from .shared import own_latents
from .valleys import describe_modes

# an element is prior-dominated if less than the first part of its prior variance is removed by the
# data, and its mean moves by less than the second number of the prior's standard deviations
LITTLE_LEARNT = 0.1
LITTLE_MOVED = 0.5
_BLOCK = 2**19  # bytes of a latent's draws read at a time; with more, memory access dominates


@dataclass(frozen=True, eq=False)
class _Kept:
    """Summaries of those of a fit's subjects for which they have been computed.

    Attributes
    ----------
    columns : dict of str to ndarray, shape (subjects, elements)
        By name; empty until the first summaries are computed.
    known : ndarray of bool, shape (subjects,)
        Whether a subject's summaries have been computed.
    """

    columns: dict[str, np.ndarray]
    known: np.ndarray

    def add(self, rows: np.ndarray, found: dict[str, np.ndarray]) -> None:
        """Store summaries of some subjects."""
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
        Positions of the subjects in the fit.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    dict of str to ndarray, shape (rows, elements)
        Columns of `diagnostics.profiles` by name, except that ``prior_dominated`` does not depend
        on the outcomes. They are copies, so that changes do not affect the kept summaries.

    Notes
    -----
    Summaries are kept with the fit and not computed again. Draws of a fit must not be changed in
    place; `dataclasses.replace` makes a new fit of other draws, with its own summaries.
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
    """Divide subjects' rows into blocks, to bound the memory of one latent's draws."""
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
    """Summarise draws of one latent, (subject or level, element, chain, draw), given its prior.

    Parameters
    ----------
    draws : ndarray, shape (subjects or levels, elements, chains, draws)
        Posterior draws.
    prior : ndarray, shape (draws,) or (draws, labels)
        Prior draws of one subject or level. Elements are its labels, or repetitions of them.
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
    places = tail * np.array([0.5, 1, 1.5])  # the outer two quantiles give the density's estimate
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
