"""Presence: an ability that is needed only where its obstacle is present."""

from ..arrays import Array
from ..function import linking_function
from ..interval import Interval


def _range(ability: Interval, flag: Interval) -> Interval:
    """Range of a call."""
    return Interval(1 - (1 - ability.low) * flag.high, 1 - (1 - ability.high) * flag.low)


@linking_function(
    range=_range,
    domain={"ability": (0, 1), "flag": (0, 1)},
)
def presence(ability: Array, flag: Array) -> Array:
    r"""Require an ability only where its obstacle is present.

    .. math:: \mu(a, f) = 1 - (1 - a) f

    Parameters
    ----------
    ability : expression or array
        Probability of coping with the obstacle, in [0, 1].
    flag : expression or array
        1 where the obstacle is present, 0 where it is absent; a value between is a weight.

    Returns
    -------
    expression or array
        Probability in [0, 1]: 1 without the obstacle, `ability` with it.

    Raises
    ------
    LayoutError
        When an argument is something else, or can leave [0, 1].

    References
    ----------
    Burden et al. (2023), Table 5, the function mu.

    Examples
    --------
    >>> round(presence(0.25, flag=1), 2), round(presence(0.25, flag=0), 2)
    (0.25, 1.0)
    """
    return 1 - (1 - ability) * flag
