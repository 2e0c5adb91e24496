"""Draws of a joint fit's latents at levels that may not be in the fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.seeds import subject_seed
from ...layouts import Latent, Prior
from ...layouts.plates import SUBJECT, Plate, determines, plate_name
from ...linking import Expr, evaluate
from ..model.alignment import align, leaves
from ..model.cohort import Cohort
from ..model.new_levels import from_scores
from ..posterior.cohort import draws_at
from ..posterior.posterior import Posterior

_STANDARD = Prior("Normal", mu=0, sigma=1)


@dataclass(frozen=True, eq=False)
class Levels:
    r"""Draws of a joint fit's latents, also at levels that are not in the fit.

    A new level has one value per posterior draw, drawn from its prior given the other values of
    that draw. The value depends only on the fit's seed and on the names of the latent and of the
    level, so that it is the same in every forecast. If the latent sums to zero over n levels, the
    value of a new level has the distribution

    .. math:: \mathrm{Normal}(0, s \sqrt{1 + 1/n})

    which is that of the difference between another independent value and the mean of n. If the
    latent sums to zero over several plates, each contributes such a factor, which is
    :math:`\sqrt{1 - 1/n}` where the level of that plate is in the fit.

    Attributes
    ----------
    fit : Posterior
        A joint fit.
    cohort : Cohort
        Levels of the fit, followed by new levels.
    fitted : dict of str to int
        By plate, the number of levels of the fit.
    """

    fit: Posterior
    cohort: Cohort
    fitted: Mapping[str, int]

    def at(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Return draws at levels of a latent's plates.

        Parameters
        ----------
        latent : Latent
            The latent.
        codes : ndarray of int, shape (levels, plates)
            Positions of the levels in the cohort.

        Returns
        -------
        ndarray, shape (draws, levels, labels)
            Draws; the last axis is absent if the latent has no labels.

        Raises
        ------
        FitError
            When values at a new level cannot be drawn from the prior.
        """
        new = self._new(latent, codes)
        if not new.any():
            return draws_at(self.fit, latent, codes)
        fresh = self._fresh(latent, codes[new])
        found = np.empty((len(fresh), len(codes), *fresh.shape[2:]))
        found[:, new] = fresh
        found[:, ~new] = draws_at(self.fit, latent, codes[~new])
        return found

    def _new(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Mark the levels that are new on at least one plate."""
        known = [self.fitted[plate_name(plate)] for plate in latent.plates]
        return np.asarray((codes >= np.array(known, dtype=int)).any(axis=1))

    def _fresh(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Draw values at new levels from the prior, given the draws of its parameters."""
        scores = self._scores(latent, codes)
        if not isinstance(latent.prior, tuple):
            return self._drawn(latent, latent.priors[0], codes, scores, latent.label_dims)
        parts = [
            self._drawn(latent, prior, codes, scores[..., place], ())
            for place, prior in enumerate(latent.priors)
        ]
        return np.stack(parts, axis=-1)

    def _scores(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Draw the standard normal score of each value: (draws, levels, labels)."""
        sizes, seed = self.fit.posterior.sizes, int(self.fit.data.attrs["seed"])
        shape = (sizes["chain"] * sizes["draw"], *map(len, latent.dims.values()))
        names = [plate_name(plate) for plate in latent.plates]
        found = np.zeros((shape[0], len(codes), *shape[1:]))
        for place, own in enumerate(codes):
            levels = [self.cohort.levels[name][code] for name, code in zip(names, own, strict=True)]
            rng = np.random.default_rng(subject_seed(seed, repr((latent.name, *levels))))
            found[:, place] = rng.standard_normal(shape)
        return found

    def _drawn(
        self,
        latent: Latent,
        prior: Prior,
        codes: np.ndarray,
        scores: np.ndarray,
        labels: tuple[str, ...],
    ) -> np.ndarray:
        """Convert normal scores to values of a prior."""
        given = {name: self._parameter(latent, value, codes, labels) for name, value in prior.shown}
        if not prior.zero_sum_axes:
            return from_scores(latent.name, prior, given, scores)
        scale = self._of_one_more(latent, codes, prior.zero_sum_axes)
        spread = given["sigma"] * scale.reshape(-1, *(1 for _ in labels))
        return from_scores(latent.name, _STANDARD, {"mu": np.zeros(1), "sigma": spread}, scores)

    def _of_one_more(self, latent: Latent, codes: np.ndarray, axes: int) -> np.ndarray:
        """Compute factors of the standard deviation at levels of a latent that sums to zero."""
        found = np.ones(len(codes))
        for axis in range(len(latent.plates) - axes, len(latent.plates)):
            count = self.fitted[plate_name(latent.plates[axis])]
            found *= np.sqrt(1 + np.where(codes[:, axis] >= count, 1, -1) / count)
        return found

    def _parameter(
        self, latent: Latent, value: Expr, codes: np.ndarray, labels: tuple[str, ...]
    ) -> np.ndarray:
        """Compute a parameter at levels of a latent: (draws, levels, labels), or ones for these."""
        dims, known = tuple(self.fit.layout.dims), dict[str, Any]()
        for part in leaves(value):
            if isinstance(part, Latent):
                at = [self._above(latent, codes, plate) for plate in part.plates]
                chosen = self.at(part, np.stack(at, axis=1) if at else np.zeros((1, 0), dtype=int))
            else:
                own = self.cohort.covariates[part.name]
                chosen = own[self._above(latent, codes, SUBJECT)][None]
            known[part.name] = align(chosen, part, dims, leading=1, per_item=True)
        found = np.asarray(evaluate(value, known, dims))
        found = found.reshape((1,) * (2 + len(dims) - found.ndim) + found.shape)
        absent = tuple(2 + axis for axis, dim in enumerate(dims) if dim not in labels)
        return np.squeeze(found, axis=absent)

    def _above(self, latent: Latent, codes: np.ndarray, coarser: Plate) -> np.ndarray:
        """Find the level of a coarser plate for each level of a latent's plates."""
        axis = next(
            place for place, plate in enumerate(latent.plates) if determines([plate], [coarser])
        )
        return np.asarray(self.cohort.up(latent.plates[axis], coarser)[codes[:, axis]])
