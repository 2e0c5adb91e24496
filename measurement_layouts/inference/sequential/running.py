"""One subject's posterior as weighted particles, updated after each answer."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import expanded
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.plates import ITEM, SUBJECT
from ..model.unseen import refuse_unseen
from ..population.joining import Joined, shared_draws
from ..population.target import NEVER, Target
from ..posterior.posterior import Posterior
from ..posterior.summaries import summarise
from ..sampling.particles import Particles, effective, resampled

GROUPS = 10  # independent groups of particles, whose spread gives the Monte Carlo error
_STAY = 0.5  # particles are resampled and moved if a smaller part of them is effective
_MOVES, _MOST = 6, 12  # moves of each particle after resampling, at least and at most
_FEW = 120  # moves times answers, between these limits
_ERROR = 0.1  # largest Monte Carlo error, in posterior sds, before all particles are drawn again
_GROWN = 1.5  # multiple of the error after drawing again, below which it is not repeated
_ANEW = 20  # moves of particles that are drawn again
_PRIOR_DRAWS, _PRIOR_BLOCK = 100_000, 2**22  # draws of the prior, and scores drawn at a time


class Running:
    r"""A subject's posterior given the answers so far, under any layout.

    Each particle has the subject's own values as standard normal scores and, if other subjects were
    fitted jointly, one of the draws of the shared values. An answer multiplies the weights by its
    probability. When fewer than half of the particles are effective, they are resampled by weight
    and moved by Metropolis steps that leave the posterior invariant. Ten groups of particles are
    resampled independently, and the spread of the groups' means gives the Monte Carlo error. When
    the error exceeds a tenth of a posterior standard deviation, all particles are drawn again from
    the prior, and the likelihood of all answers is introduced with powers that grow from 0 to 1.

    Instances are made by `of`. `record` replaces arrays and never changes them, so that a copy by
    `copy.copy` can be updated without changing the original.

    Attributes
    ----------
    elements : list of Element
        Elements of the profile.
    weights : ndarray, shape (draws,)
        Weights of the particles, which sum to 1.
    refitted : bool
        Whether all particles were drawn again after the last answer.
    """

    def __init__(self, bank: Target, draws: int, seed: int) -> None:
        self.bank, self._seed = bank, seed
        self.elements = elements(bank.joined.own.layout, bank.joined.own.levels)
        count = GROUPS * -(-draws // GROUPS)
        rng = np.random.default_rng(seed)
        self._scores = rng.normal(size=(count, len(bank.active)))
        self._picks = rng.permutation(np.resize(rng.permutation(bank.count), count))
        self._log_likelihood, self._log_weights = np.zeros(count), np.zeros(count)
        self._answers = np.empty((3, 0), dtype=int)  # rows of the bank, successes and trials
        self.refitted, self._reached = False, 0.0
        self._prior_above = dict[tuple[int, float], float]()

    @classmethod
    def of(
        cls,
        layout: Layout,
        items: pd.DataFrame,
        *,
        subject: str = "subject",
        subjects: pd.DataFrame | None = None,
        given: Posterior | None = None,
        draws: int = 2000,
        seed: int = 1,
    ) -> "Running":
        """Start from the prior, or from the population's distribution in a joint fit of others.

        Parameters
        ----------
        layout : Layout
            The layout.
        items : DataFrame
            The items that may be asked, with the properties that the layout needs, indexed by name.
        subject : str
            Name of the subject.
        subjects : DataFrame, optional
            Properties of the subject, if the layout needs any: one row, indexed by its name.
        given : Posterior, optional
            A joint fit of other subjects, needed if the layout is joint.
        draws : int
            Number of particles, which is rounded up to a multiple of 10.
        seed : int
            Seed of the particles.

        Raises
        ------
        DataError
            When items do not fit the layout, or the subject is in the given fit.
        FitError
            When items have unseen properties, the layout needs a subject's mean failure, a prior
            has no quantiles, a fit is missing for a joint layout, or is given for another layout.
        """
        refuse_unseen(layout, "a test that adapts", "leave it out of the layout")
        if layout.constants:
            names = ", ".join(constant.name for constant in layout.constants)
            raise FitError(
                f"layout {layout.name!r} needs {names}, the share of all items that a subject "
                "fails, which an adaptive test cannot observe; use a layout without it"
            )
        if layout.joint and given is None:
            raise FitError(
                f"layout {layout.name!r} shares values between subjects, so "
                "a joint fit of other subjects is needed; give it: given=fit(layout, others)"
            )
        same = given is None or given.layout.fingerprint == layout.fingerprint
        if given is not None and not (layout.joint and same):
            why = "is another one" if layout.joint else "shares nothing between subjects"
            raise FitError(
                f"given= is a fit of layout {given.layout.name!r}, but layout {layout.name!r} "
                f"{why}; give a joint fit of the same layout, or leave given out"
            )
        rows = items if layout.steps is None else expanded(layout.steps, items)
        trials = pd.DataFrame(1, index=[subject], columns=rows.index)
        evaluation = Evaluation(rows, 0 * trials, trials, subjects=subjects)
        if given is None:
            return cls(Target(Joined.alone(layout, evaluation), {}), draws, seed)
        joined = Joined.of(given, evaluation)
        return cls(Target(joined, shared_draws(given, joined)), draws, seed)

    @property
    def layout(self) -> Layout:
        """The layout."""
        return self.bank.joined.own.layout

    @property
    def shared(self) -> bool:
        """Whether particles also differ in values that subjects share."""
        return bool(self.bank.shared)

    @property
    def weights(self) -> np.ndarray:
        """Weights of the particles; each group has the same total weight."""
        weights = np.exp(self._log_weights - self._log_weights.max()).reshape(GROUPS, -1)
        return np.asarray((weights / weights.sum(axis=1, keepdims=True) / GROUPS).ravel())

    @cached_property
    def _latents(self) -> dict[str, np.ndarray]:
        """Values of the particles by latent, as `Target.values` returns them."""
        return self.bank.values(self._scores, self._picks)

    @cached_property
    def values(self) -> np.ndarray:
        """Profile elements of the particles, shape (draws, elements)."""
        return self._profiles(self._latents)

    def _profiles(self, latents: Mapping[str, np.ndarray]) -> np.ndarray:
        """Arrange latents' values as profile elements, shape (draws, elements)."""
        columns = [latents[latent.name] for latent in self.layout.profile]
        return np.concatenate([values.reshape(len(values), -1) for values in columns], axis=1)

    def chances(
        self, rows: Sequence[int] | np.ndarray, draws: slice | np.ndarray = slice(None)
    ) -> np.ndarray:
        """Compute success probabilities on items of the bank, shape (rows, draws).

        Parameters
        ----------
        rows : sequence of int
            Positions in the bank: items, or steps of items of a layout with grades or scores.
        draws : slice or ndarray
            Particles to use (default: all).
        """
        rows, none = np.asarray(rows, dtype=int), np.zeros(len(rows), dtype=int)
        every = np.array_equal(rows, np.arange(len(self.bank.joined.own.row)))
        target = self.bank if every else self.bank.at(rows, none, none)  # the bank is compiled once
        latents = {name: values[draws] for name, values in self._latents.items()}
        return target.chances_of(latents, self._picks[draws])

    def record(
        self,
        rows: Sequence[int] | np.ndarray,
        successes: Sequence[int] | np.ndarray,
        trials: Sequence[int] | np.ndarray,
    ) -> None:
        """Update the posterior with answers.

        Parameters
        ----------
        rows : sequence of int
            Positions in the bank: items, or steps of items of a layout with grades or scores.
        successes, trials : sequence of int
            Numbers of successes and trials; rows without trials are ignored.

        Raises
        ------
        FitError
            When the layout has measured demands and an item has several trials.
        DataError
            When the layout is undefined on these items at every particle.
        """
        answers = np.stack([rows, successes, trials])[:, np.asarray(trials) > 0]
        again = np.isin(answers[0], self._answers[0]).any()
        most = 2 if again else int(answers[2].max(initial=0))
        refuse_unseen(self.layout, "a test that adapts", "ask each item once", most)
        target = self.bank.at(*answers)
        gained = target.log_likelihood_of(self._latents, self._picks)
        if (gained == NEVER).all():
            names = [self.bank.joined.own.levels[ITEM][item] for item in target.joined.own.item]
            raise DataError(
                f"layout {self.layout.name!r} gives no probability to outcomes of {some(names)} at "
                "any profile; check their properties, or leave them out of the bank"
            )
        self._answers = np.concatenate([self._answers, answers], axis=1)
        self._log_likelihood = self._log_likelihood + gained
        self._log_weights = self._log_weights + gained
        self.refitted = False
        if self.effective < _STAY * len(gained):
            self._move()

    @property
    def effective(self) -> float:
        r"""Effective number of draws, :math:`1 / \sum_j w_j^2`."""
        return effective(self.weights)

    @property
    def error(self) -> float:
        """Largest Monte Carlo error of the means, in posterior standard deviations."""
        weights = self.weights.reshape(GROUPS, -1, 1) * GROUPS
        values = self.values.reshape(GROUPS, -1, len(self.elements))
        means = (weights * values).sum(axis=1)
        spread = np.maximum(self.sds, np.finfo(float).tiny)
        return float((means.std(axis=0, ddof=1) / GROUPS**0.5 / spread).max())

    @property
    def means(self) -> np.ndarray:
        """Posterior means of the elements."""
        return np.asarray(self.weights @ self.values)

    @property
    def sds(self) -> np.ndarray:
        """Posterior standard deviations of the elements."""
        return np.asarray(np.sqrt(self.weights @ (self.values - self.means) ** 2))

    def above(self, element: int, value: float) -> float:
        """Posterior probability that an element is above a value.

        It is at least that of half an effective draw away from 0 and from 1, since the particles
        cannot distinguish smaller probabilities from 0.
        """
        least = 0.5 / self.effective
        above = float(self.weights[self.values[:, element] > value].sum())
        return min(max(above, least), 1 - least)

    def above_before(self, element: int, value: float) -> float:
        """Prior probability that an element is above a value, from 100,000 draws of the prior.

        With a joint fit of others, the prior is the distribution of new subjects in that fit.
        """
        if (element, value) not in self._prior_above:
            rng, length = np.random.default_rng([self._seed, 5]), self._scores.shape[1]
            picks, above = np.resize(rng.permutation(self.bank.count), _PRIOR_DRAWS), 0
            for block in np.array_split(picks, 1 + _PRIOR_DRAWS * length // _PRIOR_BLOCK):
                latents = self.bank.values(rng.normal(size=(len(block), length)), block)
                above += int((self._profiles(latents)[:, element] > value).sum())
            self._prior_above[element, value] = above / _PRIOR_DRAWS
        return self._prior_above[element, value]

    def profiles(self, prob: float) -> pd.DataFrame:
        """Summarise every profile element; columns as in `diagnostics.profiles`."""
        from ..model.prior import prior_profiles  # PyMC is slow to import

        chosen = resampled(self.weights.reshape(GROUPS, -1), 0.5)
        draws = self.values[chosen].reshape(GROUPS, -1, len(self.elements))
        names = {
            "subject": self.bank.joined.own.levels[SUBJECT] * len(self.elements),
            "node": [element.latent.name for element in self.elements],
            "label": [element.label for element in self.elements],
        }
        before = prior_profiles(self.layout, self.elements)
        columns = summarise(np.moveaxis(draws, 2, 0)[None], before, prob)
        columns["mean"], columns["sd"] = self.means[None], self.sds[None]
        return pd.DataFrame(names | {name: values[0] for name, values in columns.items()})

    def _move(self) -> None:
        """Resample particles by weight and move them, or draw them all anew if the error grows."""
        count = self._answers.shape[1]
        target = self.bank.at(*self._answers)
        particles = Particles(
            target.log_likelihood,
            self._scores[:, target.active],
            self._picks,
            self._log_likelihood,
            target.count,
            np.random.default_rng([self._seed, 2, count]),
        )
        particles.resample(self.weights, GROUPS)
        particles.move(max(_MOVES, min(_MOST, _FEW // count)))
        self._take(particles, target.active)
        if self.error > max(_ERROR, _GROWN * self._reached):
            particles = Particles.tempered(
                target.log_likelihood,
                int(target.active.sum()),
                target.count,
                len(self._picks),
                GROUPS,
                [self._seed, 3, count],
            )
            particles.move(_ANEW)
            self._take(particles, target.active)
            self.refitted, self._reached = True, self.error

    def _take(self, particles: Particles, active: np.ndarray) -> None:
        """Make particles the current ones, with equal weights."""
        self._scores = self._scores.copy()
        self._scores[:, active] = particles.scores
        self._picks, self._log_likelihood = particles.picks, particles.log_likelihood
        self._log_weights = np.zeros(len(self._picks))
        for name in ("_latents", "values"):
            self.__dict__.pop(name, None)
