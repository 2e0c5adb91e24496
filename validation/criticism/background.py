"""What a property is held against: a layout that may use its own properties in any form."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .chance import Chance
from .expansion import EFFECT_SD, FORM_SD, Columns, Expansion
from .leftover import Leftover
from .properties import MISSING, Property

_TOLD_APART = 0.02  # part of an effect's information that nothing else could explain
_RARITY = 0.1
_ROUNDING = 1e-10


class Explained(NamedTuple):
    """What a property explains of what is left over.

    Attributes
    ----------
    df : int
        Effects that could be told apart from the rest; 0 where none could.
    statistic, p : float
        Score statistic, and the chance of one as large where the layout misses nothing.
    gain, gain_se : float
        Expected gain in elpd from adding effects of the levels, in nats, and its standard error.
    level : int
        The level that deviates most, "missing" aside.
    """

    df: int
    statistic: float
    p: float
    gain: float
    gain_se: float
    level: int


@dataclass(frozen=True, eq=False)
class Background:
    """A layout with free forms of some properties.

    Attributes
    ----------
    leftover : Leftover
        The subject.
    base : Expansion
        The layout and those forms.
    forms : tuple of Columns
        The forms.
    chance : Chance
        What outcomes drawn from the base would leave over.
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
        """Let properties explain what they can, in whatever form."""
        forms = tuple(Columns.of(part.indicators(), FORM_SD) for part in used)
        base = leftover.expand(*forms)
        return cls(leftover, base, forms, Chance.of(leftover.successes, leftover.trials, base, rng))

    def explained(self, values: np.ndarray, levels: np.ndarray) -> Explained:
        r"""Test effects of a property, and forecast what adding them would gain.

        Let :math:`z_i = (y_i - n_i p_i) / \sqrt{w_i}` be the standardised residuals under the base
        and :math:`H` orthonormal columns that span :math:`W^{1/2} G`, effects :math:`G` scaled
        alike, after what the base infers of them is projected out. The statistic is
        :math:`|H^\top z|^2`. As nothing that the base could still do changes it much, it is
        compared with its values for outcomes drawn from the base, after one Newton step of the base
        towards them (`Chance`).

        Parameters
        ----------
        values : ndarray, shape (items, effects)
            Columns.
        levels : ndarray, shape (items, levels)
            Indicators of levels, to say which one deviates most.

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
        """Forecast each item's gain in elpd from effects of columns."""
        added = Columns.of(values, EFFECT_SD)
        expanded = self.leftover.expand(*self.forms, added, start=self.base)
        return np.asarray(expanded.elpd - self.base.elpd)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        """Scale columns to unit information, for outcomes of unit variance."""
        root = self._root[:, None] * values
        return np.asarray(root / np.linalg.norm(root, axis=0))

    def _told_apart(self, scaled: np.ndarray) -> np.ndarray:
        """Find the combinations of columns that no combination of the base's columns equals."""
        rest = scaled - self.basis @ (self.basis.T @ scaled)
        shares, mixed = np.linalg.eigh(rest.T @ rest)
        return np.asarray(mixed[:, shares > _TOLD_APART])

    def _free(self, scaled: np.ndarray) -> np.ndarray:
        """Project out what the base infers of columns."""
        columns = self._root[:, None] * self.base.columns.values
        return np.asarray(scaled - columns @ (self.base.covariance @ (columns.T @ scaled)))

    @property
    def _root(self) -> np.ndarray:
        return np.asarray(np.sqrt(self.base.weights))

    def _most_deviating(self, levels: np.ndarray) -> int:
        free = self._free(self._scaled(levels))
        shares = np.square(free).sum(axis=0)
        scores = np.abs(free.T @ self.chance.residuals) / np.sqrt(np.maximum(shares, 1e-12))
        rarity = 1 - _RARITY * levels.mean(axis=0)  # two levels deviate alike: name the rarer one
        return int((scores * rarity).argmax())


def explained(background: Background, candidate: Property) -> Explained:
    """Hold a property's levels against a background."""
    known = [place for place, level in enumerate(candidate.levels) if level != MISSING]
    levels = (candidate.codes[:, None] == known).astype(float)
    return background.explained(candidate.indicators(), levels)


def interplay(candidate: Property, other: Property) -> np.ndarray:
    """Products of two properties' levels, shape (items, effects)."""
    first, second = candidate.indicators(), other.indicators()
    products = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return np.asarray(products[:, products.any(axis=0)])
