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


MEAN_FAILURE = SubjectConstant(
    "meanFailure", symbol=r"\nu", about="one minus the subject's mean success on its training items"
)
"""The published pull of the noise: the constant nu of Burden et al. (2023), appendix C.2."""
