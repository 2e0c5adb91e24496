"""Log-likelihood of a new subject or a new item, given draws of the shared values."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...evaluations.subject_data import EDGE
from ...layouts import Latent
from ...layouts.plates import SUBJECT
from ..cells import CellEvaluator
from ..model.alignment import leaves
from ..model.new_levels import new_values
from .joining import Joined

_BLOCK = 2**16  # probabilities computed at a time, so that they fit into a processor's cache
NEVER = -1e300  # nats, where a probability is undefined; finite, so that multiples are not NaN


@dataclass(frozen=True, eq=False)
class Target:
    """A newcomer's log-likelihood, as a function of its scores and of a draw of the shared values.

    A newcomer is a subject or an item. Its values are those of the latents with that plate, and are
    expressed as standard normal scores, so that their prior does not depend on the shared values;
    see `families.from_scores`.

    Attributes
    ----------
    joined : Joined
        The newcomer among the levels of the fit.
    shared : dict of str to ndarray
        By latent without the newcomer's plate, shape (draws, levels..., labels...).
    plate : str
        Plate of the newcomer: that of subjects or that of items.
    offsets : dict of str to ndarray
        By latent of the newcomer, a number that is added to its values, shape (draws, levels...); 0
        by default.
    """

    joined: Joined
    shared: Mapping[str, np.ndarray]
    plate: str = SUBJECT
    offsets: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Hash of the data and of the draws of the shared values."""
        digest = hashlib.blake2b(self.joined.whole.digest.encode(), digest_size=16)
        for name, values in sorted(self.shared.items()):
            digest.update(f"{name}{values.shape}".encode())
            digest.update(np.ascontiguousarray(values, dtype=float))
        return digest.hexdigest()

    @cached_property
    def count(self) -> int:
        """Number of draws of the shared values."""
        return max((len(values) for values in self.shared.values()), default=1)

    @cached_property
    def shapes(self) -> dict[Latent, tuple[int, ...]]:
        """Shape of the newcomer's values, by latent."""
        cohort = self.joined.own
        return {
            latent: (*cohort.size(latent.plates), *map(len, latent.dims.values()))
            for latent in cohort.layout.latents
            if self.plate in latent.plates
        }

    @cached_property
    def active(self) -> np.ndarray:
        """Mask of the scores that the outcomes depend on: those of levels that were attempted."""
        masks = [np.zeros(0, dtype=bool)]
        for latent, shape in self.shapes.items():
            mask = np.full(shape, any(one.family == "ZeroSumNormal" for one in latent.priors))
            mask[tuple(self.joined.own.codes(plate) for plate in latent.plates)] = True
            masks.append(mask.ravel())
        return np.concatenate(masks)

    def values(self, scores: np.ndarray, picks: np.ndarray) -> dict[str, np.ndarray]:
        """Compute the newcomer's values, shape (particles, levels..., labels...).

        Parameters
        ----------
        scores : ndarray, shape (particles, scores)
            All scores.
        picks : ndarray of int, shape (particles,)
            For each particle, a position among the draws of the shared values.
        """
        cohort = self.joined.own
        parents = {name: self.shared[name][picks] for name in self._shared_parents}
        parents |= {name: values[None] for name, values in cohort.covariates.items()}
        values_of, start = dict[str, np.ndarray](), 0
        for latent, shape in self.shapes.items():
            stop = start + math.prod(shape)
            of_latent = scores[:, start:stop].reshape(-1, *shape)
            values = new_values(
                latent, of_latent, parents, cohort, self.joined.fitted, (self.plate,)
            )
            if latent.name in self.offsets:
                values = values + self.offsets[latent.name][picks]
            values_of[latent.name] = parents[latent.name] = values
            start = stop
        return values_of

    @cached_property
    def _shared_parents(self) -> set[str]:
        """Names of the shared latents that priors of the newcomer's values depend on."""
        parameters = [value for latent in self.shapes for value in latent.parents]
        return {leaf.name for value in parameters for leaf in leaves(value)} & set(self.shared)

    def at(self, rows: np.ndarray, successes: np.ndarray, trials: np.ndarray) -> "Target":
        """Return the target for some of the newcomer's cells, with other outcomes."""
        own = self.joined.own
        cells = replace(
            own,
            subject=own.subject[rows],
            row=own.row[rows],
            successes=successes,
            trials=trials,
        )
        return replace(self, joined=replace(self.joined, own=cells))

    def log_likelihood(self, scores: np.ndarray, picks: np.ndarray) -> np.ndarray:
        """Compute the log-likelihood of active scores, in nats, up to a constant.

        Parameters
        ----------
        scores : ndarray, shape (particles, active scores)
            Active scores.
        picks : ndarray of int, shape (particles,)
            For each particle, a position among the draws of the shared values.

        Returns
        -------
        ndarray, shape (particles,)
            Log-likelihoods; -1e300 where a success probability is undefined.
        """
        size = max(1, _BLOCK // max(1, len(self.joined.own.row), len(self.active)))
        sums = np.empty(len(picks))
        for start in range(0, len(picks), size):
            block = slice(start, start + size)
            all_scores = np.zeros((len(scores[block]), len(self.active)))
            all_scores[:, self.active] = scores[block]
            values = self.values(all_scores, picks[block])
            sums[block] = self.log_likelihood_of(values, picks[block])
        return sums

    def log_likelihood_of(self, values: Mapping[str, np.ndarray], picks: np.ndarray) -> np.ndarray:
        """Compute the log-likelihood of values that `values` returned; as `log_likelihood`."""
        sums = self._cells.log_likelihood(self._draws(values, picks))
        return np.where(np.isnan(sums), NEVER, sums)

    def chances_of(self, values: Mapping[str, np.ndarray], picks: np.ndarray) -> np.ndarray:
        """Compute the probability of success in each cell, from values that `values` returned.

        Returns
        -------
        ndarray, shape (cells, particles)
            Success probabilities, at least 1e-12 from 0 and 1; NaN where undefined.
        """
        return self._cells.chances(self._draws(values, picks)).clip(EDGE, 1 - EDGE)

    @cached_property
    def _cells(self) -> CellEvaluator:
        return CellEvaluator(self.joined.own)

    @cached_property
    def _shared_by_level(self) -> dict[str, np.ndarray]:
        draws = self._cells.draws_by_level(self.shared)
        return {name: np.ascontiguousarray(numbers) for name, numbers in draws.items()}

    def _draws(self, values: Mapping[str, np.ndarray], picks: np.ndarray) -> dict[str, np.ndarray]:
        """Arrange the shared values and the newcomer's for some particles."""
        shared = {name: numbers[..., picks] for name, numbers in self._shared_by_level.items()}
        return shared | self._cells.draws_by_level(values)
