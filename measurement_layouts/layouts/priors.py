"""Priors as data: a family by name and its parameters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..linking.errors import check
from ..linking.expression import Constant, Expr, as_expr
from ..linking.interval import Interval
from ..linking.real import real

type Ends = tuple[float, float]

_LINE: Ends = (-math.inf, math.inf)
_HALF_LINE: Ends = (0.0, math.inf)
_PROBABILITY: Ends = (0.0, 1.0)
_SUPPORT: dict[str, Ends] = {
    **dict.fromkeys(("Beta", "Kumaraswamy", "LogitNormal"), _PROBABILITY),
    **dict.fromkeys(("ChiSquared", "Exponential", "Gamma", "HalfCauchy", "HalfFlat"), _HALF_LINE),
    **dict.fromkeys(("HalfNormal", "HalfStudentT", "InverseGamma", "LogNormal"), _HALF_LINE),
    **dict.fromkeys(("Pareto", "PolyaGamma", "Rice", "Wald", "Weibull"), _HALF_LINE),
    "VonMises": (-math.pi, math.pi),
}
_BETWEEN: dict[str, Ends] = {  # families with `lower` and `upper`, and what PyMC takes without
    "Uniform": _PROBABILITY,
    "Triangular": _PROBABILITY,
    "TruncatedNormal": _LINE,
}
_POSITIVE = frozenset(  # in every family that has them
    ("a", "alpha", "b", "beta", "h", "kappa", "lam", "m", "nu", "phi", "s", "scale", "sigma", "tau")
)
_RANGES: dict[tuple[str, str], Ends] = {  # by family and parameter, where it differs
    **dict.fromkeys((("Gamma", "mu"), ("InverseGamma", "mu"), ("Wald", "mu")), _HALF_LINE),
    **dict.fromkeys((("Beta", "mu"), ("AsymmetricLaplace", "q")), _PROBABILITY),
    **dict.fromkeys((("Cauchy", "alpha"), ("SkewNormal", "alpha")), _LINE),
}
ZERO_SUM = "ZeroSumNormal"
"""Family of normal values that sum to zero over the last plates."""

_AXES, _ONE, _TWO = "n_zerosum_axes", as_expr(1), as_expr(2)


@dataclass(frozen=True, init=False, repr=False)
class Prior:
    """Prior distribution of a latent node: the name of a family and its parameters.

    Parameters
    ----------
    family : str
        Name of a PyMC distribution: ``"Beta"``, ``"Normal"``, ``"Exponential"``, ...
        ``"ZeroSumNormal"``, with `sigma` and optionally ``n_zerosum_axes=2``, is for latents of
        items or categories: their values sum to zero over the last plate (or over each of the last
        two plates), so that a separate mean is identified.
    **parameters : float or expression
        Parameters, with the names that PyMC uses. A parameter that is another latent, or an
        expression of latents such as ``1 / general``, makes the layout hierarchical.

    Raises
    ------
    LayoutError
        When a parameter is neither a number nor an expression, or may have a value that the family
        does not allow, such as a negative standard deviation; when its ends are reversed; when a
        mean is given for values that sum to zero.

    Examples
    --------
    >>> Prior("Beta", alpha=2, beta=5)
    Prior('Beta', alpha=2, beta=5)
    >>> Prior("Uniform", lower=0, upper=5.3).support
    [0, 5.3]
    >>> from measurement_layouts import Capability
    >>> general = Capability("general", low=0, high=5)
    >>> Prior("Exponential", lam=1 / general)
    Prior('Exponential', lam=1 / general)
    """

    family: str
    parameters: tuple[tuple[str, Expr], ...]

    def __init__(self, family: str, **parameters: Expr | float) -> None:
        is_name = isinstance(family, str) and family.isidentifier()
        advice = "give the name of a PyMC distribution, such as 'Normal' or 'Beta'"
        check(f"Prior({family!r})", is_name, "the family must be a name", advice)
        read = {name: _parameter(family, name, parameters[name]) for name in sorted(parameters)}
        if family == ZERO_SUM:
            _read_zero_sum(read)
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "parameters", tuple(read.items()))
        low, high = _support_of(family, read)
        problem = f"its values range from {low:g} to {high:g}, which is reversed or a single point"
        check(str(self), low < high, problem, "give a lower end below the upper one")

    @cached_property
    def support(self) -> Interval:
        """Interval of possible values."""
        return Interval(*_support_of(self.family, dict(self.parameters)))

    @property
    def shown(self) -> tuple[tuple[str, Expr], ...]:
        """Parameters that a formula shows: all except the number of plates of a sum."""
        return tuple(pair for pair in self.parameters if pair[0] != _AXES)

    @property
    def zero_sum_axes(self) -> int:
        """Number of last plates over which its values sum to zero."""
        axes = dict(self.parameters).get(_AXES, _ONE)
        return int(axes.range.low) if self.family == ZERO_SUM else 0

    @property
    def parents(self) -> tuple[Expr, ...]:
        """Parameters, numbers and nodes alike."""
        return tuple(value for _, value in self.parameters)

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value}" for name, value in self.parameters)
        return f"Prior({self.family!r}{shown})"


def _parameter(family: str, name: str, value: object) -> Expr:
    """Read a parameter: a finite number or an expression, in the range that the family takes."""
    owner = f"Prior({family!r})"
    number = math.nan if isinstance(value, Expr) else real(value)
    advice = "give a number, or an expression of latent nodes for a hierarchical prior"
    usable = isinstance(value, Expr) or (number is not None and not math.isnan(number))
    check(owner, usable, f"{name}={value!r} is neither a number nor a node", advice)
    parameter = as_expr(value)
    fixed = isinstance(parameter, Constant)
    finite = not fixed or math.isfinite(parameter.range.low) or family in _BETWEEN
    check(owner, finite, f"{name}={value} is infinite", "give a finite number")
    low, high = _RANGES.get((family, name), _HALF_LINE if name in _POSITIVE else _LINE)
    span = parameter.range
    needed = "positive" if math.isinf(high) else f"between {low:g} and {high:g}"
    ranges = "" if fixed else f", but it ranges over {span}"
    bounds = "bound the nodes in it by low= and high=, or by their priors"
    fits = span in Interval(low, high) and not (low == 0 and span.high <= 0)
    advice = "give another number" if fixed else bounds
    check(owner, fits, f"{name}={parameter} must be {needed}{ranges}", advice)
    return parameter


def _read_zero_sum(parameters: dict[str, Expr]) -> None:
    """Refuse parameters that it does not take, and leave out the number of plates where it is 1."""
    unknown = " or ".join(sorted(set(parameters) - {"sigma", _AXES}))
    about_mean = "; its mean is always 0" if "mu" in parameters else ""
    advice = f"give sigma=, and {_AXES}=2 where its values sum to zero over two plates"
    check(f"Prior({ZERO_SUM!r})", not unknown, f"it has no {unknown}{about_mean}", advice)
    axes = parameters.get(_AXES, _ONE)
    advice = "give 1 where its values sum to zero over the last plate, or 2 for the last two"
    check(f"Prior({ZERO_SUM!r})", axes in (_ONE, _TWO), f"{_AXES}={axes}", advice)
    if axes == _ONE:
        parameters.pop(_AXES, None)


def _support_of(family: str, parameters: Mapping[str, Expr]) -> Ends:
    """Support of a family with these parameters."""
    low, high = _BETWEEN.get(family, _SUPPORT.get(family, _LINE))
    if family in _BETWEEN:
        low = parameters["lower"].range.low if "lower" in parameters else low
        high = parameters["upper"].range.high if "upper" in parameters else high
    return low, high
