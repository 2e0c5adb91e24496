"""Mixture: noise draws the performance towards another probability, such as the mean failure."""

from ..arrays import Array
from ..expression import SubjectConstant
from ..function import linking_function
from ..interval import Interval


def _range(p: Interval, by: Interval, toward: Interval) -> Interval:
    """Range of a call."""
    return p.hull(toward)


@linking_function(range=_range, domain={"p": (0, 1), "by": (0, 1), "toward": (0, 1)})
def mixture(p: Array, by: Array, toward: Array) -> Array:
    r"""Weighted mean of the explained performance and of the probability of unexplained success.

    .. math:: \omega[\alpha](p, c) = (1 - \alpha) \, p + \alpha \, c

    Parameters
    ----------
    p : expression or array
        Performance that the layout explains, in [0, 1].
    by : expression or array
        Weight alpha of the unexplained part, in [0, 1]; usually a `Noise` node.
    toward : expression, array or float
        Probability that an unexplained outcome is a success, in [0, 1]: a number such as 0.5, a
        meta-feature with the chance of guessing, or `mean_failure`, the published choice, which
        uses the outcomes twice.

    Returns
    -------
    expression or array
        Probability between `p` and `toward`.

    Raises
    ------
    LayoutError
        When an argument is something else, or can leave [0, 1].

    Notes
    -----
    With a number or a meta-feature, 90 % intervals contain the true value in 90 % of simulations;
    with `mean_failure`, in 78 to 85 %.

    References
    ----------
    Burden et al. (2023), appendix C.2 and Table 3.

    See Also
    --------
    MeanFailure : The published choice of `toward`, and its disadvantage.

    Examples
    --------
    >>> round(mixture(0.9, by=0.2, toward=0.5), 3)
    0.82
    """
    return (1 - by) * p + by * toward


class MeanFailure(SubjectConstant):
    r"""One minus the subject's mean success on its training items, the published `toward`.

    .. math:: \nu = 1 - \frac{\sum_i k_i}{\sum_i n_i}

    The sums are over the subject's training items i, with k successes in n trials. It is a number
    in [0, 1] without a unit, computed once per fit and subject, stored with the fit and used in all
    of its forecasts, so that held-out outcomes never change it.

    It uses the outcomes twice: the constant is computed from the outcomes that it then helps to
    explain. Intervals are therefore too short: with profiles drawn from the prior of the two
    published layouts that use it, 90 % intervals contain the true value in 78 to 85 % of
    simulations. `check` names this as a problem, and `sbc` finds that such a layout is not
    calibrated. A layout with ``toward=0.5``, or with the chance of guessing as a meta-feature, is
    calibrated.

    References
    ----------
    Burden et al. (2023), appendix C.2, the constant nu.

    See Also
    --------
    mixture : The linking function that uses it.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Noise, Success
    >>> from measurement_layouts.linking import mean_failure, mixture
    >>> able = Capability("able", low=0, high=1)
    >>> layout = Layout("x", Success("done", mixture(able, by=Noise("noise"), toward=mean_failure)))
    >>> [constant.name for constant in layout.constants]
    ['meanFailure']
    """


mean_failure = MeanFailure(
    "meanFailure", about="one minus the subject's mean success on its training items"
)
"""One minus the subject's mean success on its training items; see `MeanFailure`."""
