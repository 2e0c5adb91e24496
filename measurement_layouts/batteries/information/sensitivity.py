"""Success on items as a function of the latents, at draws of the latents."""

import itertools
import math
from collections.abc import Sequence
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

_STEP = 1e-4  # of a derivative, as a fraction of the prior's standard deviation
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
    r"""Draws of the latents, and what success on different rows depends on at each.

    Attributes
    ----------
    evaluator : Evaluator
        The outcome on the rows: items, cells or their steps; its `row` has the different row that
        each is alike.
    draws : ndarray, shape (draws, columns)
        Draws of the latents whose effect is computed.
    spread : ndarray, shape (columns,)
        Standard deviations of the distribution that they are drawn from, the prior or a posterior.
    precision : ndarray, shape (columns, columns)
        Inverse of the covariance of that distribution.
    chance, tried : ndarray, shape (draws, different rows)
        Success, within (0, 1), and the probability of reaching the row, if it is a step.
    scaled : ndarray, shape (draws, different rows, columns)
        :math:`\sqrt{q / (p (1 - p))} \, \partial p / \partial \theta_k` with success p and the
        probability q of reaching the row, by central differences. Its products are informations.
    """

    evaluator: Evaluator
    draws: np.ndarray
    spread: np.ndarray
    precision: np.ndarray
    chance: np.ndarray
    tried: np.ndarray
    scaled: np.ndarray

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
        precision = np.diag(1 / spread**2)
        if known is not None or any(latent.parents for latent in layout.latents):
            precision = np.linalg.pinv(np.atleast_2d(np.cov(judged, rowvar=False)))
        profiles = drawn[evenly(judged, draws, np.random.default_rng(seed))]
        names = [constant.name for constant in layout.constants if constant.name not in features]
        if names:
            table = pd.DataFrame(profiles, columns=[element.name for element in choice])
            failure = 1 - expected_success(layout, features, table, rows).mean(axis=1)
        evaluator = Evaluator(layout, [layout.outcome], features, rows)

        def success(profiles: np.ndarray) -> np.ndarray:
            values = {name: failure[None] for name in names}
            ends = np.cumsum([math.prod(map(len, one.dims.values())) for one in layout.latents])
            for latent, drawn in zip(layout.latents, np.split(profiles.T, ends[:-1]), strict=True):
                values[latent.name] = drawn.reshape(1, *map(len, latent.dims.values()), draws)
            (chances,) = evaluator(values)
            return np.broadcast_to(chances.T, (draws, chances.shape[0]))

        chance = success(profiles).clip(EDGE, 1 - EDGE)
        tried = np.ones_like(chance)
        for steps, below in _ordered_steps(layout, evaluator.row):
            tried[:, steps] = tried[:, below] * chance[:, below]
        scaled = np.empty((*chance.shape, len(columns)))
        for position, column in enumerate(columns):
            support, ends = choice[column].latent.range, []
            for step in (-_STEP, _STEP):
                moved = profiles.copy()
                moved[:, column] += step * spread[position]
                moved[:, column] = moved[:, column].clip(support.low, support.high)
                ends.append((moved[:, [column]], success(moved)))
            (low, below), (high, above) = ends
            scaled[..., position] = (above - below) / (high - low)
        scaled *= np.sqrt(tried / (chance * (1 - chance)))[..., None]
        draws_of_columns = profiles[:, columns]
        return cls(evaluator, draws_of_columns, spread, precision, chance, tried, scaled)

    @property
    def count(self) -> int:
        """Number of different rows."""
        return int(self.chance.shape[1])

    @property
    def matters(self) -> np.ndarray:
        """Which columns matter on which of the different rows, at any of the draws."""
        return np.asarray((np.abs(self.scaled) * self.spread > _MATTERS).any(axis=0))


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


def _ordered_steps(layout: Layout, different: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find the steps below the different rows, by step from the second on.

    Returns pairs of the different rows that are the step, and those of the steps below.
    """
    if layout.steps is None:
        return []
    rows = np.unique(different, return_index=True)[1]
    numbers = np.array([number for _, number, _ in layout.steps.rows])
    number = numbers[rows % len(numbers)]
    later = range(2, int(numbers.max()) + 1)
    return [(np.flatnonzero(number == step), different[rows[number == step] - 1]) for step in later]
