"""Walk: a random walk, such as the course of a capability over dates or versions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import arrays
from ..arrays import Array
from ..errors import check
from ..expression import Expr
from ..function import linking_function
from ..interval import Interval
from ..real import real


def _range(at: Interval, step: Interval, *, knots: tuple[float, ...], over: str) -> Interval:
    """Range of a call."""
    reach = float(np.sqrt(np.diff(_read_knots(knots, None))).sum())
    return Interval(min(step.low, 0.0), max(step.high, 0.0)) * Interval(reach, reach)


def _check(at: Expr, step: Expr, *, knots: object, over: object) -> None:
    """Refuse knots that do not rise, or that are not one more than the steps."""
    advice = "give the dimension of the labels, as in over='month'"
    problem = f"{step} has a step for each label, and over= is missing"
    check("walk", over is not None, problem, advice)
    problem = f"{at} has labels along {over!r}, the dimension of the steps"
    check("walk", over not in at.dims, problem, "give a property with one value, such as a date")
    _read_knots(knots, len(step.dims[str(over)]) if over in step.dims else None)


def _read_knots(knots: object, steps: int | None) -> np.ndarray:
    """Read the knots: finite numbers in rising order, one more than there are steps."""
    listed = list(knots) if isinstance(knots, Sequence | np.ndarray) else []
    positions = np.array([real(knot) for knot in listed], dtype=float)  # NaN for None
    rise = len(positions) > 1 and np.isfinite(positions).all() and (np.diff(positions) > 0).all()
    advice = "give at least two finite numbers in rising order, where the steps begin and end"
    check("walk", rise, f"knots={knots!r}", advice)
    problem = f"there are {len(positions)} knots and {steps} steps, each from one knot to the next"
    one_more = steps is None or len(positions) == steps + 1
    check("walk", one_more, problem, f"give {(steps or 0) + 1} knots")
    return positions


@linking_function(range=_range, same_unit=("step",), keeps_unit=True, check=_check)
def walk(at: Array, step: Array, *, knots: Sequence[float] = (0.0, 1.0), over: Any = None) -> Array:
    r"""Value of a random walk at a given place or time; it is 0 at the first knot.

    .. math:: w(t) = \sum_k z_k \sqrt{t_{k+1} - t_k} \;
        \min\left(\max\left(\frac{t - t_k}{t_{k+1} - t_k}, 0\right), 1\right)

    With independent standard normal steps :math:`z_k` it is a random walk, which moves by about
    :math:`\sqrt{d}` in a time d. Multiplied by a `Spread`, its scale is estimated from the data. At
    the knots it has the distribution of Brownian motion, and between them it is a straight line.
    Knots need not be evenly spaced, so they can be dates of release; those of ordered categories,
    such as versions, are 0, 1, 2 and so on. Steps beyond the last outcome keep their prior, so that
    the intervals of a forecast widen there. The walk is constant before the first knot and after
    the last.

    Parameters
    ----------
    at : expression or array
        Place or time of the value: a date, the number of a version or of training steps, of
        subjects or of items.
    step : expression or array
        Standard normal steps z, one per label.
    knots : sequence of float
        Places or times at which the steps begin and end: numbers in rising order, in the unit of
        `at`, one more than there are steps.
    over : str
        Label dimension of the steps (for plain arrays: the axis, which is kept with length one).

    Returns
    -------
    expression or array
        Value of the walk, in the unit of `step`.

    Raises
    ------
    LayoutError
        When the knots do not rise or are not one more than the steps, or `over` is missing.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 21.1: Brownian motion as a prior of a
    course. Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22: reasons for
    standard steps that are multiplied by a scale.

    Examples
    --------
    >>> steps = np.array([1.0, -2.0])
    >>> [float(walk(t, steps, knots=(0, 1, 5), over=-1)[0]) for t in (0.5, 1, 3, 5, 9)]
    [0.5, 1.0, -1.0, -3.0, -3.0]

    A walk over years, about which the capabilities of subjects vary:

    >>> from measurement_layouts import Effect, MetaFeature, Spread
    >>> released = MetaFeature("released", low=0, high=3, unit="year", per="subject")
    >>> step = Effect("step", labels=("first", "second", "third"), dim="year", per="population")
    >>> print(Spread("pace") * walk(released, step, knots=(0, 1, 2, 3), over="year"))
    pace × walk(released, step, knots=(0, 1, 2, 3), over=year)
    """
    count = step.shape[over]  # it is a variable if `step` is a PyTensor variable
    positions = _read_knots(knots, count if isinstance(count, int) else None)
    behind = [1] * (step.ndim - 1 - over % step.ndim)
    begin, width = (
        numbers.reshape((-1, *behind)) for numbers in (positions[:-1], np.diff(positions))
    )
    gone = arrays.minimum(arrays.maximum(at - begin, 0.0), width)
    return arrays.sum(step * gone / np.sqrt(width), axis=over, keepdims=True)
