"""Guessing: a lower bound of the probability of success."""

from ..arrays import Array
from ..function import linking_function
from ..interval import Interval


def _range(p: Interval, chance: Interval) -> Interval:
    """Range of a call."""
    return Interval(chance.low + (1 - chance.low) * p.low, chance.high + (1 - chance.high) * p.high)


@linking_function(
    range=_range,
    domain={"p": (0, 1), "chance": (0, 1)},
)
def guessing(p: Array, chance: Array) -> Array:
    r"""Probability of success by knowing or else by chance, as in the three-parameter logistic.

    .. math:: c + (1 - c) p

    Parameters
    ----------
    p : expression or array
        Probability of knowing, in [0, 1].
    chance : expression, array or float
        Probability of success without knowing, in [0, 1]: 0.25 for four equal choices.

    Returns
    -------
    expression or array
        Probability in [chance, 1].

    Raises
    ------
    LayoutError
        When an argument is something else, or can leave [0, 1].

    References
    ----------
    Birnbaum's three-parameter logistic.

    Examples
    --------
    >>> guessing(0.5, chance=0.25)
    0.625
    """
    return chance + (1 - chance) * p
