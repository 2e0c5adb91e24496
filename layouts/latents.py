"""The subject's side of a layout: the elements of its cognitive profile."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..linking import Expr, LayoutError
from ..linking import units as unit_names
from ..linking.expression import Constant
from ..linking.interval import REALS, UNIT, Interval
from . import fields
from .nodes import Labelled, set_fields
from .priors import Prior


@dataclass(frozen=True, eq=False, repr=False)
class Latent(Labelled):
    """Element of the cognitive profile: unknown, one value per subject (and label).

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range; without a prior it is uniform on it.
    unit : str, optional
        pint's, or a word of your own: the unit of the demand it opposes.
    prior : Prior, optional
        Any family; its support is then the range.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When there is neither a prior nor a range, or the range is reversed, empty or too narrow for
        the prior.
    """

    low: float | None = None
    high: float | None = None
    unit: Any = None
    prior: Prior | None = None
    labels: tuple[str, ...] | None = None
    dim: str = Labelled.default_dim
    about: str = ""
    default_prior: ClassVar[Prior | None] = None
    joins_any_unit: ClassVar[bool] = False
    possible: ClassVar[Interval] = REALS

    def __post_init__(self) -> None:
        super().__post_init__()
        free = self.unit is None and self.joins_any_unit
        set_fields(self, unit=None if free else unit_names.parse(fields.unit(self.name, self.unit)))
        if self.low is not None or self.high is not None:
            low, high = fields.ends(self.name, self.low, self.high)
            set_fields(self, low=low, high=high, prior=self._prior_on(Interval(low, high)))
        elif self.prior is None:
            set_fields(self, prior=self.default_prior)
        self._check_prior()

    def _prior_on(self, declared: Interval) -> Prior:
        """Return the prior given, if it stays in the range, or else a uniform one."""
        if self.prior is None:
            if not declared.is_finite:
                raise LayoutError(
                    f"{self.name}: a uniform prior needs a finite range, and it is {declared}; "
                    "give finite ends, or a prior="
                )
            return Prior("Uniform", lower=declared.low, upper=declared.high)
        if isinstance(self.prior, Prior) and self.prior.support not in declared:
            raise LayoutError(
                f"{self.name}: its range {declared} does not hold the support "
                f"{self.prior.support} of {self.prior}; widen the range, or leave low= and high= "
                "out and let the prior say it"
            )
        return self.prior

    def _check_prior(self) -> None:
        """Refuse a missing or impossible prior, and parameters with other labels."""
        if self.prior is None:
            raise LayoutError(
                f"{self.name}: a {self.kind} needs low= and high= in the unit of the demand it "
                "opposes, or a prior="
            )
        if not isinstance(self.prior, Prior):
            raise LayoutError(
                f"{self.name}: prior={self.prior!r} is not a prior; write one as in "
                "Prior('Normal', mu=0, sigma=1)"
            )
        if self.range not in self.possible:
            raise LayoutError(
                f"{self.name}: a {self.kind} lies in {self.possible}, but {self.prior} ranges over "
                f"{self.range}; choose a prior on that interval"
            )
        for parameter in self.prior.parents:
            if not isinstance(parameter, Latent | Constant):
                raise LayoutError(
                    f"{self.name}: its prior depends on {parameter}; a prior's parameter is a "
                    "number or another latent node"
                )
            if not set(parameter.dims.items()) <= set(self.dims.items()):
                raise LayoutError(
                    f"{self.name}: its prior depends on {parameter}, which has the label "
                    f"dimensions {sorted(parameter.dims)} that {self.name} lacks; give both the "
                    "same labels="
                )

    @property
    def distribution(self) -> Prior:
        """The prior, given or by default."""
        if self.prior is None:
            raise LayoutError(f"{self.name}: it has no prior; give one")
        return self.prior

    @property
    def parents(self) -> tuple[Expr, ...]:
        return tuple(parent for parent in self.distribution.parents if isinstance(parent, Latent))

    @property
    def range(self) -> Interval:
        return self.distribution.support


class Capability(Latent):
    """Level of a subject in the unit of the demand it opposes; more is never worse.

    Uniform on its range unless a prior is given: the published ``ScaledBeta(1, 1, low, high)``.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range, in the unit; without one there must be a prior.
    unit : str, optional
        That of the demand it opposes: pint's, or a word of your own.
    prior : Prior, optional
        Any family; uniform on the range by default.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When there is neither a range nor a prior, or the range is empty or too narrow for it.

    Examples
    --------
    >>> Capability("navigation", low=0, high=40, unit="m").prior
    Prior('Uniform', lower=0, upper=40)
    """

    kind: ClassVar[str] = "capability"


class Propensity(Latent):
    """Location of a subject on a scale where success needs it inside the item's band.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range, in the unit; without one there must be a prior.
    unit : str, optional
        That of the bands' ends: pint's, or a word of your own.
    prior : Prior, optional
        Any family; uniform on the range by default.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When there is neither a range nor a prior, or the range is empty or too narrow for it.

    Examples
    --------
    >>> Propensity("risk", low=-4, high=4).range
    [-4, 4]
    """

    kind: ClassVar[str] = "propensity"


class Bias(Latent):
    """Preference that pushes performance one way or the other; standard normal by default.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range; the prior is uniform on it unless one is given.
    unit : str, optional
        pint's, or a word of your own; without one it joins any margin.
    prior : Prior, optional
        Any family; standard normal by default.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When the range is empty or too narrow for the prior.

    Examples
    --------
    >>> Bias("leftRight").prior
    Prior('Normal', mu=0, sigma=1)
    """

    kind: ClassVar[str] = "bias"
    default_prior: ClassVar[Prior | None] = Prior("Normal", mu=0, sigma=1)
    joins_any_unit: ClassVar[bool] = True


class Slope(Latent):
    """How sharply success falls as a demand passes the capability; positive.

    The second argument of `logistic`.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range, from 0 up; the prior is uniform on it unless one is given.
    unit : str, optional
        One over the margin's; without one it joins any margin.
    prior : Prior, optional
        Any family on positive numbers; half-normal of scale 2 by default.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When the range is empty or too narrow for the prior, or it may be negative.

    Examples
    --------
    >>> Slope("navigationSlope").range
    [0, inf]
    """

    kind: ClassVar[str] = "slope"
    default_prior: ClassVar[Prior | None] = Prior("HalfNormal", sigma=2)
    joins_any_unit: ClassVar[bool] = True
    possible: ClassVar[Interval] = Interval(0.0, math.inf)


class Noise(Latent):
    """Weight of the outcomes that the layout does not explain; uniform on [0, 1] by default.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range within [0, 1]; the prior is uniform on it unless one is given.
    unit : None
        To be left out: a weight is a pure number.
    prior : Prior, optional
        Any family on [0, 1]; uniform by default.
    labels, dim : optional
        One value per label, along that dimension.
    about : str
        What it is, for diagrams and tables.

    Raises
    ------
    LayoutError
        When the range is empty or too narrow for the prior, or it may leave [0, 1].

    Examples
    --------
    >>> Noise("noiseLevel").range
    [0, 1]
    """

    kind: ClassVar[str] = "noise"
    default_prior: ClassVar[Prior | None] = Prior("Uniform", lower=0, upper=1)
    possible: ClassVar[Interval] = UNIT
