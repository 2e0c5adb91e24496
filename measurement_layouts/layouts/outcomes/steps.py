"""Successes out of trials, and other outcomes as the steps that are fitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ...linking import Expr, arrays, linking_function, logit
from ...linking.arrays import Array
from ...linking.errors import check
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ..nodes import Derived, MetaFeature
from .measured import Mean, Places
from .ordered import OrderedOutcome, check_probability, check_unlabelled
from .unseen import Unseen


class Success(Derived):
    """Observed outcome: successes out of trials, each with the expression's probability.

    When the expression uses an `Unseen` property of the item, it is the probability for one value
    of the property, which all trials of an item share. A forecast averages over the values.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> Success("pass", Capability("skill", low=0, high=1)).range
    [0, 1]

    Raises
    ------
    LayoutError
        When the expression may be outside [0, 1], has a unit, has a value per label, or uses two
        unseen properties.
    """

    kind: ClassVar[str] = "outcome"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.name, self.expression, "probability")
        names = " and ".join(unseen.name for unseen in self._all_unseen)
        advice = "join them, as in Unseen(name, mean_1 + mean_2, (spread_1**2 + spread_2**2)**0.5)"
        check(self.name, len(self._all_unseen) < 2, f"{names} are both unseen", advice)
        points = frozenset(() if self.unseen is None else (self.unseen.dim,))
        check_unlabelled(self.name, self.expression, "probability", besides=points)

    @cached_property
    def _all_unseen(self) -> list[Unseen]:
        """Unseen properties that the expression uses, each once."""
        unseen = (node for node in ancestry(self.expression) if isinstance(node, Unseen))
        return list({node.name: node for node in unseen}.values())

    @property
    def steps(self) -> tuple[str, ...]:
        """Its one step: success."""
        return ("1",)

    @property
    def unseen(self) -> Unseen | Places | None:
        """Unobserved property of the item that its trials share, if there is one."""
        return self._all_unseen[0] if self._all_unseen else None

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.expression,) if self.unseen is None else (self.expression, self.unseen.weights)

    @property
    def dims(self) -> Dims:
        return {}

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        if self.unseen is None:
            return values[0]
        chances, weights = values
        axis = dims.index(self.unseen.dim) - len(dims)
        return arrays.sum(chances * weights, axis=axis, keepdims=True)


type Observed = Success | OrderedOutcome
"""An outcome that is declared and observed."""

MARK = "· "
"""Prefix of the names of hidden nodes; a declared node cannot have such a name."""

HIDDEN = rf"{MARK}.+"
"""Pattern of the names of hidden nodes."""

_CONTINUES = f"{MARK}continues"


@dataclass(frozen=True, eq=False, repr=False)
class Hidden(MetaFeature):
    """Meta-feature that identifies the step of a row; it is no property of items and not shown."""

    fitting: ClassVar[str] = HIDDEN


@linking_function(range=(0, 1))
def _passed(p: Array, threshold: Array, distance: Array, continues: Array, scale: Array) -> Array:
    r"""Probability of passing a step, given that the one before was passed.

    .. math:: r_k = \frac{\sigma(m_k)}{\sigma(m_k + d_k)} = e^{-d_k} + (1 - e^{-d_k}) \sigma(m_k)

    with the margin m of the step and its distance d from the one before; where it does not continue
    another one, the probability of reaching it, :math:`\sigma(m_k)`.
    """
    floor = continues * arrays.exp(-scale * distance)
    return floor + (1 - floor) * arrays.sigmoid(scale * (logit(p) - threshold))


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Success):
    """All outcomes of a layout as one: its rows are items, outcomes and steps.

    Every step is a success or failure, given that the step before was passed. The product over the
    steps is the probability of a grade or a score; the product over outcomes takes them as
    independent given the profile.
    """

    outcomes: tuple[Observed, ...] = ()
    fitting: ClassVar[str] = HIDDEN

    @classmethod
    def of(cls, outcomes: Sequence[Observed]) -> Self:
        """Join the outcomes of a layout."""
        steps = tuple(map(_step, outcomes))
        picks = tuple(Hidden(_pick(outcome), levels=(0, 1)) for outcome in outcomes)
        chosen = steps[0] if len(steps) == 1 else Mean(picks, steps)
        return cls(f"{MARK}outcomes", chosen, outcomes=tuple(outcomes))

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the rows of each outcome end among one item's."""
        return np.cumsum([len(outcome.steps) for outcome in self.outcomes])

    @cached_property
    def rows(self) -> list[tuple[str, int, str]]:
        """Rows of one item: names of outcome and step, and the step's number from 1."""
        return [
            (outcome.name, number, step)
            for outcome in self.outcomes
            for number, step in enumerate(outcome.steps, 1)
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
        columns = {_CONTINUES: np.zeros(len(rows)) if cumulative else np.where(first, 0.0, 1.0)}
        for outcome, start, end in zip(self.outcomes, starts, self.ends, strict=True):
            inside = (rows >= start) & (rows < end)
            columns[_pick(outcome)] = inside.astype(float)
            if isinstance(outcome, OrderedOutcome):
                step = np.where(inside, rows - start, 0)
                columns |= {name: numbers[step] for name, numbers in _numbers(outcome).items()}
        return {feature.name: columns[feature.name] for feature in self.features}

    @cached_property
    def features(self) -> tuple[Hidden, ...]:
        """The hidden meta-features."""
        hidden = (node for node in ancestry(self.expression) if isinstance(node, Hidden))
        return tuple({feature.name: feature for feature in hidden}.values())


def _step(outcome: Observed) -> Expr:
    """Probability of passing a step of an outcome, from hidden meta-features."""
    if isinstance(outcome, Success):
        return outcome.expression
    (dim, labels), *_ = [*outcome.gaps.items(), ("", None)]
    labelled: dict[str, Any] = {"labels": labels, "dim": dim} if labels else {}
    threshold, distance = (
        Hidden(name, low=float(numbers.min()) - 1, high=float(numbers.max()) + 1, **labelled)
        for name, numbers in _numbers(outcome).items()
    )
    continues = Hidden(_CONTINUES, levels=(0, 1))
    (_, other), (over, *_) = outcome.parents, [*outcome.gaps, None]
    lines = (outcome.lines(numbers, other, over) for numbers in (threshold, distance))
    passed: Expr = _passed(outcome.performance, *lines, continues, outcome.scale)
    return passed


def _pick(outcome: Observed) -> str:
    """Name the hidden meta-feature that is 1 on the rows of an outcome."""
    return f"{MARK}{outcome.name} {MARK}pick"


def _numbers(outcome: OrderedOutcome) -> dict[str, np.ndarray]:
    """Thresholds and distances of an outcome, by the names of their hidden meta-features."""
    return {
        f"{MARK}{outcome.name} {MARK}threshold": outcome.thresholds,
        f"{MARK}{outcome.name} {MARK}distance": outcome.distances,
    }
