"""Ordered outcomes with several steps: graded answers and scores."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...linking import Expr, arrays, logit, total
from ...linking import units as unit_names
from ...linking.arrays import Array
from ...linking.errors import check
from ...linking.evaluation import ancestry
from ...linking.expression import Constant, Dims, SubjectConstant, as_expr
from ...linking.interval import UNIT, Interval
from .. import fields
from ..nodes import Node, read_formula, set_fields
from .measured import Measured
from .unseen import Unseen

_ONE = as_expr(1)


@dataclass(frozen=True, eq=False, repr=False)
class OrderedOutcome(Node):
    """Observed outcome that counts how many successive steps were passed.

    As an expression, it is the expected outcome.
    """

    performance: Expr
    kind: ClassVar[str] = "outcome"

    def __post_init__(self) -> None:
        super().__post_init__()
        read_formula(self, "performance")
        check_steps(self.name, ancestry(self.performance))
        check_probability(self.name, self.performance, "performance")
        check_unlabelled(self.name, self.performance, "performance")

    def _read_positive(self, part: str) -> None:
        """Read a scale; refuse one that may be negative, is 0, or has a unit."""
        read_formula(self, part)
        scale: Expr = getattr(self, part)
        positive = scale.range in Interval(0, float("inf")) and scale.range.high > 0
        problem = f"its {part} {scale} ranges over {scale.range}, but must be positive"
        check(self.name, positive, problem, "give a positive number or a Slope")
        problem = f"its {part} {scale} has {unit_names.text(scale.unit)}, but log-odds are pure"
        check(self.name, unit_names.is_pure(scale.unit), problem, "give a Slope without a unit")

    @property
    @abstractmethod
    def steps(self) -> tuple[str, ...]:
        """Names of the steps, in order."""

    @property
    def scale(self) -> Expr:
        """What the log-odds of the performance are multiplied by."""
        return _ONE

    @property
    @abstractmethod
    def thresholds(self) -> np.ndarray:
        """Where each step lies, (steps,), or what it has of each gap, (steps, gaps)."""

    @property
    def distances(self) -> np.ndarray:
        """Distance of each step from the one before, in the same form; 0 for the first."""
        return np.diff(self.thresholds, axis=0, prepend=self.thresholds[:1])

    def lines(self, numbers: Any, other: Any, over: Any) -> Any:
        """Turn a row of `thresholds` or `distances` into log-odds, of expressions or of arrays.

        Parameters
        ----------
        numbers : expression or array
            The row.
        other : expression or array
            The gap or the precision.
        over : str or int
            Dimension of the gaps, or its axis.
        """
        return numbers

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

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        performance, other = values
        (dim, *_) = [*self.gaps, ""]
        shape = [-1 if dim == of else 1 for of in dims if dim]
        axis = dims.index(dim) - len(dims) if dim else 0
        log_odds, scale = logit(performance), other if self.scale is self.parents[1] else 1.0
        lines = (self.lines(row.reshape(shape), other, axis) for row in self.thresholds)
        return sum(arrays.sigmoid(scale * (log_odds - line)) for line in lines)


def check_steps(owner: str, parts: Iterable[Expr]) -> None:
    """Refuse what has a meaning for a single success or failure only."""
    for node in parts:
        pulled = node.about if isinstance(node, SubjectConstant) else ""
        problem = f"its noise pulls towards {pulled}, which only one Success has"
        advice = "give mixture a number, as in mixture(p, by=noise, toward=0.5)"
        check(owner, not pulled, problem, advice)
        kind = node.kind if isinstance(node, Unseen | Measured) else ""
        problem = f"it uses {node}, which is {kind} and shared by all steps and outcomes of an item"
        advice = "declare the property as a MetaFeature, or fit a single Success"
        check(owner, not kind, problem, advice)


def check_probability(owner: str, expression: Expr, what: str) -> None:
    """Refuse what can leave [0, 1] or has a unit."""
    problem = f"its {what} {expression} ranges over {expression.range}, but must be within [0, 1]"
    advice = "pass a margin through logistic, and write noise and chance with mixture and guessing"
    check(owner, expression.range in UNIT, problem, advice)
    problem = f"its {what} {expression} has {unit_names.text(expression.unit)}"
    pure, advice = unit_names.is_pure(expression.unit), "pass the margin through logistic"
    check(owner, pure, f"{problem}, but must be a pure number", advice)


def check_unlabelled(
    owner: str, expression: Expr, what: str, besides: frozenset[str] = frozenset()
) -> None:
    """Refuse what still has a value per label."""
    labelled = sorted(set(expression.dims) - besides)
    problem = f"its {what} has one value per label of {labelled}"
    advice = "reduce it with product(..., over=) or generalised_mean(..., power=, over=)"
    check(owner, not labelled, problem, advice)


@dataclass(frozen=True, eq=False, repr=False)
class Graded(OrderedOutcome):
    r"""Observed outcome of ordered grades, such as wrong, partly right and right.

    .. math:: P(\text{grade} \ge k) = \sigma(\operatorname{logit} p - c_k), \qquad
        c_{k + 1} - c_k = g_k > 0, \quad \sum_k c_k = 0

    with the performance p, the grades 0 to K, and the logistic function :math:`\sigma`. A
    performance of 0.5 lies in the middle of the thresholds. With two grades, the performance is the
    probability of the higher grade, as in `Success`. As an expression, a graded outcome is the
    expected grade, from 0 to K.

    Each attempt at an item has one grade. Given the profile, attempts are independent of each other
    and of the layout's other outcomes.

    Parameters
    ----------
    name : str
        Name in data and diagrams.
    performance : expression
        Expression within [0, 1], without labels.
    grades : sequence of str
        Names of the grades, from the lowest to the highest; at least two.
    gap : expression or float, default 1.0
        Distance of neighbouring thresholds, in log-odds: a positive number, or a `Slope`. With a
        slope that has a label for each pair of neighbouring thresholds (one label less than there
        are thresholds), each distance is a separate parameter.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When the performance may be outside [0, 1] or has labels, grades repeat or are fewer than
        two, or the gap is not positive or has other labels.

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
        self._read_positive("gap")
        pairs, counts = len(self.grades) - 2, [len(labels) for labels in self.gap.dims.values()]
        problem = f"two grades have one threshold and no gap, such as {self.gap}"
        has_gap, advice = pairs or isinstance(self.gap, Constant), "leave gap= out"
        check(self.name, has_gap, problem, f"{advice}, or declare more grades")
        problem = f"its gap {self.gap} has {counts} labels, and {len(self.grades)} grades have "
        advice = "give it one label for each, or no labels"
        check(self.name, counts in ([], [pairs]), f"{problem}{pairs} gap(s)", advice)

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
        return np.asarray(np.diff(self.thresholds, axis=0, prepend=self.thresholds[:1]).round())

    def lines(self, numbers: Any, other: Any, over: Any) -> Any:
        return total(other * numbers, over=over) if self.gap.dims else other * numbers

    def statement(self) -> list[str]:
        gap = "" if len(self.steps) == 1 else f", gap={self.gap}"
        return [f"~ Graded({self.performance}{gap})"]


