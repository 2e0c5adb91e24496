"""Likelihood of an item's outcomes whose trials share something unseen."""

from dataclasses import dataclass, field

import numpy as np

from ...evaluations.evaluation import EDGE
from ...layouts import MetaFeature, Success, Unseen
from ...linking import Expr, arrays
from ...linking import units as unit_names
from ...linking.arrays import Array
from ...linking.expression import Dims
from ...linking.interval import Interval

SUCCESSES, FAILURES = (
    MetaFeature(name, low=0, high=np.inf)
    for name in ("successes of the item", "failures of the item")
)
"""Counts of an item, beside its meta-features."""


@dataclass(frozen=True, eq=False, repr=False)
class Averaged(Expr):
    r"""Log-likelihood of an item's counts, averaged over what is unseen of the item.

    .. math:: \log \sum_k w_k p_k^{y} (1 - p_k)^{n - y}

    with the weight :math:`w_k` of a value of the unseen property and the probability of success
    :math:`p_k` given it, kept 1e-12 away from 0 and 1. Without the binomial coefficient, in nats.

    Parameters
    ----------
    outcome : Success
        Of the layout.
    unseen : Unseen
        What it uses.
    """

    outcome: Success
    unseen: Unseen
    name: None = field(default=None, init=False)

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.outcome.expression, self.unseen.weights, SUCCESSES, FAILURES)

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def range(self) -> Interval:
        return Interval(-np.inf, 0)

    @property
    def unit(self) -> unit_names.Unit:
        return None

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        chance, weights, successes, failures = values
        axis = dims.index(self.unseen.dim) - len(dims)
        chance = arrays.minimum(arrays.maximum(chance, EDGE), 1 - EDGE)
        each = successes * arrays.log(chance) + failures * arrays.log1p(-chance)
        each = each + arrays.log(weights)
        most = arrays.max(each, axis=axis, keepdims=True)
        total = arrays.sum(arrays.exp(each - most), axis=axis, keepdims=True)
        return most + arrays.log(total)
