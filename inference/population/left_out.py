"""A subject or an item of a joint fit, as if it came anew: what the others say of its outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...common.errors import FitError
from ...layouts.plates import ITEM
from ...layouts.zero_sum import summed_plates
from ..model.cohort import Cohort
from ..posterior.posterior import Posterior
from .joining import Joined
from .marginal import Marginal, log_marginal, log_ways
from .roster import cohort_of
from .stacked import stacked
from .target import Target


@dataclass(frozen=True, eq=False)
class LeftOut:
    r"""Marginal likelihoods of subjects and items, given draws of what is not theirs alone.

    .. math:: \log p(y_j \mid \theta_s) = \log \int \prod_i p(y_{ij} \mid \theta_s, e)\,
        p(e \mid \theta_s)\, de

    for an item j, with its own values e, and likewise for a subject. Where they sum to zero over n
    items with the standard deviation s, those of the item lie about the mean of the others' with
    the standard deviation :math:`s \sqrt{1 + 1/(n - 1)}`. That leaves out that the mean of the
    others, too, is not the one that they would have by themselves: the location of all subjects
    moves by about :math:`s / n`, which matters where it is little beside its prior.

    Attributes
    ----------
    cohort : Cohort
        Of the fit, with outcomes.
    values : dict of str to ndarray
        Draws of all latents, shape (draws, levels..., labels...).
    """

    cohort: Cohort
    values: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, fit: Posterior, draws: np.ndarray) -> "LeftOut":
        """Read a joint fit, and some of its draws.

        Raises
        ------
        FitError
            When outcomes have several steps.
        """
        if fit.layout.steps is not None:
            raise FitError(
                f"layout {fit.layout.name!r} has outcomes of several steps, and whole items and "
                "subjects are left out where there is one success; leave cells out, or fit a "
                "layout of one Success"
            )
        counts = [fit.observed[name].to_numpy() for name in ("successes", "trials")]
        subject, item = np.nonzero(counts[1])
        successes, trials = (count[subject, item] for count in counts)
        cohort = replace(
            cohort_of(fit), subject=subject, item=item, successes=successes, trials=trials
        )
        return cls(cohort, {one.name: stacked(fit, one, draws) for one in fit.layout.latents})

    def marginal(self, plate: str, place: int, seed: int) -> Marginal:
        """Compute the logarithm for each draw, of one subject or item.

        Parameters
        ----------
        plate : {"subject", "item"}
            What is left out.
        place : int
            Which of them.
        seed : int
            Of points where several values are integrated over.

        Raises
        ------
        FitError
            When its own values cannot be integrated over, or it has none beside it to learn from.
        """
        target = self._target(plate, place)
        cohort = target.joined.own
        ways = log_ways(cohort.successes, cohort.trials)
        found = log_marginal(target, f"{plate} {self.cohort.levels[plate][place]}", seed)
        return replace(found, values=found.values + ways)

    def _target(self, plate: str, place: int) -> Target:
        """Write the log-likelihood of what is left out."""
        known = self.cohort
        others = len(known.levels[plate]) - 1
        if not others:
            raise FitError(
                f"the fit has one {plate}, {known.levels[plate][0]}, and without it there is "
                f"nothing to foresee it from; fit several {plate}s"
            )
        is_item = plate == ITEM
        cells = np.flatnonzero((known.item if is_item else known.subject) == place)
        none, at = np.zeros(len(cells), dtype=int), slice(place, place + 1)

        def one(values: Mapping[str, np.ndarray], mine: bool) -> dict[str, np.ndarray]:
            return {name: own[at] if mine else own for name, own in values.items()}

        sides = {category.name: category.root for category in known.layout.categories}
        own = replace(
            known,
            levels={**known.levels, plate: [known.levels[plate][place]]},
            of={name: of[at] if sides[name] == plate else of for name, of in known.of.items()},
            features=one(known.features, is_item),
            covariates=one(known.covariates, not is_item),
            subject=known.subject[cells] if is_item else none,
            item=none if is_item else known.item[cells],
            successes=known.successes[cells],
            trials=known.trials[cells],
        )
        fitted = {name: len(levels) for name, levels in known.levels.items()} | {plate: others}
        shared, about = {}, {}
        for latent in known.layout.latents:
            values = self.values[latent.name]
            if plate not in latent.plates:
                shared[latent.name] = values
            elif plate in summed_plates(latent.priors[0], latent.plates):
                axis = 1 + latent.plates.index(plate)
                mine = np.take(values, [place], axis=axis)
                about[latent.name] = (values.sum(axis=axis, keepdims=True) - mine) / others
        return Target(Joined(own, known, fitted), shared, plate, about)