def _grades(owner: str, values: object) -> tuple[str, ...]:
    """Read the names of grades; those that look like numbers must be their own places."""
    several = isinstance(values, Iterable) and not isinstance(values, str)
    grades = (fields.labels(owner, values) or ()) if several else ()
    advice = "name at least two, from the lowest to the highest"
    check(owner, len(grades) > 1, f"grades={values!r}", advice)
    for number, grade in enumerate(grades):
        numbered = "·" in grade or (grade.lstrip("+-").isdecimal() and grade != str(number))
        problem = f"the grade {grade!r} is number {number}, counted from 0"
        advice = "name grades by words without '·', or by their numbers from 0"
        check(owner, not numbered, problem, advice)
    return grades


_MOST = 100


@dataclass(frozen=True, eq=False, repr=False)
class Score(OrderedOutcome):
    r"""Observed outcome of partial credit: a number in [0, 1], which is rounded to places.

    .. math:: P(\text{score} \ge t_k) = \sigma(a (\operatorname{logit} p - \operatorname{logit}
        t_k)), \qquad t_k = \frac{k - 1/2}{K}, \quad k = 1, \dots, K

    with the performance p, the precision a and K places: the log-odds of the score follow a
    logistic distribution about those of the performance, and a score is known to the nearest 1/K.
    The performance is therefore the median score. As an expression, a score is the expected score,
    the mean over k of these probabilities.

    Scores of exactly 0 and 1 are the first and the last place, and have a probability as all others
    do. A beta distribution, the usual choice, gives them no probability: they would have to be
    moved inside, and the distance would determine how wide the profile's intervals are. For scores
    that follow a beta distribution (of concentration 4), forecasts of mean scores on other items
    were 0.04 from the truth on average, with a bias of 0.01.

    Each attempt at an item has one score. Given the profile, attempts are independent of each other
    and of the layout's other outcomes.

    Parameters
    ----------
    name : str
        Name in data and diagrams.
    performance : expression
        Expression within [0, 1], without labels.
    precision : expression or float
        How closely scores follow the performance: a positive number, or a `Slope`. At a performance
        of 0.5, half of all scores lie within 0.25 of it with a precision of 1, and within 0.13 with
        a precision of 2.
    places : int, default 10
        Number of places that scores are rounded to. Each place adds a row per item; a score that
        can only be 0, 1/4, ..., 1 has 4 places.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When the performance may be outside [0, 1] or has labels, the precision is not positive or
        has labels, or the number of places is not from 1 to 100.

    References
    ----------
    Tadikamalla and Johnson (1982), Systems of frequency curves generated by transformations of
    logistic variables, Biometrika 69, system L_B, for a logistic variable's logistic.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, MetaFeature, Slope
    >>> from measurement_layouts.linking import logistic
    >>> skill, hardness = Capability("skill", low=0, high=5), MetaFeature("hardness", low=0, high=5)
    >>> credit = Score("credit", logistic(skill - hardness), precision=Slope("precision"))
    >>> print(Layout("essay", credit))
    essay
      credit ~ Score(logistic(skill − hardness), precision=precision)
    >>> credit.steps
    ('0.05', '0.15', '0.25', '0.35', '0.45', '0.55', '0.65', '0.75', '0.85', '0.95')
    """

    _: KW_ONLY
    precision: Expr
    places: int = 10
    about: str = ""
    range = UNIT

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read_positive("precision")
        check_unlabelled(self.name, self.precision, "precision")
        is_count = isinstance(self.places, int | np.integer) and not isinstance(self.places, bool)
        advice = f"give a whole number from 1 to {_MOST}: the parts of a full score"
        check(self.name, is_count and 1 <= self.places <= _MOST, f"places={self.places!r}", advice)
        set_fields(self, places=int(self.places))

    @cached_property
    def cuts(self) -> np.ndarray:
        """Scores from which on each step is passed, in (0, 1)."""
        return (np.arange(self.places) + 0.5) / self.places

    @cached_property
    def steps(self) -> tuple[str, ...]:
        return tuple(f"{cut:.4g}" for cut in self.cuts)

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.performance, self.precision)

    @property
    def scale(self) -> Expr:
        return self.precision

    @cached_property
    def thresholds(self) -> np.ndarray:
        return np.asarray(np.log(self.cuts) - np.log1p(-self.cuts))

    def statement(self) -> list[str]:
        return [f"~ Score({self.performance}, precision={self.precision})"]

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        return super().compute(values, dims) / self.places
