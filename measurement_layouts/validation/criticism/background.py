"""Residuals of a layout, and tests of whether its own or other properties explain them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import every_draw
from ...inference.posterior.posterior import posterior_draws, some_draws
from .expansion import (
    EFFECT_SD,
    FORM_SD,
    Chance,
    Columns,
    Expansion,
    constant,
    expand,
    log_odds,
    tangent,
)
from .overdispersion import Repeated
from .properties import MISSING, Property

_DRAWS = 256  # number of posterior draws that are kept, evenly spaced
_MEMORY_MIB = 64.0


@dataclass(frozen=True, eq=False)
class Leftover:
    """One subject's outcomes, with a layout's forecast of them.

    Attributes
    ----------
    names : Index of str
        Items that the subject attempted.
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    mean : ndarray, shape (items,)
        The layout's forecast: posterior mean of the probability of success.
    draws : ndarray, shape (items, draws)
        The same probability for up to 256 posterior draws.
    own : Columns
        A constant, and the directions in which the layout's own elements can change.
    groups : ndarray of int, shape (items,)
        Item of each row or, where rows are steps, outcome of an item.
    profiles : ndarray, shape (draws, elements)
        The profile of the same draws.
    offset : ndarray, shape (items,)
        Log-odds of the forecast.
    """

    names: pd.Index
    successes: np.ndarray
    trials: np.ndarray
    mean: np.ndarray
    draws: np.ndarray
    own: Columns
    groups: np.ndarray
    profiles: np.ndarray
    offset: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", log_odds(self.mean))

    @classmethod
    def of(cls, fit: Fit, row: int) -> "Leftover":
        """Read a subject's outcomes and posterior from a fit, by its position."""
        items = Attempted.of(fit, row)
        kept = some_draws(fit, _DRAWS)
        mean, draws = np.empty(len(items.names)), np.empty((len(items.names), len(kept)))
        parts = every_draw(fit, row, items.features, len(mean), memory_mib=_MEMORY_MIB)
        for places, chances in parts:
            mean[places], draws[places] = chances.mean(axis=1), chances[:, kept]
        known, who = fit.elements, fit.subjects[row]
        own = constant(len(mean)).beside(tangent(draws, items.trials, len(known)))
        groups = np.arange(len(mean)) if items.steps is None else items.steps.first
        profiles = np.stack([posterior_draws(fit, each, who)[kept] for each in known], axis=1)
        counts = items.successes, items.trials
        return cls(items.names, *counts, mean, draws, own, groups, profiles)

    def expand(self, *columns: Columns, start: Expansion | None = None) -> Expansion:
        """Estimate the coefficients of columns added to the layout's forecast.

        Parameters
        ----------
        *columns : Columns
            Columns to add, in addition to the changes of the layout's own elements.
        start : Expansion, optional
            Starting point: an expansion with the same columns except the last ones.
        """
        first = None if start is None else start.coefficients
        return expand(self.offset, self.successes, self.trials, self.own.beside(*columns), first)

    def repeated(self) -> Repeated:
        """Compare outcomes with the layout alone, to see how they vary over items."""
        centred = self.profiles - self.profiles.mean(axis=0)
        pulls = log_odds(self.draws) @ centred / (len(centred) - 1)
        variances = np.maximum(centred.var(axis=0, ddof=1), np.finfo(float).tiny)
        counts = self.successes, self.trials, self.groups
        return Repeated(*counts, self.expand(), pulls, variances)


_TOLD_APART = 0.02  # least share of an effect's information that nothing else explains
_RARITY = 0.1
_ROUNDING = 1e-10


class Explained(NamedTuple):
    """How much of the residuals a property explains.

    Attributes
    ----------
    df : int
        Number of effects that can be distinguished from the base; 0 if there are none.
    statistic, p : float
        Score statistic, and the probability of one as large if the layout is complete.
    gain, gain_se : float
        Expected gain in elpd from adding effects of the levels, in nats, and its standard error.
    level : int
        Position of the level that deviates most, except "missing".
    """

    df: int
    statistic: float
    p: float
    gain: float
    gain_se: float
    level: int


