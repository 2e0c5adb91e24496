"""Marginal likelihoods of a subject or an item of a joint fit, as if it were new to the fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...common.errors import FitError
from ...layouts.zero_sum import summed_plates
from ..kernel.outcomes import log_ways
from ..model.cohort import Cohort
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior, stacked
from .joining import Joined
from .marginal import Marginal, log_marginal
from .selection import selected
from .target import Target


@dataclass(frozen=True, eq=False)
class LeftOut:
    r"""Marginal likelihoods of subjects and items, given draws of the other latents.

    .. math:: \log p(y_j \mid \theta_s) = \log \int \prod_i p(y_{ij} \mid \theta_s, e)\,
        p(e \mid \theta_s)\, de

    for an item j, with its own values e, and likewise for a subject. Where these values sum to zero
    over n items with the standard deviation s, those of the item are distributed around the mean of
    the others' with the standard deviation :math:`s \sqrt{1 + 1/(n - 1)}`. This neglects that the
    mean of the others would be different without the item: the location of all subjects moves by
    about :math:`s / n`, which matters unless it is small compared with the prior's spread.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, with outcomes.
    values : dict of str to ndarray
        Draws of all latents, shape (draws, levels..., labels...).
    """

    cohort: Cohort
    values: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, fit: Posterior, draws: np.ndarray) -> "LeftOut":
        """Read a joint fit, and some of its draws."""
        return cls(
            cohort_of(fit), {one.name: stacked(fit, one, draws) for one in fit.layout.latents}
        )

    def marginal(self, plate: str, place: int, seed: int) -> Marginal:
        """Compute the log marginal likelihood of one subject or item for each draw.

        Parameters
        ----------
        plate : {"subject", "item"}
            Whether a subject or an item is left out.
        place : int
            Position of the subject or item.
        seed : int
            Seed of the sampled points where several values are integrated over.

        Raises
        ------
        FitError
            When its own values cannot be integrated over, or when the fit has only this one.
        """
        target = self._target(plate, place)
        cohort = target.joined.own
        marginal = log_marginal(target, f"{plate} {cohort.levels[plate][0]}", seed)
        ways = log_ways(cohort.successes, cohort.trials).sum()
        return replace(marginal, values=marginal.values + ways)

    def _target(self, plate: str, place: int) -> Target:
        """Return the log-likelihood of the left-out subject or item."""
        cohort = self.cohort
        others = len(cohort.levels[plate]) - 1
        if not others:
            raise FitError(
                f"the fit has only one {plate}, {cohort.levels[plate][0]}, so it cannot be "
                f"predicted from others; fit several {plate}s"
            )
        own = selected(cohort, plate, np.array([place]))
        fitted = {name: len(levels) for name, levels in cohort.levels.items()} | {plate: others}
        shared, offsets = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for latent in cohort.layout.latents:
            values = self.values[latent.name]
            if plate not in latent.plates:
                shared[latent.name] = values
            elif plate in summed_plates(latent.priors[0], latent.plates):
                axis = 1 + latent.plates.index(plate)
                of_others = values.sum(axis=axis) - values.take(place, axis=axis)
                offsets[latent.name] = np.expand_dims(of_others, axis) / others
        return Target(Joined(own, cohort, fitted), shared, plate, offsets)
