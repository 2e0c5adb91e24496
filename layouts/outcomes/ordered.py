"""Ordered outcomes, of several steps: what graded answers and scores have in common."""

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...linking import Expr, LayoutError, arrays
from ...linking import units as unit_names
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ...linking.interval import UNIT, Interval
from ..nodes import Node, read_formula
from .unseen import Unseen

EDGE = 1e-12  # a performance stays this far from 0 and 1, so that its log-odds are finite


@dataclass(frozen=True, eq=False, repr=False)
class OrderedOutcome(Node):
    """Observed leaf whose outcome is how many steps were passed, each after the one before.

    As an expression it is the expected outcome.
    """

    performance: Expr
    kind: ClassVar[str] = "outcome"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read("performance")
        check_probability(self.name, self.performance, "performance")
        check_unlabelled(self.name, self.performance, "performance")

    def _read(self, part: str) -> None:
        """Make a field an expression without unseen properties."""
        read_formula(self, part)
        unseen = [of.name for of in ancestry(getattr(self, part)) if isinstance(of, Unseen)]
        if unseen:
            raise LayoutError(
                f"{self.name}: its {part} uses {unseen[0]}, which is unseen: all steps of an "
                "item would share it, and steps are trials of their own; give the item's property "
                "as a MetaFeature, or declare a Success"
            )

    def _check_positive(self, part: str) -> None:
        """Refuse a scale that may be negative, is 0, or has a unit."""
        scale: Expr = getattr(self, part)
        if scale.range not in Interval(0, float("inf")) or scale.range == Interval(0, 0):
            raise LayoutError(
                f"{self.name}: its {part} {scale} ranges over {scale.range}, and must be positive; "
                "give a positive number or a Slope"
            )
        if not unit_names.is_pure(scale.unit):
            raise LayoutError(
                f"{self.name}: its {part} {scale} has {unit_names.text(scale.unit)}, but log-odds "
                "are pure numbers; give a Slope without a unit, or a number"
            )

    @property
    @abstractmethod
    def steps(self) -> tuple[str, ...]:
        """Names of the steps, in order."""

    @property
    @abstractmethod
    def scale(self) -> Expr:
        """What the log-odds of the performance are multiplied by."""

    @property
    @abstractmethod
    def thresholds(self) -> np.ndarray:
        """Where each step lies, (steps,), or what it has of each gap, (steps, gaps)."""

    @property
    @abstractmethod
    def distances(self) -> np.ndarray:
        """How far each step lies above the one before, in the same form; 0 for the first."""

    @abstractmethod
    def laid_out(self, numbers: Expr) -> Expr:
        """Turn a row of `thresholds` or `distances` into log-odds."""

    @abstractmethod
    def written(self, write: Callable[[Expr], str]) -> str:
        """Say how it is distributed, with each part written by `write`."""

    @property
    def gaps(self) -> Dims:
        """Dimension along which `thresholds` has several numbers for a step."""
        return {}

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def unit(self) -> unit_names.Unit:
        return self.performance.unit

    @abstractmethod
    def margin(
        self, place: Array, other: Array, threshold: np.ndarray, dims: tuple[str, ...]
    ) -> Array:
        """Say how far the performance lies above a step, all in log-odds."""

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        performance, other = values
        place = logit(performance)
        reached = [
            arrays.sigmoid(self.margin(place, other, threshold, dims))
            for threshold in self.thresholds
        ]
        return functools.reduce(operator.add, reached)


def logit(p: Array) -> Array:
    """Log-odds of a probability, kept away from 0 and 1."""
    inside = arrays.minimum(arrays.maximum(p, EDGE), 1 - EDGE)
    return arrays.log(inside) - arrays.log1p(-inside)


def check_probability(owner: str, expression: Expr, what: str) -> None:
    """Refuse what can leave [0, 1] or has a unit."""
    if expression.range not in UNIT:
        raise LayoutError(
            f"{owner}: its {what} {expression} ranges over {expression.range} and may "
            "leave [0, 1]; pass a margin through logistic, write noise as "
            "mixture(p, by=noise, toward=0.5) and guessing as guessing(p, chance), and let the "
            "weights of a sum add up to 1"
        )
    if not unit_names.is_pure(expression.unit):
        raise LayoutError(
            f"{owner}: its {what} {expression} has {unit_names.text(expression.unit)}, "
            f"but a {what} is a pure number; pass the margin through logistic"
        )


def check_unlabelled(
    owner: str, expression: Expr, what: str, besides: frozenset[str] = frozenset()
) -> None:
    """Refuse what still has a value per label."""
    labelled = set(expression.dims) - besides
    if labelled:
        raise LayoutError(
            f"{owner}: its {what} still has one value per label of "
            f"{sorted(labelled)}; reduce it with product(..., over=) or "
            "generalised_mean(..., power=, over=)"
        )
