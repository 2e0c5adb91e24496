"""Constants of a fit: numbers each subject brings along."""

from dataclasses import dataclass

from . import units
from .agreement import Dims
from .expression import Expr
from .interval import UNIT, Interval


@dataclass(frozen=True, eq=False, repr=False)
class SubjectConstant(Expr):
    """A number of each subject, computed from its training outcomes and kept with the fit."""

    name: str
    symbol: str
    about: str

    @property
    def parents(self) -> tuple[Expr, ...]:
        return ()

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def range(self) -> Interval:
        return UNIT

    @property
    def unit(self) -> units.Unit:
        return None


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
