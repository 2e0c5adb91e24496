"""Log-likelihood of a new subject or a new item, given draws of the shared values."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...layouts import Latent
from ...layouts.plates import SUBJECT
from ..model.alignment import leaves
from ..model.cells import bounded, by_cell, features_by_cell, log_likelihoods
from ..model.new_levels import new_values
from .joining import Joined

_BLOCK = 2**15  # probabilities computed at a time, so that they fit into a processor's cache
NEVER = -1e300  # nats, where a probability is undefined; finite, so that multiples are not NaN


@dataclass(frozen=True, eq=False)
class Target:
    """A newcomer's log-likelihood, as a function of own scores and of a draw of the shared values.

    A newcomer is a subject or an item. Its own values are those of the latents with that plate.

    Own values are expressed as standard normal scores, so that their prior does not depend on the
    shared values; see `new_levels.from_scores`.

    Attributes
    ----------
    joined : Joined
        The newcomer among the levels of the fit.
    shared : dict of str to ndarray
        By latent without a value per subject, shape (draws, levels..., labels...).
    plate : str
        Plate of the newcomer: that of subjects or that of items.
    about : dict of str to ndarray
        By own latent, an offset that is added to its values, shape (draws, levels...); 0 by
        default.
    """

    joined: Joined
    shared: Mapping[str, np.ndarray]
    plate: str = SUBJECT
    about: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Hash of the data and of the draws of the shared values."""
        hashed = hashlib.blake2b(self.joined.whole.digest.encode(), digest_size=16)
        for name, values in sorted(self.shared.items()):
            hashed.update(f"{name}{values.shape}".encode())
            hashed.update(np.ascontiguousarray(values, dtype=float))
        return hashed.hexdigest()

    @cached_property
    def count(self) -> int:
        """Number of draws of the shared values."""
        return max((len(values) for values in self.shared.values()), default=1)

    @cached_property
    def own(self) -> list[tuple[Latent, tuple[int, ...], slice]]:
        """The newcomer's latents, with their shape and their part of all scores."""
        cohort, end, found = self.joined.own, 0, []
        for latent in cohort.layout.latents:
            if self.plate in latent.plates:
                shape = (*cohort.size(latent.plates), *map(len, latent.dims.values()))
                part = slice(end, end + int(np.prod(shape, dtype=int)))
                found.append((latent, shape, part))
                end = part.stop
        return found

    @cached_property
    def active(self) -> np.ndarray:
        """Mask of the scores that the outcomes depend on: those of levels that were attempted."""
        parts = [np.zeros(0, dtype=bool)]
        for latent, shape, _ in self.own:
            sums = any(prior.family == "ZeroSumNormal" for prior in latent.priors)
            met = np.full(shape, sums)
            met[tuple(self.joined.own.codes(plate) for plate in latent.plates)] = True
            parts.append(met.ravel())
        return np.concatenate(parts)

    def values(self, scores: np.ndarray, places: np.ndarray) -> dict[str, np.ndarray]:
        """Compute own values, shape (draws, levels..., labels...).

        Parameters
        ----------
        scores : ndarray, shape (draws, scores)
            All scores.
        places : ndarray of int, shape (draws,)
            Positions of the draws of the shared values.
        """
        cohort = self.joined.own
        known = {name: self.shared[name][places] for name in self._above}
        known |= {name: values[None] for name, values in cohort.covariates.items()}
        found = {}
        for latent, shape, part in self.own:
            laid = scores[:, part].reshape(-1, *shape)
            values = new_values(latent, laid, known, cohort, self.joined.fitted, (self.plate,))
            if latent.name in self.about:
                values = values + self.about[latent.name][places]
            found[latent.name] = known[latent.name] = values
        return found

    @cached_property
    def _above(self) -> set[str]:
        """Names of the shared latents that priors of own values depend on."""
        parameters = [value for latent, _, _ in self.own for value in latent.parents]
        return {part.name for value in parameters for part in leaves(value)} & set(self.shared)

    def log_likelihood(self, scores: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Compute the log-likelihood of active scores, in nats, up to a constant.

        Parameters
        ----------
        scores : ndarray, shape (particles, active scores)
            Active scores of the own values.
        places : ndarray of int, shape (particles,)
            Positions of the draws of the shared values.

        Returns
        -------
        ndarray, shape (particles,)
            Log-likelihoods; -1e300 where a success probability is undefined.
        """
        every = np.zeros((len(scores), len(self.active)))
        every[:, self.active] = scores
        values = self.values(every, places)
        if self.joined.own.layout.outcome.unseen is not None:
            blocks = self._blocks(values, places, of=log_likelihoods)
            sums = np.concatenate([each.sum(axis=1) for each in blocks])
            return np.where(np.isnan(sums), NEVER, sums)
        blocks = self._blocks(values, places)
        return np.concatenate([self._summed(chance) for chance in blocks])

    def at(self, cells: np.ndarray, successes: np.ndarray, trials: np.ndarray) -> "Target":
        """Return the target for some of the newcomer's cells, with other outcomes."""
        own = self.joined.own
        taken = replace(
            own,
            subject=own.subject[cells],
            row=own.row[cells],
            successes=successes,
            trials=trials,
        )
        return replace(self, joined=replace(self.joined, own=taken))

    def chances(
        self, scores: np.ndarray, places: np.ndarray, dtype: type[np.floating[Any]] = np.float64
    ) -> np.ndarray:
        """Compute the probability of success in each cell.

        Parameters
        ----------
        scores : ndarray, shape (draws, scores)
            All scores, as in `values`.
        places : ndarray of int, shape (draws,)
            Positions of the draws of the shared values.
        dtype : type
            Type of the numbers; single precision takes about a quarter of the time.

        Returns
        -------
        ndarray, shape (cells, draws)
            Success probabilities, at least 1e-12 from 0 and 1 within the precision of the type;
            NaN where undefined.
        """
        return self.chances_of(self.values(scores, places), places, dtype)

    def chances_of(
        self,
        values: Mapping[str, np.ndarray],
        places: np.ndarray,
        dtype: type[np.floating[Any]] = np.float64,
    ) -> np.ndarray:
        """Compute the probability of success in each cell from own values.

        Parameters
        ----------
        values : dict of str to ndarray
            Own values as `values` returns them: by own latent, shape (draws, levels..., labels...).
        places : ndarray of int, shape (draws,)
            Positions of the draws of the shared values.
        dtype : type
            Type of the numbers.

        Returns
        -------
        ndarray, shape (cells, draws)
            Success probabilities, as `chances` returns them.
        """
        found = np.empty((len(self.joined.own.item), len(places)), dtype)
        end = 0
        for chance in self._blocks(values, places, dtype):
            found[:, end : end + len(chance)] = chance.T
            end += len(chance)
        return found

    def _blocks(
        self,
        values: Mapping[str, np.ndarray],
        places: np.ndarray,
        dtype: type[np.floating[Any]] = np.float64,
        of: Callable[..., np.ndarray] = bounded,
    ) -> Iterator[np.ndarray]:
        """Yield success probabilities, or another function, (draws, cells), of some draws."""
        cohort = self.joined.own
        features = {
            name: values.astype(dtype, copy=False) for name, values in self._features.items()
        }
        own = {
            latent.name: self._laid(latent, values[latent.name]).astype(dtype, copy=False)
            for latent, _, _ in self.own
        }
        labels = math.prod(map(len, cohort.layout.dims.values()))
        size = max(1, _BLOCK // max(1, len(cohort.item) * max(1, labels // 4)))
        for start in range(0, len(places), size):
            block = slice(start, start + size)
            known = features | {name: part[block] for name, part in own.items()}
            for name, part in self._cells.items():
                known[name] = part[places[block]].astype(dtype, copy=False)
            with np.errstate(all="ignore"):
                found = of(cohort, known)
            yield np.broadcast_to(found, (len(places[block]), len(cohort.item)))

    def _summed(self, chance: np.ndarray) -> np.ndarray:
        """Compute the log-likelihood from success probabilities."""
        cohort = self.joined.own
        if self._unanimous:
            chance = np.where(cohort.successes > 0, chance, 1 - chance)
            found = (np.log(chance) * cohort.trials).sum(axis=1)
        else:
            failures = cohort.trials - cohort.successes
            found = np.log(chance) * cohort.successes + np.log1p(-chance) * failures
            found = found.sum(axis=1)
        return np.where(np.isnan(found), NEVER, found)

    @cached_property
    def _unanimous(self) -> bool:
        """Whether all trials of each cell have the same outcome, so one logarithm is enough."""
        cohort = self.joined.own
        return bool(np.isin(cohort.successes / cohort.trials, (0, 1)).all())

    @cached_property
    def _features(self) -> dict[str, np.ndarray]:
        """Meta-features and covariates of the attempted cells, aligned."""
        return features_by_cell(self.joined.own, draws=True)

    @cached_property
    def _cells(self) -> dict[str, np.ndarray]:
        """Shared values at the attempted cells, aligned."""
        latents = {latent.name: latent for latent in self.joined.own.layout.latents}
        return {name: self._laid(latents[name], values) for name, values in self.shared.items()}

    def _laid(self, latent: Latent, values: np.ndarray) -> np.ndarray:
        """Return a latent's values at the attempted cells: (draws, cells, the layout's labels)."""
        cohort = self.joined.own
        at: tuple[Any, ...] = tuple(cohort.codes(plate) for plate in latent.plates)
        if latent.plates == (self.plate,):
            at = (np.zeros(1, dtype=int),)  # one value for all cells
        return by_cell(cohort.layout, latent, values, at, draws=True)
