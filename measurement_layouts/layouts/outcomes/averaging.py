"""Means over the levels of measured demands, part by part or over all levels together."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from ...linking import (
    Expr,
    arrays,
    guessing,
    linking_function,
    mixture,
    presence,
    product,
    total,
)
from ...linking.arrays import Array
from ...linking.evaluation import ancestry, rewritten
from ...linking.expression import Dims, Operation, as_expr
from ...linking.function import Call
from ...linking.interval import Interval
from ..latents import Latent
from ..nodes import Derived, MetaFeature
from .measured import Mean, Measured, Places
from .steps import MARK, Success
from .unseen import Numbers

MOST, DRAWS = 256, 128
"""Combinations of levels that are all looked at, and draws of all levels where there are more."""

_TERMS = 64  # combinations of the levels of several demands within one part
_SEED = 25  # of the draws
_DIM = f"{MARK}levels"
_PER_ARGUMENT = (product, mixture, guessing, presence)  # linear in each, given the others


@dataclass(frozen=True, eq=False, repr=False)
class AtLevels(Success):
    """Outcome of trials that share the levels of their item; see `at_levels`."""

    places: Places | None = None

    @property
    def unseen(self) -> Places | None:
        return self.places


def averaged(expr: Expr) -> Expr:
    """Average an expression over the levels of the measured demands that it uses.

    Parameters
    ----------
    expr : Expr
        A probability of success, or a derived node.

    Returns
    -------
    Expr
        Expression of the probabilities of the levels, which are meta-features; `expr` itself when
        it uses no measured demand. Derived nodes inside it lose their names.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> from measurement_layouts.linking import evaluate, logistic
    >>> hard = Measured("hard", levels=(0, 1))
    >>> mean = averaged(logistic(Capability("able", low=0, high=1) - hard))
    >>> round(float(evaluate(mean, {"able": 1.0, "hard 0": 0.2, "hard 1": 0.8})), 4)
    0.5462
    """
    try:
        return _by_term(expr)
    except _NotLinearError:
        levels, points = _all_levels(expr)
        return Mean((points.weights,), (_given(expr, levels),), points.dim)


def at_levels(outcome: Success) -> AtLevels:
    """Give an outcome for levels that all trials of an item share, at places for all levels."""
    levels, points = _all_levels(outcome.expression)
    probability = _given(outcome.expression, levels)
    return AtLevels(outcome.name, probability, about=outcome.about, places=points)


def measured_of(expr: Expr) -> dict[str, Measured]:
    """Find the measured demands that an expression uses, by name."""
    return {node.name: node for node in ancestry(expr) if isinstance(node, Measured)}


class _NotLinearError(Exception):
    """The mean over the levels is no formula of means of parts."""


def _by_term(expr: Expr) -> Expr:
    """Average part by part: go down as long as the formula is linear in what is averaged."""
    if not measured_of(expr):
        return expr
    if isinstance(expr, Derived):
        return _by_term(expr.expression)
    if not _is_linear(expr):
        return _over_levels(expr)
    means = {id(parent): _by_term(parent) for parent in expr.parents}
    wraps = dict.fromkeys(means, lambda parent: means[id(parent)])
    return rewritten(expr, wraps, stop_at=lambda of: id(of) in means)


def _is_linear(expr: Expr) -> bool:
    """Whether the mean of a formula is that formula of the means of its arguments."""
    demands = [measured_of(parent) for parent in expr.parents]
    independent = sum(map(len, demands)) == len(set().union(*demands))
    if isinstance(expr, Operation):
        sums, quotient = expr.symbol in ("+", "-"), expr.symbol == "/" and not demands[1]
        return sums or quotient or (expr.symbol == "*" and independent)
    if not isinstance(expr, Call):
        return False
    if expr.function is total:
        return True
    if expr.over is None:
        return expr.function in _PER_ARGUMENT and independent
    labels_differ = all(demand.dim == expr.over and demand.labels for demand in demands[0].values())
    return expr.function is product and labels_differ and not _joins(expr.arguments[0])


def _joins(expr: Expr) -> bool:
    """Whether a part depends on the levels of several labels at once."""
    return any(
        isinstance(node, Call)
        and any(demand.labels and demand.dim == node.over for demand in measured_of(node).values())
        for node in ancestry(expr)
    )


def _over_levels(expr: Expr) -> Expr:
    """Average over the levels of each label on its own: the same formula at every level."""
    demands = list(measured_of(expr).values())
    if _joins(expr) or math.prod(len(demand.levels) for demand in demands) > _TERMS:
        raise _NotLinearError
    weights, values = [], []
    for chosen in itertools.product(*(range(len(demand.levels)) for demand in demands)):
        picked = list(zip(demands, chosen, strict=True))
        weights.append(reduce(mul, (demand.chances[number] for demand, number in picked)))
        at: dict[str, Expr] = {}
        for demand, number in picked:
            level = demand.levels[number]
            at[demand.name] = Numbers(f"{MARK}{demand.name} {level:g}", {}, (level,), demand.unit)
        values.append(_given(expr, at))
    return Mean(tuple(weights), tuple(values))


def _given(expr: Expr, levels: Mapping[str, Expr]) -> Expr:
    """Put levels for measured demands; what depends on them has no name any more."""

    def ends(of: Expr) -> bool:
        return isinstance(of, Latent | MetaFeature | Measured)

    def put(of: Expr) -> Expr:
        return of.expression if isinstance(of, Derived) else levels[str(of.name)]

    wraps = {
        id(node): put
        for node in ancestry(expr, stop_at=ends)
        if isinstance(node, Measured) or (isinstance(node, Derived) and measured_of(node))
    }
    return rewritten(expr, wraps, stop_at=ends)


def _all_levels(expr: Expr) -> tuple[dict[str, Expr], Places]:
    """Lay out all levels together, one place after the other along a dimension."""
    demands = list(measured_of(expr).values())
    sizes = [len(demand.labels or ("",)) for demand in demands]
    slots = [demand for demand, size in zip(demands, sizes, strict=True) for _ in range(size)]
    listed = math.prod(len(demand.levels) for demand in slots) <= MOST
    if listed:
        table = np.array(list(itertools.product(*(demand.levels for demand in slots)))).T
    else:
        rng = np.random.default_rng(_SEED)
        table = np.array([(rng.permutation(DRAWS) + 0.5) / DRAWS for _ in slots])
    along: Dims = {_DIM: tuple(map(str, range(table.shape[1])))}
    levels: dict[str, Expr] = {}
    weight: Expr = as_expr(1) if listed else Numbers(f"{MARK}draws", along, (1 / DRAWS,) * DRAWS)
    for demand, rows in zip(demands, np.split(table, np.cumsum(sizes)[:-1]), strict=True):
        values, dims = tuple(rows.ravel().tolist()), {**demand.dims, **along}
        levels[demand.name] = at = Numbers(f"{MARK}{demand.name}", dims, values, demand.unit)
        if listed:
            chance = _chance_at(at, *demand.chances, levels=demand.levels)
            weight = weight * (product(chance, over=demand.dim) if demand.labels else chance)
        else:
            levels[demand.name] = _drawn_level(at, *demand.chances, levels=demand.levels)
    return levels, Places(" and ".join(demand.name for demand in demands), _DIM, weight)


@linking_function(range=(0, 1))
def _chance_at(at: Array, *chances: Array, levels: tuple[float, ...] = ()) -> Array:
    """Probability of the level at each place."""
    pairs = zip(levels, chances, strict=True)
    return sum(arrays.where(arrays.equal(at, level), chance, 0.0) for level, chance in pairs)


def _levels_range(*_spans: Interval, levels: tuple[float, ...]) -> Interval:
    return Interval(levels[0], levels[-1])


@linking_function(range=_levels_range, same_unit=("at",), keeps_unit=True)
def _drawn_level(at: Array, *chances: Array, levels: tuple[float, ...] = ()) -> Array:
    """Level at each place: the quantile of a number in (0, 1)."""
    level, reached = levels[0], 0.0
    for chance, low, high in zip(chances, levels, levels[1:], strict=False):
        reached = reached + chance
        level = level + arrays.where(at > reached, high - low, 0.0)
    return level