@dataclass(frozen=True, eq=False)
class Background:
    """A layout expanded by free effects of the levels of some properties.

    Attributes
    ----------
    leftover : Leftover
        Outcomes and forecasts of the subject.
    base : Expansion
        The layout with these effects.
    forms : tuple of Columns
        Columns of the effects.
    chance : Chance
        Residuals of outcomes drawn from the base.
    basis : ndarray, shape (items, directions)
        Orthonormal columns that span, for outcomes of unit variance, all that the base explains.
    """

    leftover: Leftover
    base: Expansion
    forms: tuple[Columns, ...]
    chance: Chance
    basis: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        root = self._root[:, None] * self.base.columns.values
        root = root / np.maximum(np.linalg.norm(root, axis=0), _ROUNDING)
        sizes, mixed = np.linalg.eigh(root.T @ root)
        kept = sizes > _ROUNDING * sizes[-1]
        object.__setattr__(self, "basis", root @ (mixed[:, kept] / np.sqrt(sizes[kept])))

    @classmethod
    def of(
        cls, leftover: Leftover, used: Sequence[Property], rng: np.random.Generator
    ) -> "Background":
        """Make a background with free effects of every level of the properties used."""
        forms = tuple(Columns.of(part.indicators(), FORM_SD) for part in used)
        base = leftover.expand(*forms)
        return cls(leftover, base, forms, Chance.of(leftover.successes, leftover.trials, base, rng))

    def explained(self, values: np.ndarray, levels: np.ndarray) -> Explained:
        r"""Test effects of a property, and estimate the expected gain from adding them.

        Let :math:`z_i = (y_i - n_i p_i) / \sqrt{w_i}` be the standardised residuals under the base
        and :math:`H` orthonormal columns that span :math:`W^{1/2} G`, the effects :math:`G` with
        the same scaling, after projecting out the part that the base infers. The statistic is
        :math:`|H^\top z|^2`. Changes of the base's coefficients hardly affect it, so it is compared
        with its values for outcomes drawn from the base, after one Newton step of the base towards
        them (`Chance`).

        Parameters
        ----------
        values : ndarray, shape (items, effects)
            Columns of the effects.
        levels : ndarray, shape (items, levels)
            Indicators of levels, to find the level that deviates most.

        References
        ----------
        Neyman, J. (1959), Optimal asymptotic tests of composite statistical hypotheses, in:
        Probability and Statistics, ed. U. Grenander, 213-234 (the C(alpha) test).
        """
        scaled = self._scaled(values)
        free = self._free(scaled) @ self._told_apart(scaled)
        if not free.shape[1]:
            return Explained(0, np.nan, np.nan, np.nan, np.nan, 0)
        sizes, mixed = np.linalg.eigh(free.T @ free)
        directions = free @ (mixed / np.sqrt(sizes))
        statistic, p = self.chance.test(directions, self._free(directions))
        gains = self._gains(values)
        return Explained(
            directions.shape[1],
            statistic,
            p,
            float(gains.sum()),
            float(np.sqrt(len(gains) * gains.var(ddof=1))),
            self._most_deviating(levels) if levels.shape[1] else 0,
        )

    def _gains(self, values: np.ndarray) -> np.ndarray:
        """Estimate each item's gain in elpd from effects of columns."""
        added = Columns.of(values, EFFECT_SD)
        expanded = self.leftover.expand(*self.forms, added, start=self.base)
        return np.asarray(expanded.elpd - self.base.elpd)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        """Scale columns to unit information, for outcomes of unit variance."""
        root = self._root[:, None] * values
        return np.asarray(root / np.linalg.norm(root, axis=0))

    def _told_apart(self, scaled: np.ndarray) -> np.ndarray:
        """Find the combinations of columns that are not combinations of the base's columns."""
        rest = scaled - self.basis @ (self.basis.T @ scaled)
        shares, mixed = np.linalg.eigh(rest.T @ rest)
        return np.asarray(mixed[:, shares > _TOLD_APART])

    def _free(self, scaled: np.ndarray) -> np.ndarray:
        """Project out the part of columns that the base infers."""
        columns = self._root[:, None] * self.base.columns.values
        return np.asarray(scaled - columns @ (self.base.covariance @ (columns.T @ scaled)))

    @property
    def _root(self) -> np.ndarray:
        return np.asarray(np.sqrt(self.base.weights))

    def _most_deviating(self, levels: np.ndarray) -> int:
        free = self._free(self._scaled(levels))
        shares = np.square(free).sum(axis=0)
        scores = np.abs(free.T @ self.chance.residuals) / np.sqrt(np.maximum(shares, 1e-12))
        rarity = 1 - _RARITY * levels.mean(axis=0)  # the rarer of two equal levels
        return int((scores * rarity).argmax())


