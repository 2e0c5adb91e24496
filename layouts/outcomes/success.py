"""The outcome of a layout: successes out of trials."""

from functools import cached_property
from typing import ClassVar

from ...linking import Expr, LayoutError, arrays
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ..nodes import Derived
from .ordered import check_probability, check_unlabelled
from .unseen import Unseen


class Success(Derived):
    """Observed leaf: successes out of trials, each with the expression's probability.

    Where the expression uses an `Unseen` property of the item, that is its probability for one
    value of the property, which all trials of an item share; a forecast averages over the values.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> Success("pass", Capability("skill", low=0, high=1)).range
    [0, 1]

    Raises
    ------
    LayoutError
        When the expression can leave [0, 1], has a unit, still has a value per label, or uses two
        unseen properties.
    """

    kind: ClassVar[str] = "outcome"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.name, self.expression, "probability")
        unseen = self._all_unseen
        if len(unseen) > 1:
            raise LayoutError(
                f"{self.name}: {' and '.join(part.name for part in unseen)} are both unseen; join "
                "them into one, as in Unseen(name, mean_1 + mean_2, (spread_1**2 + spread_2**2) "
                "** 0.5)"
            )
        places = frozenset(part.dim for part in unseen)
        check_unlabelled(self.name, self.expression, "probability", besides=places)

    @cached_property
    def _all_unseen(self) -> list[Unseen]:
        """Unseen properties that the expression uses, each once."""
        found = [part for part in ancestry(self.expression) if isinstance(part, Unseen)]
        return list({part.name: part for part in found}.values())

    @property
    def steps(self) -> tuple[str, ...]:
        """Its one step: success."""
        return ("1",)

    @property
    def unseen(self) -> Unseen | None:
        """Property of the item that the trials share and nobody observed, if there is one."""
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
        given, weights = values
        axis = dims.index(self.unseen.dim) - len(dims)
        return arrays.sum(given * weights, axis=axis, keepdims=True)
