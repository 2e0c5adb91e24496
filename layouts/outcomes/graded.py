"""Graded outcomes: ordered grades of one performance."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np

from ...linking import Expr, LayoutError, arrays, total
from ...linking.arrays import Array
from ...linking.expression import Constant, Dims, as_expr
from ...linking.interval import Interval
from .. import fields
from ..nodes import set_fields
from .ordered import OrderedOutcome

_ONE = as_expr(1)


@dataclass(frozen=True, eq=False, repr=False)
class Graded(OrderedOutcome):
    r"""Observed leaf of ordered grades, such as wrong, partly right and right.

    .. math:: P(\text{grade} \ge k) = \sigma(\operatorname{logit} p - c_k), \qquad
        c_{k + 1} - c_k = g_k > 0, \quad \sum_k c_k = 0

    with the performance p, the grades 0 to K, and the logistic function :math:`\sigma`. A
    performance of 0.5 lies in the middle of the thresholds; with two grades the performance is the
    probability of the higher one, as in `Success`. As an expression, a graded outcome is the
    expected grade, from 0 to K.

    Every item gives one grade per attempt. Given the profile, attempts are independent of each
    other, and of the layout's other outcomes.

    Parameters
    ----------
    name : str
        Name in data and diagrams.
    performance : expression
        In [0, 1], without labels.
    grades : sequence of str
        Names, from the lowest to the highest; at least two.
    gap : expression or float, default 1.0
        Distance of neighbouring thresholds, in log-odds, positive: a number, or a `Slope`. One with
        a label for each pair of neighbouring thresholds (one less than there are thresholds) makes
        each distance a parameter of its own.
    about : str
        What it is.

    Raises
    ------
    LayoutError
        When the performance can leave [0, 1] or has labels, grades repeat or are fewer than two, or
        the gap is not positive or has other labels.

    References
    ----------
    Samejima (1969), Estimation of latent ability using a response pattern of graded scores,
    Psychometrika monograph 17: the logistic form of its homogeneous case.

    Examples
    --------
    Whether the chick finds its mother, and how directly it goes there, from one ability:

    >>> from measurement_layouts import Capability, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> keeps = Capability("objectPermanence", low=0, high=10, unit="s")
    >>> hidden = MetaFeature("timeHidden", low=0, high=10, unit="s")
    >>> knows = logistic(keeps - hidden)
    >>> path = Graded("path", knows, grades=("lost", "detour", "direct"))
    >>> layout = Layout("permanence", Success("found", knows), path)
    >>> print(layout)
    permanence
      found = logistic(objectPermanence − timeHidden)
      path ~ Graded(logistic(objectPermanence − timeHidden), gap=1)
    >>> path.range
    [0, 2]
    """

    _: KW_ONLY
    grades: tuple[str, ...] = ("wrong", "partly", "right")
    gap: Expr = _ONE
    about: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, grades=_grades(self.name, self.grades))
        self._read("gap")
        self._check_positive("gap")
        pairs = len(self.grades) - 2
        if not pairs and not isinstance(self.gap, Constant):
            raise LayoutError(
                f"{self.name}: two grades have one threshold and no gap, so that nothing tells "
                f"of {self.gap}; leave gap= out, or declare more grades"
            )
        counts = [len(labels) for labels in self.gap.dims.values()]
        if counts not in ([], [pairs]):
            raise LayoutError(
                f"{self.name}: its gap {self.gap} has {counts or 'no'} labels, and "
                f"{len(self.grades)} grades have {pairs} gap(s) between their thresholds; give it "
                "one label for each, or no labels"
            )

    @property
    def steps(self) -> tuple[str, ...]:
        return self.grades[1:]

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.performance, self.gap)

    @property
    def range(self) -> Interval:
        return Interval(0, len(self.steps))

    @property
    def scale(self) -> Expr:
        return _ONE

    @property
    def gaps(self) -> Dims:
        return self.gap.dims

    @cached_property
    def thresholds(self) -> np.ndarray:
        count = len(self.steps)
        above = np.arange(count)[:, None] > np.arange(count - 1)  # (steps, gaps)
        shares: np.ndarray = above - above.mean(axis=0)
        return shares if self.gap.dims else shares.sum(axis=1)

    @cached_property
    def distances(self) -> np.ndarray:
        own = np.diff(self.thresholds, axis=0, prepend=self.thresholds[:1])
        return np.asarray(own.round())

    def laid_out(self, numbers: Expr) -> Expr:
        if not self.gap.dims:
            return self.gap * numbers
        (dim,) = self.gap.dims
        return total(self.gap * numbers, over=dim)  # type: ignore[no-any-return]

    def written(self, write: Callable[[Expr], str]) -> str:
        gap = "" if len(self.steps) == 1 else f", gap={write(self.gap)}"
        return f"Graded({write(self.performance)}{gap})"

    def margin(
        self, place: Array, other: Array, threshold: np.ndarray, dims: tuple[str, ...]
    ) -> Array:
        if not self.gap.dims:
            return place - other * threshold
        (dim,) = self.gap.dims
        shares = threshold.reshape([-1 if of == dim else 1 for of in dims])
        axis = dims.index(dim) - len(dims)
        return place - arrays.sum(other * shares, axis=axis, keepdims=True)


def _grades(owner: str, values: object) -> tuple[str, ...]:
    """Read the names of grades; those that look like numbers must be their own places."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise LayoutError(
            f"{owner}: grades={values!r}; name at least two, from the lowest to the highest"
        )
    found = fields.labels(owner, values) or ()
    if len(found) < 2:
        raise LayoutError(
            f"{owner}: grades={found!r}; name at least two, from the lowest to the highest"
        )
    for place, grade in enumerate(found):
        if "·" in grade or (grade.lstrip("+-").isdecimal() and grade != str(place)):
            raise LayoutError(
                f"{owner}: the grade {grade!r} is number {place}, counted from 0; name grades by "
                "words without '·', or by their own numbers from 0, since data may give either"
            )
    return found
