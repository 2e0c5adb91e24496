"""Success on items as a function of the profile, at draws of the profile."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.subject_data import EDGE
from ...inference.evaluator import Evaluator
from ...inference.model.alignment import Features
from ...inference.model.prior import prior_profiles
from ...inference.simulate import expected_success
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.outcomes.steps import Steps

_STEP = 1e-4  # of a derivative, as a fraction of the prior's standard deviation
_TOGETHER = 2**21  # derivatives in memory at a time
_TO_A_PART = 20, 5, 1  # draws in each part of an element's order, coarse and fine
_MATTERS = 1e-6  # change of log-odds per prior standard deviation that is more than rounding


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Draws of the profile, and the rows that differ: items, or their steps.

    Attributes
    ----------
    layout : Layout
        The layout.
    draws : ndarray, shape (draws, elements)
        Draws of the profile.
    spread : ndarray, shape (elements,)
        Standard deviations of the distribution that they are drawn from, the prior or a posterior.
    precision : ndarray, shape (elements, elements)
        Inverse of the covariance of that distribution.
    evaluator : Evaluator
        The outcome on the rows.
    ordered_steps : list of (ndarray of int, ndarray of int)
        If rows are steps, by step from the second on: the different rows that are this step, and
        those that are the steps below.
    constants : dict of str to ndarray
        By constant of subjects, one number for each draw.
    """

    layout: Layout
    draws: np.ndarray
    spread: np.ndarray
    precision: np.ndarray
    evaluator: Evaluator
    ordered_steps: list[tuple[np.ndarray, np.ndarray]]
    constants: dict[str, np.ndarray]

    @classmethod
    def of(
        cls,
        layout: Layout,
        features: Features,
        rows: int,
        draws: int,
        seed: int,
        known: np.ndarray | None = None,
    ) -> "Sensitivity":
        """Choose profiles among draws, and group rows that are alike.

        Parameters
        ----------
        layout : Layout
            The layout.
        features : dict of str to ndarray
            Values by meta-feature, including hidden ones, of shape (rows,) or (rows, labels).
        rows, draws : int
            Numbers of rows and of draws. A subject's mean failure is the expected one of its
            profile on all rows.
        seed : int
            Seed of the choice.
        known : ndarray, shape (all draws, elements), optional
            Draws from a posterior (default: draws from the prior).
        """
        drawn = prior_profiles(layout, elements(layout)) if known is None else known
        spread = drawn.std(axis=0, ddof=1)
        if known is not None or any(latent.parents for latent in layout.latents):
            precision = np.linalg.pinv(np.atleast_2d(np.cov(drawn, rowvar=False)))
        else:
            precision = np.diag(1 / spread**2)
        profiles = drawn[evenly(drawn, draws, np.random.default_rng(seed))]
        constants = {}
        if layout.constants:
            table = pd.DataFrame(profiles, columns=[element.name for element in elements(layout)])
            failure = 1 - expected_success(layout, features, table, rows).mean(axis=1)
            constants = {constant.name: failure for constant in layout.constants}
        evaluator = Evaluator(layout, [layout.outcome], features, rows)
        ordered_steps = [] if layout.steps is None else _ordered_steps(layout.steps, evaluator.row)
        return cls(layout, profiles, spread, precision, evaluator, ordered_steps, constants)

    @property
    def count(self) -> int:
        """Number of different rows."""
        return int(self.evaluator.row.max()) + 1

    def slopes(self) -> Iterator[tuple[slice, np.ndarray]]:
        r"""Stream derivatives of success, scaled so that their products are informations.

        Yields
        ------
        draws : slice
            Which draws.
        scaled : ndarray, shape (draws, different rows, elements)
            :math:`(\partial p / \partial \theta_k) / \sqrt{p (1 - p)}`, by central differences;
            of a step, times the root of the probability of reaching it.
        """
        known = elements(self.layout)
        step = max(1, _TOGETHER // (self.count * len(known)))
        for start in range(0, len(self.draws), step):
            part = slice(start, start + step)
            drawn = self.draws[part]
            chance = np.clip(self.success(drawn, part), EDGE, 1 - EDGE)
            scaled = np.empty((len(drawn), self.count, len(known)))
            for place, element in enumerate(known):
                ends = []
                for side in (-1, 1):
                    moved = drawn.copy()
                    moved[:, place] += side * _STEP * self.spread[place]
                    span = element.latent.range
                    moved[:, place] = np.clip(moved[:, place], span.low, span.high)
                    ends.append((moved[:, place], self.success(moved, part)))
                (below, less), (above, more) = ends
                scaled[..., place] = (more - less) / (above - below)[:, None]
            yield part, scaled * np.sqrt(self._tried(chance) / (chance * (1 - chance)))[..., None]

    def chances(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute success on the different rows, and the probability of reaching them.

        Returns
        -------
        chance, tried : ndarray, shape (draws, different rows)
            Within (0, 1), and in [0, 1].
        """
        chance = np.clip(self.success(self.draws, slice(None)), EDGE, 1 - EDGE)
        return chance, self._tried(chance)

    def matters(self, scaled: np.ndarray) -> np.ndarray:
        """Find which elements matter on which of the different rows at any of some draws."""
        return np.asarray((np.abs(scaled) * self.spread > _MATTERS).any(axis=0))

    def _tried(self, chance: np.ndarray) -> np.ndarray:
        """Compute the probability of reaching each of the different rows from those of passing."""
        tried = np.ones_like(chance)
        for steps, below in self.ordered_steps:
            tried[:, steps] = tried[:, below] * chance[:, below]
        return tried

    def success(self, profiles: np.ndarray, part: slice) -> np.ndarray:
        """Compute success of profiles on the different rows; shape (draws, rows)."""
        draws = {name: values[part][None] for name, values in self.constants.items()}
        columns = iter(profiles.T)
        for latent in self.layout.profile:
            shape = tuple(map(len, latent.dims.values()))
            values = np.array([next(columns) for _ in range(math.prod(shape))])
            draws[latent.name] = values.reshape(1, *shape, len(profiles))
        (chances,) = self.evaluator(draws)
        return np.broadcast_to(chances.T, (len(profiles), self.count))


def evenly(drawn: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Choose draws that have the distribution of all draws along each element.

    For a few subjects no item is informative, and their standard deviations are many times those of
    the others: among 200 profiles chosen at random there may be five of them or fifteen, so that
    the mean is uncertain. Each chosen draw is the one whose neighbourhoods, finer and coarser parts
    of each element's order, contain the fewest of the draws chosen before.

    Parameters
    ----------
    drawn : ndarray, shape (draws, elements)
        All draws.
    count : int
        Number of draws to choose; if it is at least that of all draws, some are chosen several
        times.
    rng : Generator
        Source of random choices among equally good draws.

    Returns
    -------
    ndarray of int, shape (count,)
        Positions of the chosen draws.
    """
    if count >= len(drawn):
        return rng.choice(len(drawn), count)
    ranks = drawn.argsort(axis=0).argsort(axis=0) / len(drawn)
    parts = [max(1, count // each) for each in _TO_A_PART]
    own = [(ranks * part).astype(int) for part in parts]
    crowd, chosen = rng.random(len(drawn)) * 1e-6, np.empty(count, dtype=int)
    for place in range(count):
        chosen[place] = best = crowd.argmin()
        crowd[best] = np.inf
        for part, at in zip(parts, own, strict=True):
            crowd += (at == at[best]).sum(axis=1) * part / count
    return chosen


def _ordered_steps(steps: Steps, different: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find the steps below the different rows, given the number of each row's different row."""
    rows = np.unique(different, return_index=True)[1]
    numbers = np.array([number for _, number, _ in steps.rows])
    own = numbers[rows % len(numbers)]
    each = range(2, int(numbers.max()) + 1)
    return [(np.flatnonzero(own == step), different[rows[own == step] - 1]) for step in each]
