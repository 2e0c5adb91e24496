"""Measured demands: levels that annotators judged, each with a probability, and means over them."""

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import mul
from typing import Any, ClassVar

from ...linking import Expr, arrays
from ...linking import units as unit_names
from ...linking.arrays import Array
from ...linking.expression import Dims, Formula, merge_dims, same_unit
from ...linking.interval import Interval
from .. import fields
from ..nodes import Labelled, MetaFeature, set_fields


class Chance(MetaFeature):
    """Meta-feature with the probability that a measured demand has one of its levels."""


@dataclass(frozen=True, eq=False, repr=False)
class Measured(Labelled):
    r"""Demand whose level annotators judged: each item has a probability for each level.

    .. math:: p(y_i) = \sum_{\ell} \Big[ \prod_d q_{id}(\ell_d) \Big]
        \mathrm{Binomial}(y_i; n_i, P(\ell))

    with the probability :math:`q_{id}(\ell)` that item i has level :math:`\ell` on dimension d, and
    the layout's probability of success P given all levels. It is used in expressions as a
    `MetaFeature` with the same levels is, and adds no latent. The levels of an item are independent
    of each other given the annotations, and the same in all trials of the item.

    When an item has one trial, its probability of success is the mean over the levels. When the
    layout multiplies parts that each use one dimension (non-compensatory layouts), and mixes or
    adds the products, the mean is computed part by part, and is exact for any number of dimensions.
    When it does not factorise (additive layouts), or an item has several trials, the mean is
    computed over all levels together. It is exact when these have at most 256 combinations, and
    otherwise uses 128 quasi-random draws of all levels, the same for all subjects. With these
    draws, a probability of success was off by less than .003 on average and .01 at most for a sum
    of four demands of six levels, compared with all 1,296 combinations; for 18 demands it has not
    been measured.

    Each subject is fitted alone, so that the outcomes of other subjects do not inform the levels
    of an item. In a joint layout, all subjects would share them; it is refused. Declare there the
    expected level of each item as a `MetaFeature`, and an ease of each item, whose spread contains
    the errors of the levels.

    Parameters
    ----------
    name : str
        Name of the demand. The probabilities are columns of the items, named ``name level[label]``,
        as `Evaluation.with_measured` writes them.
    levels : sequence of float
        Possible levels, in order.
    unit : str, optional
        Unit of the levels.
    labels : sequence of str, optional
        Dimensions of the demand: each item has one level per label.
    dim : str
        Name of the label dimension.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When the levels are fewer than two, repeat, or are not finite.

    References
    ----------
    Carroll et al. (2006), Measurement Error in Nonlinear Models, section 8.2, for the likelihood.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> from measurement_layouts.linking import logistic, product
    >>> kinds = ("reading", "reasoning")
    >>> demand = Measured("demand", levels=(0, 1, 2), labels=kinds)
    >>> ability = Capability("ability", low=0, high=2, labels=kinds)
    >>> right = product(logistic(ability - demand), over="dimension")
    >>> layout = Layout("exam", Success("right", right))
    >>> [feature.columns for feature in layout.meta_features][-1]
    ('demand 2[reading]', 'demand 2[reasoning]')
    """

    levels: tuple[float, ...] = ()
    unit: Any = None
    labels: tuple[str, ...] | None = None
    dim: str = Labelled.default_dim
    about: str = ""
    kind: ClassVar[str] = "measured"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, levels=tuple(sorted(fields.levels(self.name, self.levels) or ())))
        set_fields(self, unit=unit_names.parse(fields.unit(self.name, self.unit)))

    @cached_property
    def chances(self) -> tuple[Chance, ...]:
        """Probability of each level, in their order."""
        labelled: dict[str, Any] = {"labels": self.labels, "dim": self.dim} if self.labels else {}
        return tuple(
            Chance(chance_name(self.name, level), low=0, high=1, **labelled)
            for level in self.levels
        )

    @property
    def parents(self) -> tuple[Expr, ...]:
        return self.chances

    @property
    def range(self) -> Interval:
        return Interval(self.levels[0], self.levels[-1])

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        """Compute the expected level."""
        return sum(value * level for value, level in zip(values, self.levels, strict=True))


@dataclass(frozen=True, eq=False)
class Places:
    """Points over which an outcome is averaged, and which the trials of an item share.

    Attributes
    ----------
    name : str
        Name of the quantity that is averaged over.
    dim : str
        Dimension of the points.
    weights : Expr
        Weight of each point; the weights of an item add up to 1.
    """

    name: str
    dim: str
    weights: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Mean(Formula):
    """Mean of values, and along a dimension if it is named, by weights that add up to 1."""

    weights: tuple[Expr, ...]
    values: tuple[Expr, ...]
    over: str | None = None
    name: None = field(default=None, init=False)

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (*self.weights, *self.values)

    @cached_property
    def dims(self) -> Dims:
        return {dim: names for dim, names in merge_dims(self.parents).items() if dim != self.over}

    @cached_property
    def range(self) -> Interval:
        return reduce(Interval.hull, (value.range for value in self.values))

    @cached_property
    def unit(self) -> unit_names.Unit:
        return same_unit(self.values, "averaged with")

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        count = len(self.weights)
        mean = sum(map(mul, values[:count], values[count:]))
        if self.over is None:
            return mean
        return arrays.sum(mean, axis=dims.index(self.over) - len(dims), keepdims=True)


def chance_name(name: str, level: float) -> str:
    """Name the column of items with the probability of a level, but for its label."""
    return f"{name} {level:g}"
