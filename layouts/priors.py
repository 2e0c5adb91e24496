"""Priors as data: a family by name and its parameters."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..linking import LayoutError
from ..linking.expression import Expr, as_expr
from ..linking.interval import REALS, Interval

_POSITIVE = Interval(0.0, math.inf)


def _between(low: str, high: str) -> Callable[[Mapping[str, Expr]], Interval]:
    def support(parameters: Mapping[str, Expr]) -> Interval:
        return Interval(
            parameters[low].range.low if low in parameters else -math.inf,
            parameters[high].range.high if high in parameters else math.inf,
        )

    return support


_SUPPORT: dict[str, Interval | Callable[[Mapping[str, Expr]], Interval]] = {
    **dict.fromkeys(("Beta", "Kumaraswamy", "LogitNormal"), Interval(0.0, 1.0)),
    **dict.fromkeys(
        (
            *("ChiSquared", "ExGaussian", "Exponential", "Gamma", "HalfCauchy", "HalfNormal"),
            *("HalfStudentT", "InverseGamma", "LogNormal", "Rice", "Wald", "Weibull"),
        ),
        _POSITIVE,
    ),
    "ExGaussian": REALS,
    "Uniform": _between("lower", "upper"),
    "Triangular": _between("lower", "upper"),
    "TruncatedNormal": _between("lower", "upper"),
}


@dataclass(frozen=True, init=False)
class Prior:
    """Prior distribution of a latent node, written down and not yet computed.

    Parameters
    ----------
    family : str
        Name of a PyMC distribution: ``"Beta"``, ``"Normal"``, ``"Exponential"``, ...
    support : (float, float), optional
        Interval of possible values; known for the usual families, the whole line otherwise.
    **parameters : float or node
        As PyMC names them; another latent as a parameter makes the layout hierarchical.

    Raises
    ------
    LayoutError
        When a parameter is neither a number nor a node, or the ends of a range are reversed.

    Examples
    --------
    >>> Prior("Beta", alpha=2, beta=5)
    Prior('Beta', alpha=2, beta=5)
    >>> Prior("Uniform", lower=0, upper=5.3).support
    [0, 5.3]
    """

    family: str
    parameters: tuple[tuple[str, Expr], ...]
    declared_support: Interval | None

    def __init__(
        self, family: str, *, support: tuple[float, float] | None = None, **parameters: Expr | float
    ) -> None:
        found = tuple((name, as_expr(value)) for name, value in parameters.items())
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "parameters", found)
        object.__setattr__(self, "declared_support", Interval(*support) if support else None)
        if not self.support.low < self.support.high:
            raise LayoutError(
                f"{self}: its values range over {self.support}, which is empty or a single point; "
                "give a lower end below the upper one"
            )

    @cached_property
    def support(self) -> Interval:
        """Interval of possible values."""
        if self.declared_support is not None:
            return self.declared_support
        rule = _SUPPORT.get(self.family, REALS)
        return rule if isinstance(rule, Interval) else rule(dict(self.parameters))

    @property
    def parents(self) -> tuple[Expr, ...]:
        """Parameters, numbers and nodes alike."""
        return tuple(value for _, value in self.parameters)

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value}" for name, value in self.parameters)
        return f"Prior({self.family!r}{shown})"
