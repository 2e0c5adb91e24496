"""How much the data are expected to tell: Fisher information at draws from the prior."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.evaluation import EDGE
from ...inference.forecasts.blocks import Block, group_alike
from ...inference.model.alignment import Features
from ...inference.model.prior import draw_prior
from ...inference.simulate import expected_success
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.outcomes.steps import Steps

_STEP = 1e-4  # of a derivative, as part of the prior's standard deviation
_TOGETHER = 2**21  # derivatives that are held at a time
_MATTERS = 1e-6  # change of log-odds per prior standard deviation that is more than rounding


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Draws of the profile from its prior, and the rows that differ: items, or their steps.

    Attributes
    ----------
    layout : Layout
        What joins items and profile.
    draws : ndarray, shape (draws, elements)
        Of the profile.
    spread : ndarray, shape (elements,)
        The prior's standard deviations.
    precision : ndarray, shape (elements, elements)
        Inverse of the prior's covariance.
    block : Block
        The rows.
    ordered_steps : list of (ndarray of int, ndarray of int)
        Where rows are steps, by step from the second on: which of the different rows are such, and
        which ones are the steps below.
    constants : dict of str to ndarray
        By subject constant, one number for each draw.
    """

    layout: Layout
    draws: np.ndarray
    spread: np.ndarray
    precision: np.ndarray
    block: Block
    ordered_steps: list[tuple[np.ndarray, np.ndarray]]
    constants: dict[str, np.ndarray]

    @classmethod
    def of(
        cls, layout: Layout, features: Features, rows: int, draws: int, seed: int
    ) -> "Sensitivity":
        """Draw profiles from the prior, and group rows that are alike.

        A subject's mean failure is what each profile leads to on all items.
        """
        every = draw_prior(layout)
        known = elements(layout)
        drawn = np.stack(
            [
                every[e.latent.name].reshape(len(every[e.latent.name]), -1)[:, e.index]
                for e in known
            ],
            axis=1,
        )
        spread = drawn.std(axis=0, ddof=1)
        if any(latent.parents for latent in layout.latents):
            precision = np.linalg.pinv(np.atleast_2d(np.cov(drawn, rowvar=False)))
        else:
            precision = np.diag(1 / spread**2)
        chosen = np.random.default_rng(seed).choice(len(drawn), draws, replace=False)
        profiles = drawn[chosen]
        constants = {}
        if layout.constants:
            table = pd.DataFrame(profiles, columns=[element.name for element in known])
            failure = 1 - expected_success(layout, features, table, rows).mean(axis=1)
            constants = {constant.name: failure for constant in layout.constants}
        block = Block.of(layout, features, *group_alike(features, rows))
        ordered_steps = [] if layout.steps is None else _ordered_steps(layout.steps, block)
        return cls(layout, profiles, spread, precision, block, ordered_steps, constants)

    def slopes(self) -> Iterator[tuple[slice, np.ndarray]]:
        r"""Stream derivatives of success, scaled so that their products are informations.

        Yields
        ------
        draws : slice
            Which draws.
        scaled : ndarray, shape (draws, different rows, elements)
            :math:`(\partial p / \partial \theta_k) / \sqrt{p (1 - p)}`, by central differences;
            of a step, times the root of the probability of coming to it.
        """
        known = elements(self.layout)
        step = max(1, _TOGETHER // (self.block.count * len(known)))
        for start in range(0, len(self.draws), step):
            part = slice(start, start + step)
            drawn = self.draws[part]
            chance = np.clip(self.success(drawn, part), EDGE, 1 - EDGE)
            scaled = np.empty((len(drawn), self.block.count, len(known)))
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

    def matters(self, scaled: np.ndarray) -> np.ndarray:
        """Say which elements matter on which of the different rows at any of some draws."""
        return np.asarray((np.abs(scaled) * self.spread > _MATTERS).any(axis=0))

    def _tried(self, chance: np.ndarray) -> np.ndarray:
        """Probability of coming to each of the different rows, by those of passing them."""
        tried = np.ones_like(chance)
        for steps, below in self.ordered_steps:
            tried[:, steps] = tried[:, below] * chance[:, below]
        return tried

    def success(self, profiles: np.ndarray, part: slice) -> np.ndarray:
        """Compute success of profiles on the different rows; shape (draws, rows)."""
        tables: dict[str, list[np.ndarray]] = {}
        for element, column in zip(elements(self.layout), profiles.T, strict=True):
            tables.setdefault(element.latent.name, []).append(column)
        constants = {name: values[part] for name, values in self.constants.items()}
        outcome = self.layout.outcome
        (value,) = self.block.values(
            [outcome], {name: np.array(rows) for name, rows in tables.items()}, constants
        )
        first = np.flatnonzero(np.diff(self.block.alike, prepend=-1))
        table = value.table[self.block.places(value, outcome)[first]]
        return np.broadcast_to(table.T if table.ndim > 1 else table, (len(profiles), len(first)))


def _ordered_steps(steps: Steps, block: Block) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find the steps below the different rows of a block."""
    different = np.empty(len(block.items), dtype=int)
    different[block.items] = block.alike
    rows = block.items[np.flatnonzero(np.diff(block.alike, prepend=-1))]
    numbers = np.array([number for _, number, _ in steps.rows])
    own = numbers[rows % len(numbers)]
    each = range(2, int(numbers.max()) + 1)
    return [(np.flatnonzero(own == step), different[rows[own == step] - 1]) for step in each]


_DRAWS = 200
_ROUNDS = 2  # of averaging information over the posterior it leads to
_MOST = 48  # different sets of attempted items that are looked at; others get the nearest one's


@dataclass(frozen=True, eq=False)
class Expected:
    """What the outcomes are expected to teach, before they are looked at.

    Attributes
    ----------
    prior_sd : ndarray, shape (elements,)
        Standard deviations before the data.
    sds : ndarray, shape (subjects, elements)
        Expected posterior standard deviations.
    correlation : ndarray, shape (elements, elements)
        Expected posterior correlation, the mean over draws and subjects.
    matters : ndarray of bool, shape (rows, elements)
        On which items, or steps of their outcomes, success depends on the element.
    """

    prior_sd: np.ndarray
    sds: np.ndarray
    correlation: np.ndarray
    matters: np.ndarray


def expected(layout: Layout, features: Features, trials: np.ndarray, *, seed: int) -> Expected:
    r"""Compute the posterior standard deviations that subjects' attempts lead to on average.

    .. math:: I(\theta) = \sum_i \frac{n_i q_i}{p_i (1 - p_i)} \nabla p_i \nabla p_i^\top, \qquad
        C(\theta) = \left(\bar I(\theta) + \Sigma_{prior}^{-1}\right)^{-1}

    where rows i are items, and q is 1. Where outcomes are several, graded or scores, rows are their
    steps: p is the probability of passing one, given that the one before was passed, and q that of
    coming to it, the product of those below. The sum over an outcome's steps is then the exact
    information of the grade or score.

    The expected standard deviation is the mean of :math:`\sqrt{C_{kk}}` over draws of the profile
    from its prior. Information at the very draw would take a success curve that is steep elsewhere
    for none at all; so it is averaged over draws near by, weighted with the normal density that has
    the covariance C of the round before. With a handful of items, or few and distant demands under
    a steep curve, outcomes cut the range off rather than bend a normal law, and the posterior is
    narrower than said.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    features : dict of str to ndarray
        By meta-feature, hidden ones too, shape (rows,) or (rows, labels).
    trials : ndarray of int, shape (subjects, rows)
        Attempts; of a step, all at its item.
    seed : int
        Of the 200 draws.

    Returns
    -------
    Expected
        In the elements' units.

    References
    ----------
    Chaloner, K. and Verdinelli, I. (1995), Bayesian experimental design: a review, Statistical
    Science 10, section 2.2, for the normal approximation of the posterior.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10)
    >>> smallness = MetaFeature("smallness", low=0, high=10)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> features = {"smallness": np.linspace(0, 10, 40)}
    >>> found = expected(layout, features, np.ones((1, 40), dtype=int), seed=1)
    >>> found.prior_sd.round(1), found.sds.round(1)
    (array([2.9]), array([[0.5]]))
    """
    source = Sensitivity.of(layout, features, trials.shape[1], _DRAWS, seed)
    order, alike = source.block.items, source.block.alike
    starts = np.flatnonzero(np.diff(alike, prepend=-1))
    attempts = np.add.reduceat(trials[:, order], starts, axis=1)
    sets, own = _sets(attempts)
    size = len(source.spread)
    information = np.empty((len(sets), _DRAWS, size, size))
    matters = np.zeros((source.block.count, size), dtype=bool)
    for part, scaled in source.slopes():
        matters |= source.matters(scaled)
        turned = scaled.transpose(0, 2, 1)
        for place, counts in enumerate(sets):
            information[place, part] = (turned * counts) @ scaled
    sds, correlations = [], []
    for each in information:
        covariance = _covariances(each, source)
        sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        sds.append(sd.mean(axis=0))
        correlations.append((covariance / (sd[:, :, None] * sd[:, None])).mean(axis=0))
    share = np.bincount(own, minlength=len(sets)) / len(own)
    by_row = np.empty((len(order), size), dtype=bool)
    by_row[order] = matters[alike]
    return Expected(
        source.spread,
        np.array(sds)[own],
        np.tensordot(share, np.array(correlations), axes=1),
        by_row,
    )


def _sets(attempts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find different sets of attempts, or some of very many, and each subject's own or nearest."""
    sets, own = np.unique(attempts, axis=0, return_inverse=True)
    if len(sets) <= _MOST:
        return sets, own.ravel()
    order = np.argsort(sets.sum(axis=1), kind="stable")
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    nearest = np.round(rank * (_MOST - 1) / (len(order) - 1)).astype(int)
    kept = order[np.round(np.linspace(0, len(order) - 1, _MOST)).astype(int)]
    return sets[kept], nearest[own.ravel()]


def _covariances(information: np.ndarray, source: Sensitivity) -> np.ndarray:
    """Compute covariances at every draw, their information averaged over the draws near by."""
    covariance = np.linalg.inv(information + source.precision)
    gaps = source.draws[:, None] - source.draws[None]
    flat = information.reshape(len(information), -1)
    for _ in range(_ROUNDS):
        far = ((gaps @ np.linalg.inv(covariance)) * gaps).sum(axis=-1)
        weights = np.exp(-far / 2)
        near = (weights / weights.sum(axis=1, keepdims=True)) @ flat
        covariance = np.linalg.inv(near.reshape(information.shape) + source.precision)
    return np.asarray(covariance)
