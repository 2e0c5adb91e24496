"""Outcomes as steps: the leaf that fits are made of, with a row for every step of every item."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ...linking import Expr, arrays, linking_function
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ..nodes import MetaFeature
from .ordered import OrderedOutcome, logit
from .success import Success

type Leaf = Success | OrderedOutcome
"""An outcome that is declared and observed."""

MARK = "· "
"""What the names of hidden nodes begin with, and no node's that somebody declares."""

_HIDDEN = rf"{MARK}.+"
_CONTINUES = f"{MARK}continues"


@dataclass(frozen=True, eq=False, repr=False)
class Hidden(MetaFeature):
    """Meta-feature of a row that says which step it is; no item has it, and nothing shows it."""

    fitting: ClassVar[str] = _HIDDEN


@linking_function(range=(0, 1))
def _passed(p: Array, threshold: Array, distance: Array, continues: Array, scale: Array) -> Array:
    r"""Probability of passing a step, given that the one before was passed.

    .. math:: r_k = \frac{\sigma(m_k)}{\sigma(m_k + d_k)} = e^{-d_k} + (1 - e^{-d_k}) \sigma(m_k)

    with the margin m of the step and its distance d from the one before; where it does not continue
    another one, the probability of reaching it, :math:`\sigma(m_k)`.
    """
    floor = continues * arrays.exp(-scale * distance)
    return floor + (1 - floor) * arrays.sigmoid(scale * (logit(p) - threshold))


@linking_function(range=(0, 1))
def _chosen(*picks_and_values: Array) -> Array:
    """Take the value of the one whose pick is 1; picks come first, then as many values."""
    count = len(picks_and_values) // 2
    picks, values = picks_and_values[:count], picks_and_values[count:]
    found = picks[0] * values[0]
    for pick, value in zip(picks[1:], values[1:], strict=True):
        found = found + pick * value
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Success):
    """All outcomes of a layout as one: its rows are items, outcomes and steps.

    Every step is a success or failure, given that the step before was passed. The product over the
    steps is the probability of a grade or a score; the product over outcomes takes them as
    independent given the profile.
    """

    leaves: tuple[Leaf, ...] = ()
    fitting: ClassVar[str] = _HIDDEN

    @classmethod
    def of(cls, leaves: Sequence[Leaf]) -> Self:
        """Join the leaves of a layout."""
        parts = [_step(leaf) for leaf in leaves]
        picks = [Hidden(_pick(leaf), levels=(0, 1)) for leaf in leaves]
        joint = parts[0] if len(parts) == 1 else _chosen(*picks, *parts)
        return cls(f"{MARK}outcomes", joint, leaves=tuple(leaves))

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the rows of each leaf end among one item's."""
        return np.cumsum([len(leaf.steps) for leaf in self.leaves])

    @cached_property
    def rows(self) -> list[tuple[str, int, str]]:
        """Rows of one item: names of outcome and step, and the step's number from 1."""
        return [
            (leaf.name, number, step)
            for leaf in self.leaves
            for number, step in enumerate(leaf.steps, 1)
        ]

    def hidden(self, rows: np.ndarray, *, cumulative: bool = False) -> dict[str, np.ndarray]:
        """Give rows their hidden meta-features.

        Parameters
        ----------
        rows : ndarray of int
            Which of `rows` each of them is.
        cumulative : bool
            Whether the probability is that of reaching a step, and not of passing it given that
            the step before was passed.

        Returns
        -------
        dict of str to ndarray
            By name, shape (rows,) or (rows, labels).
        """
        starts = [0, *self.ends[:-1].tolist()]
        first = np.isin(rows, starts)
        found = {_CONTINUES: np.zeros(len(rows)) if cumulative else np.where(first, 0.0, 1.0)}
        for leaf, start, end in zip(self.leaves, starts, self.ends, strict=True):
            own = (rows >= start) & (rows < end)
            if len(self.leaves) > 1:
                found[_pick(leaf)] = own.astype(float)
            if isinstance(leaf, OrderedOutcome):
                step = np.where(own, rows - start, 0)
                for name, numbers in _numbers(leaf).items():
                    found[name] = numbers[step]
        known = {feature.name for feature in self.features}
        return {name: values for name, values in found.items() if name in known}

    @cached_property
    def features(self) -> tuple[Hidden, ...]:
        """The hidden meta-features."""
        found = [part for part in ancestry(self.expression) if isinstance(part, Hidden)]
        return tuple({feature.name: feature for feature in found}.values())


def _step(leaf: Leaf) -> Expr:
    """Probability of passing a step of a leaf, from hidden meta-features."""
    if isinstance(leaf, Success):
        return leaf.expression
    (dim, labels), *_ = [*leaf.gaps.items(), ("", None)]
    labelled: dict[str, Any] = {"labels": labels, "dim": dim} if labels else {}
    threshold, distance = (
        Hidden(name, low=float(numbers.min()) - 1, high=float(numbers.max()) + 1, **labelled)
        for name, numbers in _numbers(leaf).items()
    )
    continues = Hidden(_CONTINUES, levels=(0, 1))
    found: Expr = _passed(
        leaf.performance,
        leaf.laid_out(threshold),
        leaf.laid_out(distance),
        continues,
        leaf.scale,
    )
    return found


def _pick(leaf: Leaf) -> str:
    """Name the hidden meta-feature that is 1 on the rows of an outcome."""
    return f"{MARK}{leaf.name} {MARK}pick"


def _numbers(leaf: OrderedOutcome) -> dict[str, np.ndarray]:
    """Thresholds and distances of an outcome, by the names of their hidden meta-features."""
    return {
        f"{MARK}{leaf.name} {MARK}threshold": leaf.thresholds,
        f"{MARK}{leaf.name} {MARK}distance": leaf.distances,
    }
