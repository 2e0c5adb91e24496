"""Unseen properties of items, which are known with uncertainty and averaged over."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...linking import Expr, arrays
from ...linking import units as unit_names
from ...linking.arrays import Array
from ...linking.errors import check
from ...linking.evaluation import ancestry
from ...linking.expression import Dims, Source, as_expr, merge_dims, same_unit
from ...linking.interval import REALS, UNIT, Interval
from ..nodes import Node, read_formula

_REACH, _PLACES = 4.8, 121  # standard deviations to either side, and places on the way
_LEAST = 1e-300  # weight of a place, so that its logarithm is a number

_NONE, _COUNT = as_expr(0), (Interval(0, np.inf), "a count is at least 0")
_ALLOWED = {
    "mean": (REALS, ""),
    "spread": (Interval(0, np.inf), "a standard deviation is at least 0"),
    "positive": _COUNT,
    "negative": _COUNT,
    "noise": (UNIT, "a noise must be within [0, 1]"),
}

SCORES = np.linspace(-_REACH, _REACH, _PLACES)
"""Places that stand for a standard normal variable, shape (places,)."""


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Source):
    """Numbers along dimensions, in the layout's order, the last one fastest."""

    name: str
    along: Dims
    values: tuple[float, ...]
    unit: unit_names.Unit = None

    @property
    def dims(self) -> Dims:
        return self.along

    @property
    def range(self) -> Interval:
        return Interval(min(self.values), max(self.values))

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return np.reshape(self.values, [len(self.along.get(dim, "1")) for dim in dims])


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Expr):
    """Weight of each place of an unseen property; an item's weights add up to 1."""

    unseen: "Unseen"
    name: None = field(default=None, init=False)
    range = UNIT
    unit = None

    @property
    def parents(self) -> tuple[Expr, ...]:
        unseen = self.unseen
        return (unseen.scores, unseen, unseen.positive, unseen.negative, unseen.noise)

    @cached_property
    def dims(self) -> Dims:
        return merge_dims(self.parents)

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        scores, level, positive, negative, noise = values
        axis = dims.index(self.unseen.dim) - len(dims)
        log_prior = -0.5 * scores**2
        prior = _adding_up(arrays.exp(log_prior), axis)
        misses = positive * arrays.softplus(-level) + negative * arrays.softplus(level)
        logs = log_prior - misses
        posterior = _adding_up(arrays.exp(logs - arrays.max(logs, axis=axis, keepdims=True)), axis)
        return arrays.maximum(posterior + noise * (prior - posterior), _LEAST)


def _adding_up(weights: Array, axis: int) -> Array:
    """Scale weights so that they add up to 1 along an axis."""
    return weights / arrays.sum(weights, axis=axis, keepdims=True)


@dataclass(frozen=True, eq=False, repr=False)
class Unseen(Node):
    r"""Latent meta-feature: a property of an item that was not observed, with a distribution.

    .. math:: p(y_i) = \int \mathrm{Binomial}(y_i; n_i, P(u)) \, p_i(u) \, du, \qquad
        p_i(u) = (1 - \nu) \frac{g_i(u) s(u)^{a_i} s(-u)^{b_i}}
        {\int g_i(v) s(v)^{a_i} s(-v)^{b_i} dv} + \nu g_i(u)

    with g the density of Normal(mean, spread) and s the logistic function. The outcomes of others
    on the item may be known too: u is the log-odds with which they say yes, a of them said yes and
    b said no. With probability :math:`\nu`, the noise, their answers are not informative, and u is
    drawn anew.

    The property is integrated out item by item, so that it adds no latent: all trials of an item
    share its value, and items are independent of each other. Where subjects are fitted together,
    each subject has a value of its own on each item, and repeated attempts scatter. The integral is
    a sum over 121 evenly spaced points within 4.8 standard deviations. For a binomial outcome of 20
    trials, the error is about 1e-6 nats when the log-odds of success change by up to 5 per standard
    deviation, and less than 0.01 nats when they change by 10, or when an outcome is so surprising
    that the most likely values are outside these points.

    Parameters
    ----------
    name : str
        Name in diagrams.
    mean, spread : expression
        Mean and standard deviation: expressions of meta-features, latents and numbers, in the same
        unit. The spread cannot be negative.
    positive, negative : expression, default 0
        Numbers of others who said yes, and who said no; these need not be whole numbers.
    noise : expression, default 0
        Probability, in [0, 1], that the answers of others are not informative.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When the spread or a count may be negative, the noise may be outside [0, 1], one of them has
        labels, or units differ.

    References
    ----------
    Carroll et al. (2006), Measurement Error in Nonlinear Models, chapter 8, for the likelihood;
    Trefethen and Weideman (2014), SIAM Review 56, for the accuracy of evenly spaced places.

    Examples
    --------
    Difficulties that a survey measured, each with a known error:

    >>> from measurement_layouts import Capability, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> measured = MetaFeature("measured", low=0, high=5)
    >>> error = MetaFeature("error", low=0, high=2)
    >>> skill = Capability("skill", low=0, high=5)
    >>> difficulty = Unseen("difficulty", measured, error)
    >>> layout = Layout("test", Success("solved", logistic(skill - difficulty)))
    >>> print(layout)
    test
      difficulty ~ Normal(measured, error)
      solved = logistic(skill − difficulty)
    """

    mean: Expr
    spread: Expr
    positive: Expr = _NONE
    negative: Expr = _NONE
    noise: Expr = _NONE
    about: str = ""
    kind: ClassVar[str] = "unseen"
    range = REALS

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in _ALLOWED:
            read_formula(self, part)
        labels = sorted(merge_dims(self.parents[:-1]))
        problem = f"it has a value per label of {labels}, and must be one number per item"
        check(self.name, not labels, problem, "reduce it with total(..., over=)")
        for part, (allowed, why) in _ALLOWED.items():
            expression: Expr = getattr(self, part)
            problem = f"its {part} {expression} ranges over {expression.range}, but {why}"
            advice = "declare its nodes with suitable low= and high="
            check(self.name, expression.range in allowed, problem, advice)
        _ = self.unit

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.mean, self.spread, self.positive, self.negative, self.noise, self.scores)

    @cached_property
    def scores(self) -> Numbers:
        """Points at which it is computed, along a separate dimension."""
        along = {self.dim: tuple(f"{score:+.2f}" for score in SCORES)}
        return Numbers(f"{self.name} scores", along, tuple(SCORES.tolist()))

    @cached_property
    def weights(self) -> Weights:
        """Weight of each point."""
        return Weights(self)

    @property
    def dim(self) -> str:
        """Name of the dimension that it is averaged over."""
        return f"{self.name} score"

    @property
    def dims(self) -> Dims:
        return self.scores.dims

    @cached_property
    def unit(self) -> unit_names.Unit:
        return same_unit((self.mean, self.spread), "the spread of an unseen property whose mean is")

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return values[0] + values[1] * values[-1]

    def statement(self) -> list[str]:
        lines = [f"~ Normal({self.mean}, {self.spread})"]
        if (self.positive, self.negative) != (_NONE, _NONE):
            lines.append(f"given {self.positive} for, {self.negative} against")
        noisy = [f"drawn anew with probability {self.noise}"]
        return lines + (noisy if self.noise != _NONE else [])


def scores(node: Node) -> set[str]:
    """Dimensions of a node that are places of something unseen, and no labels."""
    return {ancestor.dim for ancestor in ancestry(node) if isinstance(ancestor, Unseen)}
