"""Logit: the log-odds of a probability, the inverse of the logistic."""

from .. import arrays
from ..arrays import Array
from ..function import linking_function
from ..interval import Interval

_EDGE = 1e-12  # smallest distance of a probability from 0 and 1; log-odds are then finite


def _range(p: Interval) -> Interval:
    """Range of a call."""
    return Interval(float(logit(p.low)), float(logit(p.high)))


@linking_function(
    range=_range,
    domain={"p": (0, 1)},
)
def logit(p: Array) -> Array:
    r"""Log-odds of a probability, to which an item's own ease or a subject's effect is added.

    .. math:: \operatorname{logit} p = \log p - \log(1 - p), \qquad
        p \in [10^{-12}, 1 - 10^{-12}]

    It is the inverse of `logistic`: ``logistic(logit(p) + ease)`` is p where the ease is 0. For
    every ease it is a probability, whereas ``p + ease`` can leave [0, 1].

    Parameters
    ----------
    p : expression or array
        Probability in [0, 1]; it is limited to [1e-12, 1 - 1e-12].

    Returns
    -------
    expression or array
        Pure number in [-27.6, 27.6]; it is 0 at a probability of 0.5. The gradient is
        1 / (p (1 - p)), which is at least 4, and 0 within 1e-12 of 0 and 1.

    Raises
    ------
    LayoutError
        When the operand can leave [0, 1], or has a unit.

    See Also
    --------
    logistic : From a margin to a probability.

    References
    ----------
    Berkson (1944), Application of the logistic function to bio-assay, Journal of the American
    Statistical Association 39, where log-odds get their name.

    Examples
    --------
    A task that is easier for all subjects than its demands predict:

    >>> from measurement_layouts import Capability, Effect, MetaFeature, Noise
    >>> from measurement_layouts.linking import logistic, logit, mixture
    >>> finds = logistic(Capability("sight", low=0, high=2) - MetaFeature("far", low=0, high=2))
    >>> ease = Effect("ease", per="item")
    >>> print(logistic(logit(mixture(finds, by=Noise("noise"), toward=0.5)) + ease))
    logistic(logit(mixture(logistic(sight − far), noise, 0.5)) + ease)
    >>> round(float(logistic(logit(0.8) + 1)), 3)
    0.916
    """
    inside = arrays.minimum(arrays.maximum(p, _EDGE), 1 - _EDGE)
    return arrays.log(inside) - arrays.log1p(-inside)
