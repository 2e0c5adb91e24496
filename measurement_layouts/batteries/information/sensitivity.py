"""Success on items as a function of the latents, at draws of the latents."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.subject_data import EDGE
from ...inference.evaluator import Evaluator
from ...inference.model.alignment import Features
from ...inference.model.prior import prior_profiles
from ...inference.simulate import expected_success
from ...layouts import Layout
from ...layouts.elements import Element
from ...layouts.outcomes.steps import Steps

_STEP = 1e-4  # of a derivative, as a fraction of the prior's standard deviation
_TOGETHER = 2**21  # derivatives in memory at a time
_GRAINS = 20, 5, 1  # draws in each part of an element's order, coarse and fine
_MATTERS = 1e-6  # change of log-odds per prior standard deviation that is more than rounding


def labelled(layout: Layout) -> list[Element]:
    """List every latent of a layout and each of its labels, at one level of its plates.

    For a layout that is fitted to each subject separately, these are the profile's elements.
    """
    return [
        Element(latent, (), labels, index)
        for latent in layout.latents
        for index, labels in enumerate(itertools.product(*latent.dims.values()))
    ]


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Draws of the latents, and the rows that differ: items, cells or their steps.

    Attributes
    ----------
    layout : Layout
        The layout.
    profiles : ndarray, shape (draws, labelled latents)
        Draws of all latents.
    columns : list of int
        Latents whose effect is computed, as positions in `labelled`.
    spread : ndarray, shape (columns,)
        Standard deviations of the distribution that they are drawn from, the prior or a posterior.
    precision : ndarray, shape (columns, columns)
        Inverse of the covariance of that distribution.
    evaluator : Evaluator
        The outcome on the rows.
    ordered_steps : list of (ndarray of int, ndarray of int)
        If rows are steps, by step from the second on: the different rows that are this step, and
        those that are the steps below.
    constants : dict of str to ndarray
        By constant of subjects that is no feature, one number for each draw.
    """

    layout: Layout
    profiles: np.ndarray
    columns: Sequence[int]
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
        columns: Sequence[int] | None = None,
    ) -> "Sensitivity":
        """Choose draws that represent all, and group rows that are alike.

        Parameters
        ----------
        layout : Layout
            The layout.
        features : dict of str to ndarray
            Values by meta-feature, including hidden ones and covariates of subjects, of shape
            (rows,) or (rows, labels). A subject's mean failure, if it is no feature, is the
            expected one of its profile on all rows.
        rows, draws : int
            Numbers of rows and of draws.
        seed : int
            Seed of the choice.
        known : ndarray, shape (all draws, labelled latents), optional
            Draws from a posterior (default: draws from the prior).
        columns : sequence of int, optional
            Latents whose effect is computed, as positions in `labelled` (default: all).
        """
        choice = labelled(layout)
        columns = range(len(choice)) if columns is None else columns
        drawn = prior_profiles(layout, choice) if known is None else known
        judged = drawn[:, columns]
        spread = judged.std(axis=0, ddof=1)
        if known is not None or any(latent.parents for latent in layout.latents):
            precision = np.linalg.pinv(np.atleast_2d(np.cov(judged, rowvar=False)))
        else:
            precision = np.diag(1 / spread**2)
        profiles = drawn[evenly(judged, draws, np.random.default_rng(seed))]
        constants = {}
        names = [constant.name for constant in layout.constants if constant.name not in features]
        if names:
            table = pd.DataFrame(profiles, columns=[element.name for element in choice])
            failure = 1 - expected_success(layout, features, table, rows).mean(axis=1)
            constants = dict.fromkeys(names, failure)
        evaluator = Evaluator(layout, [layout.outcome], features, rows)
        steps = [] if layout.steps is None else _ordered_steps(layout.steps, evaluator.row)
        return cls(layout, profiles, columns, spread, precision, evaluator, steps, constants)

    @property
    def draws(self) -> np.ndarray:
        """Draws of the latents whose effect is computed, shape (draws, columns)."""
        return self.profiles[:, self.columns]

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
        scaled : ndarray, shape (draws, different rows, columns)
            :math:`(\partial p / \partial \theta_k) / \sqrt{p (1 - p)}`, by central differences;
            of a step, times the root of the probability of reaching it.
        """
        ranges = [element.latent.range for element in labelled(self.layout)]
        together = max(1, _TOGETHER // (self.count * len(self.columns)))
        for start in range(0, len(self.profiles), together):
            block = slice(start, start + together)
            chance, tried = self.chances(block)
            scaled = np.empty((*chance.shape, len(self.columns)))
            for position, column in enumerate(self.columns):
                step, ends = _STEP * self.spread[position], []
                for change in (-step, step):
                    moved = self.profiles[block].copy()
                    end = moved[:, column] + change
                    moved[:, column] = end.clip(ranges[column].low, ranges[column].high)
                    ends.append((moved[:, column], self._success(moved, block)))
                (low, below), (high, above) = ends
                scaled[..., position] = (above - below) / (high - low)[:, None]
            yield block, scaled * np.sqrt(tried / (chance * (1 - chance)))[..., None]

    def chances(self, block: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Compute success on the different rows, and the probability of reaching them.

        Returns
        -------
        chance, tried : ndarray, shape (draws, different rows)
            Within (0, 1), and in [0, 1].
        """
        chance = np.clip(self._success(self.profiles[block], block), EDGE, 1 - EDGE)
        tried = np.ones_like(chance)
        for steps, below in self.ordered_steps:
            tried[:, steps] = tried[:, below] * chance[:, below]
        return chance, tried

    def matters(self, scaled: np.ndarray) -> np.ndarray:
        """Find which columns matter on which of the different rows at any of some draws."""
        return np.asarray((np.abs(scaled) * self.spread > _MATTERS).any(axis=0))

    def _success(self, profiles: np.ndarray, block: slice) -> np.ndarray:
        """Compute success of profiles on the different rows; shape (draws, rows)."""
        draws = {name: values[block][None] for name, values in self.constants.items()}
        columns = iter(profiles.T)
        for latent in self.layout.latents:
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
    sizes = [max(1, count // grain) for grain in _GRAINS]
    parts_of_draws = [(ranks * size).astype(int) for size in sizes]
    crowd, chosen = rng.random(len(drawn)) * 1e-6, np.empty(count, dtype=int)
    for position in range(count):
        chosen[position] = best = crowd.argmin()
        crowd[best] = np.inf
        for size, part in zip(sizes, parts_of_draws, strict=True):
            crowd += (part == part[best]).sum(axis=1) * size / count
    return chosen


def _ordered_steps(steps: Steps, different: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find the steps below the different rows, given the number of each row's different row."""
    rows = np.unique(different, return_index=True)[1]
    numbers = np.array([number for _, number, _ in steps.rows])
    own = numbers[rows % len(numbers)]
    later = range(2, int(numbers.max()) + 1)
    return [(np.flatnonzero(own == step), different[rows[own == step] - 1]) for step in later]
