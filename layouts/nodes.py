"""Items' side of a layout: meta-features, derived nodes and the outcome, frozen values with a name."""

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..linking import Expr, LayoutError
from ..linking import units as unit_names
from ..linking.arrays import Array
from ..linking.expression import Dims, as_expr
from ..linking.interval import UNIT, Interval


@dataclass(frozen=True)
class Node(Expr):
    """Anything in a layout that has a name."""

    name: str
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[^\W\d][\w .-]*", self.name):
            raise LayoutError(
                f"{type(self).__name__}: the name {self.name!r} must start with a letter and hold "
                "only letters, digits, '_', '-', '.' and spaces; it names a column and a variable"
            )

    @property
    def label_dims(self) -> tuple[str, ...]:
        """Names of the node's own label dimensions."""
        return tuple(self.dims)

    __str__ = Expr.__str__


@dataclass(frozen=True)
class Labelled(Node):
    """A node that may hold one value per label."""

    @cached_property
    def dims(self) -> Dims:
        labels: tuple[str, ...] | None = getattr(self, "labels", None)
        return {} if labels is None else {self.dim: tuple(labels)}  # type: ignore[attr-defined]

    def check_labels(self) -> None:
        for labels in self.dims.values():
            if isinstance(getattr(self, "labels", None), str) or not labels:
                raise LayoutError(f"{self.name}: labels= must be a tuple of at least one name")
            if len(set(labels)) < len(labels):
                raise LayoutError(
                    f"{self.name}: labels {labels} repeat a name; make each different"
                )


@dataclass(frozen=True)
class MetaFeature(Labelled):
    """Observed property of an item, with its range or its levels frozen here.

    Parameters
    ----------
    name : str
        Column of the items.
    low, high : float, optional
        Range; an item outside is forecast, and flagged. An end may be infinite when said so.
    levels : sequence of float, optional
        The only values it takes, instead of a range.
    unit : str, optional
        pint's, or a word of your own; none is a pure number.
    labels : sequence of str, optional
        One value per label and item, read from the columns ``name[label]``.
    dim : str
        Name of the label dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When neither a range nor levels are given, or both, or the range is reversed or empty.

    Examples
    --------
    >>> MetaFeature("distance", low=0, high=40, unit="m").range
    [0, 40]
    """

    low: float | None = None
    high: float | None = None
    levels: tuple[float, ...] | None = None
    unit: Any = None
    labels: tuple[str, ...] | None = None
    dim: str = "dimension"
    about: str = ""
    kind: ClassVar[str] = "meta-feature"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, levels=as_tuple(self.levels), labels=as_tuple(self.labels))
        settle(self, unit=unit_names.parse(self.unit))
        self.check_labels()
        if self.levels is not None:
            if self.low is not None or self.high is not None:
                raise LayoutError(f"{self.name}: give levels= or low= and high=, not both")
            if len(set(self.levels)) < 2:
                raise LayoutError(
                    f"{self.name}: levels {self.levels} hold fewer than two different values; a "
                    "property that never varies cannot tell subjects apart, leave it out"
                )
            settle(self, low=min(self.levels), high=max(self.levels))
        check_range(self, self.low, self.high)

    @property
    def parents(self) -> tuple[Expr, ...]:
        return ()

    @property
    def range(self) -> Interval:
        return interval(self.low, self.high)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the items that hold its values."""
        return (
            (self.name,)
            if self.labels is None
            else tuple(f"{self.name}[{label}]" for label in self.labels)
        )


@dataclass(frozen=True)
class Derived(Node):
    """Named intermediate quantity of an item (the published INON).

    Parameters
    ----------
    name : str
        Name in diagrams and curves.
    expression : expression
        Formula of other nodes.
    about : str
        What it is.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> Derived("see", logistic(sight - MetaFeature("smallness", low=0, high=2))).range
    [0, 1]
    """

    expression: Expr
    about: str = ""
    kind: ClassVar[str] = "derived"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, expression=as_expr(self.expression))

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.expression,)

    @property
    def dims(self) -> Dims:
        return self.expression.dims

    @property
    def range(self) -> Interval:
        return self.expression.range

    @property
    def unit(self) -> unit_names.Unit:
        return self.expression.unit

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return values[0]


class Success(Derived):
    """Observed leaf: successes out of trials, each with the expression's probability.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> Success("pass", Capability("skill", low=0, high=1)).range
    [0, 1]

    Raises
    ------
    LayoutError
        When the expression can leave [0, 1], or still has a value per label.
    """

    kind: ClassVar[str] = "outcome"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.range not in UNIT:
            raise LayoutError(
                f"{self.name}: its probability {self.expression} ranges over {self.range} and may "
                "leave [0, 1]; pass a margin through logistic, write noise as mixture(p, by=noise) "
                "and guessing as guessing(p, chance), and let the weights of a sum add up to 1"
            )
        if self.dims:
            raise LayoutError(
                f"{self.name}: its probability still has one value per label of "
                f"{sorted(self.dims)}; reduce it with product(..., over=) or "
                "generalised_mean(..., power=, over=)"
            )


def settle(node: Node, **fields: object) -> None:
    """Put the normalised form of a field into a frozen node."""
    for name, value in fields.items():
        object.__setattr__(node, name, value)


def as_tuple(values: Any) -> Any:
    return values if values is None or isinstance(values, str) else tuple(values)


def interval(low: float | None, high: float | None) -> Interval:
    return Interval(-math.inf if low is None else low, math.inf if high is None else high)


def check_range(node: Node, low: float | None, high: float | None) -> None:
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        raise LayoutError(
            f"{node.name}: low={low}, high={high}; give both ends of the range (an end may be "
            "float('inf') when nothing bounds it)"
        )
    if low >= high:
        what = "is reversed" if low > high else "has zero width"
        raise LayoutError(f"{node.name}: the range [{low:g}, {high:g}] {what}; give low < high")