def explained(background: Background, candidate: Property) -> Explained:
    """Test the effects of a property's levels, given a background."""
    known = [place for place, level in enumerate(candidate.levels) if level != MISSING]
    levels = (candidate.codes[:, None] == known).astype(float)
    return background.explained(candidate.indicators(), levels)


def interplay(candidate: Property, other: Property) -> np.ndarray:
    """Multiply two properties' levels; shape (items, effects)."""
    first, second = candidate.indicators(), other.indicators()
    products = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return np.asarray(products[:, products.any(axis=0)])


_RATES = 4000  # number of rates that are drawn for an interval


def residual_table(
    leftover: Leftover, properties: Sequence[Property], prob: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare success rates with the posterior predictive distribution, cell by cell.

    Parameters
    ----------
    leftover : Leftover
        The subject's outcomes and forecasts.
    properties : sequence of Property
        Properties whose combinations of levels are the cells.
    prob : float
        Mass of the equal-tailed interval.
    rng : Generator
        Random generator of the replicated outcomes.

    Returns
    -------
    DataFrame
        One row per cell that occurs, indexed by the levels: ``items``, ``trials``, ``observed``
        and ``expected`` success rates, the ends ``low`` and ``high`` of the interval in which the
        layout expects the observed rate, and ``surprising`` where the rate lies outside.
    """
    numbers, cells = np.unique(
        np.stack([part.codes for part in properties]), axis=1, return_inverse=True
    )
    where = cells == np.arange(numbers.shape[1])[:, None]
    trials = where @ leftover.trials
    drawn = rng.binomial(leftover.trials[:, None], leftover.draws)
    rates = (where @ drawn) / trials[:, None]
    low, high = np.quantile(rates, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    observed = (where @ leftover.successes) / trials
    index = pd.MultiIndex.from_arrays(
        [
            [part.levels[code] for code in row]
            for part, row in zip(properties, numbers, strict=True)
        ],
        names=[part.name for part in properties],
    )
    return pd.DataFrame(
        {
            "items": where.sum(axis=1),
            "trials": trials,
            "observed": observed,
            "expected": (where @ (leftover.trials * leftover.mean)) / trials,
            "low": low,
            "high": high,
            "surprising": (observed < low) | (observed > high),
        },
        index if len(properties) > 1 else index.get_level_values(0),
    )


def deviation(
    background: Background, inside: np.ndarray, prob: float, rng: np.random.Generator
) -> dict[str, float]:
    """Compare the success rate on some items with the one that a background expects.

    Both are uncertain: the observed rate has the posterior Beta(successes + 1/2, failures + 1/2),
    and the expected rate is approximately normal, with the variance that follows from the
    background's coefficients.

    Returns
    -------
    dict of str to float
        ``observed``, ``expected``, their difference ``effect``, and the ends ``low`` and ``high``
        of its equal-tailed interval.
    """
    leftover, base = background.leftover, background.base
    successes, trials = leftover.successes[inside].sum(), leftover.trials[inside].sum()
    expected = leftover.trials[inside] @ base.chances[inside] / trials
    slope = base.weights[inside] @ base.columns.values[inside] / trials
    rate = rng.beta(successes + 0.5, trials - successes + 0.5, _RATES)
    forecast = rng.normal(expected, np.sqrt(slope @ base.covariance @ slope), _RATES)
    low, high = np.quantile(rate - np.clip(forecast, 0, 1), [(1 - prob) / 2, (1 + prob) / 2])
    observed = successes / trials
    return {
        "observed": float(observed),
        "expected": float(expected),
        "effect": float(observed - expected),
        "low": float(low),
        "high": float(high),
    }
