"""Meta-features of items and subjects, and derived nodes."""

from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, ClassVar

from ..linking import Expr, LayoutError
from ..linking import units as unit_names
from ..linking.arrays import Array
from ..linking.errors import check
from ..linking.expression import Dims, as_expr
from ..linking.interval import Interval
from . import fields


@dataclass(frozen=True, eq=False, repr=False)
class Node(Expr):
    """Named part of a layout."""

    name: str
    kind: ClassVar[str]
    fitting: ClassVar[str] = fields.NAME

    def __post_init__(self) -> None:
        what = f"the name {self.name!r}"
        name = fields.name(type(self).__name__, what, self.name, self.fitting)
        about = fields.text(name, "about", getattr(self, "about", ""))
        set_fields(self, name=name, about=str(about))  # NumPy's texts show as np.str_()

    def statement(self) -> list[str]:
        """Return its formula or its distribution, and remarks on it; empty if it has neither."""
        return []

    @property
    def label_dims(self) -> tuple[str, ...]:
        """Names of the node's own label dimensions."""
        return tuple(self.dims)

    def __repr__(self) -> str:
        shown = [repr(self.name)]
        for field in fields_of(self):
            value = getattr(self, field.name)
            if field.name == "unit":
                value = unit_names.name(value) or None
            if field.name != "name" and value is not None and value != field.default:
                number = isinstance(value, float)
                shown.append(f"{field.name}={f'{value:g}' if number else repr(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Labelled(Node):
    """Node that may have one value for each label."""

    default_dim: ClassVar[str] = "dimension"
    labels: tuple[str, ...] | None
    dim: str

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, labels=fields.labels(self.name, self.labels))
        named = self.dim if self.labels is not None else self.default_dim
        set_fields(self, dim=fields.name(self.name, f"dim={named!r}", named))

    @property
    def dims(self) -> Dims:
        return {} if self.labels is None else {self.dim: self.labels}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table with its values, one for each label."""
        return tuple(f"{self.name}[{label}]" for label in self.labels or ()) or (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class MetaFeature(Labelled):
    """Observed property of an item or a subject, with its range or its levels.

    Parameters
    ----------
    name : str
        Column of the table of items (or of subjects).
    low, high : float, optional
        Range of possible values. Items outside it are forecast, but flagged. An end may be
        infinite, as in ``high=float("inf")``.
    levels : sequence of float, optional
        The only possible values; given instead of a range.
    unit : str, optional
        Name of a unit in pint, or any other word; without a unit, the values are pure numbers.
    labels : sequence of str, optional
        Names of labels: each item has one value per label, read from the columns ``name[label]``.
    dim : str
        Name of the label dimension.
    about : str
        Description, shown in diagrams and tables.
    given : MetaFeature, optional
        Presence flag: an unlabelled meta-feature that can be 0. Where the flag is 0, this
        meta-feature is undefined: its columns may be empty there, and no outcome may depend on it.
    per : {"item", "subject"}
        Whether it is a property of items or of subjects. A property of subjects is a covariate,
        read from the evaluation's table of subjects.

    Raises
    ------
    LayoutError
        When neither a range nor levels are given, or both are; when the range is reversed or empty;
        when `given` is not such a meta-feature.

    Examples
    --------
    >>> MetaFeature("distance", low=0, high=40, unit="m").range
    [0, 40]
    >>> occluder = MetaFeature("occluderPresence", levels=(0, 1))
    >>> MetaFeature("timeUnderOcc", low=0, high=4, unit="s", given=occluder).given.name
    'occluderPresence'
    """

    low: float | None = None
    high: float | None = None
    levels: tuple[float, ...] | None = None
    unit: Any = None
    labels: tuple[str, ...] | None = None
    dim: str = Labelled.default_dim
    about: str = ""
    given: "MetaFeature | None" = None
    per: str = "item"
    kind: ClassVar[str] = "meta-feature"
    parents = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, levels=fields.levels(self.name, self.levels))
        set_fields(self, unit=unit_names.parse(fields.unit(self.name, self.unit)))
        if self.levels is not None:
            ranged, advice = (self.low, self.high) != (None, None), "give one of the two"
            check(self.name, not ranged, "it has both levels and a range", advice)
            set_fields(self, low=min(self.levels), high=max(self.levels))
        low, high = fields.ends(self.name, self.low, self.high)
        set_fields(self, low=low, high=high)
        advice = "a meta-feature is a property of each 'item' or of each 'subject'"
        check(self.name, self.per in ("item", "subject"), f"per={self.per!r}", advice)
        if self.given is not None:
            advice = f"give a MetaFeature without labels that is 0 where {self.name} is undefined"
            flag = f"given={self.given!r} cannot be a presence flag"
            unlabelled = isinstance(self.given, MetaFeature) and self.given.labels is None
            check(self.name, unlabelled and self.given.stand_in == 0, flag, advice)
            problem = f"it is of each {self.per}, and given={self.given} of each {self.given.per}"
            advice = f"declare both with per={self.per!r}"
            check(self.name, self.given.per == self.per, problem, advice)

    @property
    def range(self) -> Interval:
        return Interval(*fields.ends(self.name, self.low, self.high))

    @property
    def stand_in(self) -> float:
        """Value that is used where it is undefined: the possible value that is nearest to 0."""
        if self.levels is not None:
            return min(self.levels, key=abs)
        return min(max(0.0, self.range.low), self.range.high)


@dataclass(frozen=True, eq=False, repr=False)
class Derived(Node):
    """Named intermediate quantity of an item (called INON in the published layouts).

    Parameters
    ----------
    name : str
        Name in diagrams and curves.
    expression : expression
        Formula of other nodes.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When `expression` is neither an expression nor a number.

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
        read_formula(self, "expression")

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

    def statement(self) -> list[str]:
        return [f"= {self.expression}"]

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return values[0]


def set_fields(node: Node, **values: object) -> None:
    """Set fields of a frozen node to their normalised values."""
    for name, value in values.items():
        object.__setattr__(node, name, value)


def read_formula(node: Node, part: str) -> None:
    """Make a field an expression: a number becomes a constant.

    Raises
    ------
    LayoutError
        When the field is neither an expression of numbers nor a number.
    """
    try:
        formula = as_expr(getattr(node, part))
        _ = formula.range  # what is no number has none, and says so
        set_fields(node, **{part: formula})
    except LayoutError as error:
        raise LayoutError(f"{node.name}: its {part}: {error}") from None
