"""Latents per subject and item that are integrated out during sampling: their scores and draws."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...layouts import Latent
from ..model.cell_parts import Scores
from ..model.cohort import Cohort
from ..model.new_levels import new_values
from .inner import draw_places, tables
from .joint import JointKernel

_REACH = 5.0  # largest score, on both sides
_FIRST = 21  # number of scores of the short run, from which the number needed is found
_FEWEST, _MOST = 17, 64
_APART = 1.1  # distance of scores, in the posterior standard deviations of precise cells
_BEST = 0.05  # part of the cells that may have smaller posterior standard deviations
_LOOKED_AT = 20  # number of draws that are examined


def first_scores(latent: Latent) -> Scores:
    """Return the scores of a latent in the short run."""
    return Scores(latent.name, np.linspace(-_REACH, _REACH, _FIRST))


def find_scores(cohort: Cohort, latent: Latent, pilot: Mapping[str, np.ndarray]) -> Scores | None:
    """Choose the scores of a latent; None if too many would be needed.

    With 10 trials in a cell and a standard deviation of up to 3 log-odds, the error of the
    logarithm of the integral is below 1e-4 nats.

    Parameters
    ----------
    cohort : Cohort
        Layout and outcomes.
    latent : Latent
        The latent to integrate out.
    pilot : mapping of str to ndarray
        Draws of the other latents from a short run, shape (1, draws, levels..., labels...).
    """
    scores = first_scores(latent)
    kernel = _given_others(cohort, scores)
    count = next(iter(pilot.values())).shape[1]
    chosen = np.linspace(0, count - 1, min(count, _LOOKED_AT)).astype(int)
    some = {name: values[:, chosen] for name, values in pilot.items()}
    found = []
    for table in tables(kernel, _shape(kernel, scores), some, np.zeros((1, len(chosen)))):
        chances = np.exp(table - table.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        found.append(chances @ scores.at**2 - (chances @ scores.at) ** 2)
    apart = _APART * np.sqrt(max(np.quantile(found, _BEST), 1e-12))
    needed = int(np.ceil(2 * _REACH / apart)) + 1
    if needed > _MOST:
        return None
    return Scores(latent.name, np.linspace(-_REACH, _REACH, max(needed, _FEWEST)))


def _given_others(cohort: Cohort, scores: Scores) -> JointKernel:
    """Compile the density at shifted scores, given all other latents."""
    others = frozenset(one.name for one in cohort.layout.latents if one.name != scores.latent)
    return JointKernel(cohort, given=others, scores=scores)


def _shape(kernel: JointKernel, scores: Scores) -> tuple[int, int]:
    return len(kernel.rows.trials), len(scores.at)


class InnerCells:
    """Sampler of a latent per subject and item, given draws of all other latents.

    Parameters
    ----------
    cohort : Cohort
        Layout and outcomes.
    latent : Latent
        The latent that was integrated out.
    scores : Scores
        Scores at which its density is computed.
    """

    def __init__(self, cohort: Cohort, latent: Latent, scores: Scores) -> None:
        self.latent, self._cohort, self._scores = latent, cohort, scores
        self._kernel = _given_others(cohort, scores)
        self._kernel.compiled()  # once, and not in each chain's thread

    def draw(self, shared: Mapping[str, np.ndarray], seed: int) -> np.ndarray:
        """Draw the latent for all subjects and items, once for each draw of the other latents.

        Values of cells that were not attempted are drawn from the prior.

        Parameters
        ----------
        shared : mapping of str to ndarray
            Draws of the other latents, shape (chains, draws, levels..., labels...).
        seed : int
            Seed of the draws.

        Returns
        -------
        ndarray, shape (chains, draws, *plates)
            Draws of the latent.
        """
        cohort, rng = self._cohort, np.random.default_rng([seed, 1])
        count, _ = _shape(self._kernel, self._scores)
        drawn = draw_places(self._kernel, count, self._scores.at, shared, rng)
        chains, draws = drawn.shape[:2]
        found = rng.standard_normal((chains, draws, *cohort.size(self.latent.plates)))
        at: Any = (..., *(cohort.codes(plate) for plate in self.latent.plates))
        found[at] = drawn[:, :, : len(cohort.trials)]  # the attempted cells are the first rows
        flat = found.reshape(-1, *found.shape[2:])
        known = {name: values.reshape(-1, *values.shape[2:]) for name, values in shared.items()}
        known |= {name: values[None] for name, values in cohort.covariates.items()}
        fitted = {name: len(levels) for name, levels in cohort.levels.items()}
        values = new_values(self.latent, flat, known, cohort, fitted)
        return values.reshape(found.shape)
