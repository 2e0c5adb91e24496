"""A part of each subject on each item that NUTS integrates out: its scores, and its draws."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...layouts import Latent
from ..model.cell_parts import Scores
from ..model.cohort import Cohort
from ..model.new_levels import new_values
from .inner import draw_places, tables
from .joint import JointKernel

_REACH = 5.0  # standard deviations to either side
_FIRST = 21  # scores of the run that says how many are needed
_FEWEST, _MOST = 17, 64
_APART = 1.1  # posterior standard deviations of the scores of the cells that are known best
_BEST = 0.05  # part of the cells that may be known better
_LOOKED_AT = 20  # draws


def first_scores(latent: Latent) -> Scores:
    """Choose where to look at a latent in a short run."""
    return Scores(latent.name, np.linspace(-_REACH, _REACH, _FIRST))


def find_scores(cohort: Cohort, latent: Latent, pilot: Mapping[str, np.ndarray]) -> Scores | None:
    """Choose where to look at a latent; None where there would have to be too many places.

    With 10 trials in a cell and a standard deviation of up to 3 log-odds, the logarithm of the
    integral is then off by less than 1e-4 nats.

    Parameters
    ----------
    cohort : Cohort
        Layout and outcomes.
    latent : Latent
        Which.
    pilot : mapping of str to ndarray
        By latent, draws of a short run, shape (1, draws, levels..., labels...).
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
    """Compile the density at moved scores, given all other latents."""
    others = frozenset(one.name for one in cohort.layout.latents if one.name != scores.latent)
    return JointKernel(cohort, given=others, scores=scores)


def _shape(kernel: JointKernel, scores: Scores) -> tuple[int, int]:
    return len(kernel.rows.trials), len(scores.at)


class InnerCells:
    """Draws a latent of each cell given all others.

    Parameters
    ----------
    cohort : Cohort
        Layout and outcomes.
    latent : Latent
        Which.
    scores : Scores
        Where its density is looked at.
    """

    def __init__(self, cohort: Cohort, latent: Latent, scores: Scores) -> None:
        self.latent, self._cohort, self._scores = latent, cohort, scores
        self._kernel = _given_others(cohort, scores)
        self._kernel.compiled()  # here and not by each chain: chains are threads

    def draw(self, shared: Mapping[str, np.ndarray], seed: int) -> np.ndarray:
        """Draw it for all subjects on all items, once for each draw of the others.

        A cell that was not attempted has a draw from its prior.

        Parameters
        ----------
        shared : mapping of str to ndarray
            By latent, shape (chains, draws, levels..., labels...).
        seed : int
            Of the draws.

        Returns
        -------
        ndarray, shape (chains, draws, *plates)
            The draws.
        """
        cohort, rng = self._cohort, np.random.default_rng([seed, 1])
        count, _ = _shape(self._kernel, self._scores)
        drawn = draw_places(self._kernel, count, self._scores.at, shared, rng)
        chains, draws = drawn.shape[:2]
        found = rng.standard_normal((chains, draws, *cohort.size(self.latent.plates)))
        at: Any = (..., *(cohort.codes(plate) for plate in self.latent.plates))
        found[at] = drawn[:, :, : len(cohort.trials)]  # cells come first among the rows
        flat = found.reshape(-1, *found.shape[2:])
        known = {name: values.reshape(-1, *values.shape[2:]) for name, values in shared.items()}
        known |= {name: values[None] for name, values in cohort.covariates.items()}
        fitted = {name: len(levels) for name, levels in cohort.levels.items()}
        values = new_values(self.latent, flat, known, cohort, fitted)
        return values.reshape(found.shape)
