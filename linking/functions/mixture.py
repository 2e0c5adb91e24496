"""Mixture: noise pulls the performance towards something else, such as the mean failure."""

from ..arrays import Array
from ..expression import SubjectConstant
from ..function import linking_function
from ..interval import Interval


def _range(p: Interval, by: Interval, toward: Interval) -> Interval:
    """Range of a call."""
    return p.hull(toward)


def _latex(p: str, by: str, toward: str) -> str:
    """Write a call as LaTeX."""
    return rf"\omega\left[{by}\right]\left({p},\; {toward}\right)"


@linking_function(range=_range, latex=_latex, domain={"p": (0, 1), "by": (0, 1), "toward": (0, 1)})
def mixture(p: Array, by: Array, toward: Array) -> Array:
    r"""Weighting of the explained performance and of what the layout does not explain.

    .. math:: \omega[\alpha](p, c) = (1 - \alpha) \, p + \alpha \, c

    Parameters
    ----------
    p : expression or array
        Performance that the layout explains, in [0, 1].
    by : expression or array
        Weight alpha of the unexplained, in [0, 1]; a `Noise` node.
    toward : expression, array or float
        How often unexplained outcomes are successes, in [0, 1]: a number such as 0.5, a
        meta-feature with the chance of guessing, or `mean_failure`, the published choice, which
        uses the outcomes twice.

    Returns
    -------
    expression or array
        Between `p` and `toward`.

    Notes
    -----
    With a number or a meta-feature, 90 % intervals hold the truth 90 % of the time; with
    `mean_failure` they hold it 78 to 85 % of the time (``tests/benchmarks/recovery.py``).

    References
    ----------
    Burden et al. (2023), appendix C.2 and Table 3.

    See Also
    --------
    MeanFailure : The published choice of `toward`, and what it costs.

    Examples
    --------
    >>> round(mixture(0.9, by=0.2, toward=0.5), 3)
    0.82
    """
    return (1 - by) * p + by * toward


class MeanFailure(SubjectConstant):
    r"""The published pull of the noise: one minus the subject's mean success on its training items.

    .. math:: \nu = 1 - \frac{\sum_i k_i}{\sum_i n_i}

    over the subject's training items i, with k successes in n trials. It is a number in [0, 1]
    without a unit, computed once per fit and subject, stored with the fit and used in all of its
    forecasts, so that held-out outcomes never change it.

    It uses the outcomes twice: the constant is computed from the outcomes that it then helps to
    explain. Intervals are therefore too short: with profiles drawn from the prior of the two
    published layouts that use it, 90 % intervals hold the truth 78 to 85 % of the time. `check`
    names this as a problem, and `sbc` finds such a layout not calibrated.
    ``toward=0.5`` or the chance of guessing, as a meta-feature, is calibrated.

    References
    ----------
    Burden et al. (2023), appendix C.2, the constant nu.

    See Also
    --------
    mixture : The linking function that it is given to.

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
    "meanFailure", symbol=r"\nu", about="one minus the subject's mean success on its training items"
)
"""The published pull of the noise; see `MeanFailure`."""
