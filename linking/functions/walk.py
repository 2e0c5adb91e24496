"""Walk: a course that moves from step to step, such as a capability over dates or versions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import arrays
from ..arrays import Array
from ..errors import LayoutError
from ..expression import Expr
from ..function import linking_function
from ..interval import Interval
from ..notation import latex_text
from ..real import real


def _range(at: Interval, step: Interval, *, knots: tuple[float, ...], over: str) -> Interval:
    """Range of a call."""
    reach = float(np.sqrt(np.diff(_read_knots(knots, None))).sum())
    return Interval(min(step.low, 0.0), max(step.high, 0.0)) * Interval(reach, reach)


def _latex(at: str, step: str, *, knots: tuple[float, ...], over: str) -> str:
    """Write a call as LaTeX."""
    return rf"\mathrm{{walk}}_{{{latex_text(over)}}}\left({at},\; {step}\right)"


def _check(at: Expr, step: Expr, *, knots: object, over: object) -> None:
    """Refuse knots that do not rise, or that are not one more than the steps."""
    if over is None:
        raise LayoutError(
            f"walk: {step} has a step for each label; name their dimension as over=, as in "
            "over='month'"
        )
    if over in at.dims:
        raise LayoutError(
            f"walk: {at} has labels along {over!r}, and the walk reduces these; give a property "
            "with one value, such as a date"
        )
    _read_knots(knots, len(step.dims[str(over)]) if over in step.dims else None)


def _read_knots(knots: object, steps: int | None) -> np.ndarray:
    """Read the knots: finite, rising, and one more than there are steps."""
    given = list(knots) if isinstance(knots, Sequence | np.ndarray) else []
    numbers = [real(knot) for knot in given]
    found = np.array([np.nan if number is None else number for number in numbers])
    if len(found) < 2 or not (np.isfinite(found).all() and (np.diff(found) > 0).all()):
        raise LayoutError(
            f"walk: knots={knots!r}; give at least two finite numbers in rising order, where the "
            "steps begin and end"
        )
    if steps is not None and len(found) != steps + 1:
        raise LayoutError(
            f"walk: there are {len(found)} knots and {steps} steps; a step leads from each knot "
            f"to the next, so give {steps + 1} knots"
        )
    return found


@linking_function(range=_range, latex=_latex, same_unit=("step",), keeps_unit=True, check=_check)
def walk(at: Array, step: Array, *, knots: Sequence[float] = (0.0, 1.0), over: Any = None) -> Array:
    r"""Course that a walk has reached, 0 at the first knot.

    .. math:: w(t) = \sum_k z_k \sqrt{t_{k+1} - t_k} \;
        \min\left(\max\left(\frac{t - t_k}{t_{k+1} - t_k}, 0\right), 1\right)

    With independent standard normal steps :math:`z_k` it is a random walk, which moves by about
    :math:`\sqrt{d}` in a time d; times a `Spread`, it moves as far as the data say. At the knots it
    is Brownian motion, and a straight line from knot to knot. Knots need not be evenly spaced, so
    they can be dates of release; those of ordered categories, such as versions, are 0, 1, 2 and so
    on. Steps beyond the last outcome keep their prior: a forecast fans out there. Before the first
    knot and after the last the walk stands still.

    Parameters
    ----------
    at : expression or array
        Where: a date, a version's number or training steps, of subjects or of items.
    step : expression or array
        Standard normal steps z, with a label for each.
    knots : sequence of float
        Where the steps begin and end: rising, in the unit of `at`, one more than there are steps.
    over : str
        Label dimension of the steps (for plain arrays: the axis, kept with length one).

    Returns
    -------
    expression or array
        In the unit of `step`.

    Raises
    ------
    LayoutError
        When the knots do not rise or are not one more than the steps, or `over` is missing.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 21.1: Brownian motion as a prior of a
    course. Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22, for why the steps
    are standard and the width multiplies them.

    Examples
    --------
    >>> steps = np.array([1.0, -2.0])
    >>> [float(walk(t, steps, knots=(0, 1, 5), over=-1)[0]) for t in (0.5, 1, 3, 5, 9)]
    [0.5, 1.0, -1.0, -3.0, -3.0]

    A capability that subjects have about a walk over years:

    >>> from measurement_layouts import Bias, MetaFeature, Spread
    >>> released = MetaFeature("released", low=0, high=3, unit="year", per="subject")
    >>> step = Bias("step", labels=("first", "second", "third"), dim="year", per="population")
    >>> print(Spread("pace") * walk(released, step, knots=(0, 1, 2, 3), over="year"))
    pace × walk(released, step, knots=(0, 1, 2, 3), over=year)
    """
    count = step.shape[over]  # of PyTensor's variables it is a variable, too
    found = _read_knots(knots, count if isinstance(count, int) else None)
    behind = [1] * (step.ndim - 1 - over % step.ndim)
    begin, width = (part.reshape((-1, *behind)) for part in (found[:-1], np.diff(found)))
    gone = arrays.minimum(arrays.maximum(at - begin, 0.0), width)
    return arrays.sum(step * gone / np.sqrt(width), axis=over, keepdims=True)
