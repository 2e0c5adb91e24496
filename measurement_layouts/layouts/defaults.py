"""Priors of latents that state none, from the ranges of what a layout opposes to latents."""

import math
from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

from ..linking import Expr
from ..linking import units as unit_names
from ..linking.errors import check
from ..linking.evaluation import ancestry, rewritten
from ..linking.expression import Constant, Operation
from ..linking.function import Call
from ..linking.interval import Interval
from .latent_kinds import LOG_ODDS, Bias, Slope, Spread
from .latents import Latent
from .nodes import Derived, MetaFeature, set_fields
from .outcomes.steps import Observed
from .outcomes.unseen import Unseen
from .plates import ITEM
from .priors import Prior

USUAL_SLOPE = 10.0
"""Log-odds over the range of a demand, at the slope that is usual."""

_FACTOR = math.log(2)  # standard deviation of a logarithm: a factor of two
_LOG = 1.0  # standard deviation of a logarithm's mean, and scale of its spread
_BANDS = ("band", "uncertain_band", "bilogistic")
_AROUND = {  # location and scale, by family
    **dict.fromkeys(("Normal", "StudentT", "TruncatedNormal", "ZeroSumNormal"), ("mu", "sigma")),
    "Cauchy": ("alpha", "beta"),
    "Gumbel": ("mu", "beta"),
    "Laplace": ("mu", "b"),
    "Logistic": ("mu", "s"),
    "LogNormal": ("mu", "sigma"),
}


class Size(NamedTuple):
    """Where the values of a latent are expected, and how far from each other."""

    scale: float
    centre: float = 0.0


class _Term(NamedTuple):
    """A term of a sum: a factor times an expression, times a slope where there is one."""

    factor: float
    slope: Slope | None
    value: Expr


def with_default_priors(outcomes: tuple[Observed, ...]) -> tuple[Observed, ...]:
    r"""Give latents without a prior one that fits the range of the demands which they oppose.

    With the width w and the midpoint c of what is subtracted from a latent in a logistic, or of a
    latent's own range,

    .. math:: \log a \sim \mathrm{Normal}(\log(10 / w), \log 2), \quad
        \mu \sim \mathrm{Normal}(c, w / 4), \quad \tau \sim \mathrm{HalfNormal}(w / 4)

    for a slope a, a mean :math:`\mu` of the population and a spread :math:`\tau`: at the slope that
    is usual, w / 4 is 2.5 log-odds. What has no such range is in log-odds, where these are
    Normal(0, 2.5) and HalfNormal(2.5), and a slope is HalfNormal(2). See `Slope`, `Bias` and
    `Spread`.

    Parameters
    ----------
    outcomes : tuple of Success, Graded or Score
        Outcomes of a layout; they are not changed.

    Returns
    -------
    tuple of Success, Graded or Score
        The outcomes, with every prior stated.

    Raises
    ------
    LayoutError
        When a spread has a unit, and nothing in that unit has a finite range.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> distance = MetaFeature("distance", low=0, high=40, unit="m")
    >>> reach = Capability("reach", low=0, high=40, unit="m")
    >>> outcome = Success("found", logistic(reach - distance, Slope("slope")))
    >>> (found,) = with_default_priors((outcome,))
    >>> slope = next(part for part in ancestry(found) if part.name == "slope")
    >>> round(math.exp(dict(slope.priors[0].parameters)["mu"].value), 4)
    0.25
    """
    parts = {id(node): node for outcome in outcomes for node in ancestry(outcome)}
    latents = {node.name: node for node in parts.values() if isinstance(node, Latent)}
    if all(latent.prior is not None for latent in latents.values()):
        return outcomes
    sizes = _Sizes(list(parts.values()), list(latents.values()))
    stated: dict[str, Latent] = {}
    for latent in latents.values():
        stated[latent.name] = _stated(latent, sizes, stated)
    copies: dict[int, Expr] = {}  # the same copy of a part for all outcomes
    wraps = {
        key: (lambda new, key=key: copies.setdefault(key, stated.get(new.name, new)))
        for key in parts
    }
    return tuple(rewritten(outcome, wraps) for outcome in outcomes)  # type: ignore[misc]


def _stated(latent: Latent, sizes: "_Sizes", stated: dict[str, Latent]) -> Latent:
    """Copy a latent with its prior stated, and with the stated latents in its prior."""
    priors = latent.priors if latent.prior is not None else (sizes.prior(latent),)
    priors = tuple(_of_stated(prior, stated) for prior in priors)
    changed = copy(latent)
    set_fields(changed, prior=priors if isinstance(latent.prior, tuple) else priors[0])
    return changed


def _of_stated(prior: Prior, stated: dict[str, Latent]) -> Prior:
    """Put the stated latents into the parameters of a prior."""
    parameters = dict[str, Any]()
    for name, value in prior.parameters:
        wraps = {id(node): lambda old: stated[old.name] for node in _latents(value)}
        parameters[name] = rewritten(value, wraps, stop_at=_is_latent)
    return Prior(prior.family, **parameters)


class _Sizes:
    """Sizes of latents, and widths of the ranges in the logistics of slopes, by name."""

    def __init__(self, parts: list[Expr], latents: list[Latent]) -> None:
        self.sizes: dict[str, list[Size]] = defaultdict(list)
        self.widths: dict[str, list[float]] = defaultdict(list)
        for node in parts:
            if isinstance(node, Call) and node.function.name in ("logistic", *_BANDS):
                self._read_margin(node)
        for latent in reversed(latents):  # those that depend on a latent come after it
            self._read_priors(latent)

    def prior(self, latent: Latent) -> Prior:
        """Return the prior of a latent that has none."""
        if isinstance(latent, Slope):
            centre = self._usual(latent)
            if centre is None:
                return latent.priors[0]
            return Prior("LogNormal", mu=centre, sigma=_FACTOR)
        if latent.name not in self.sizes and not unit_names.is_pure(latent.unit):
            unit, prior = unit_names.text(latent.unit), "prior=Prior('HalfNormal', sigma=...)"
            problem = f"a spread in {unit}: nothing that it varies opposes a demand of finite range"
            advice = f"give it a prior in that unit: Spread({latent.name!r}, unit=..., {prior})"
            check(latent.name, not isinstance(latent, Spread), problem, advice)
            return latent.priors[0]
        size = self.size(latent)
        if isinstance(latent, Spread):
            return Prior("HalfNormal", sigma=size.scale)
        return Prior("Normal", mu=size.centre, sigma=size.scale)

    def size(self, latent: Latent) -> Size:
        """Return the widest size that a latent has in a layout."""
        sizes = self.sizes.get(latent.name, [Size(LOG_ODDS)])
        return max(sizes, key=lambda size: size.scale)

    def _usual(self, slope: Latent) -> float | None:
        """Return the logarithm of the usual slope; None where no range is known."""
        widths = self.widths.get(slope.name)
        if not widths:
            return None
        return math.fsum(math.log(USUAL_SLOPE / width) for width in widths) / len(widths)

    def _read_margin(self, call: Call) -> None:
        """Read the sizes of what is in the margin of a logistic, or opposed to a band."""
        arguments = dict(zip(call.names, call.arguments, strict=True))
        steepness = _opened(arguments.get("slope", Constant(1.0)))
        slope = steepness if isinstance(steepness, Slope) else None
        factor = steepness.value if isinstance(steepness, Constant) else math.inf
        groups: dict[str, list[_Term]] = defaultdict(list)
        for term in _terms(call.arguments[0], 1.0, slope):
            groups["" if term.slope is None else term.slope.name].append(term)
        for terms in groups.values():
            if not any(_latents(term.value) for term in terms):
                continue
            demand, pure = _demand(terms), all(unit_names.is_pure(t.value.unit) for t in terms)
            if call.function.name in _BANDS:
                demand = arguments["low"].range.hull(arguments["high"].range)
            if demand is None or not 0 < demand.high - demand.low < math.inf:
                if terms[0].slope is None and pure and 0 < factor < math.inf:
                    self._share(terms, LOG_ODDS / factor, 0.0)
                continue
            width, least = demand.high - demand.low, 0.0
            if terms[0].slope is not None:
                self.widths[terms[0].slope.name].append(width)
            elif pure and factor > 0:
                least = LOG_ODDS / factor
            scale = max(width * LOG_ODDS / USUAL_SLOPE, least)
            self._share(terms, scale, (demand.low + demand.high) / 2)

    def _read_priors(self, latent: Latent) -> None:
        """Read the sizes of the latents that a latent's priors depend on."""
        for prior in latent.priors if latent.prior is not None else ():
            location, scale = _AROUND.get(prior.family, ("", ""))
            parameters = dict(prior.parameters)
            if prior.family == "LogNormal":
                size: Size | None = Size(_LOG, self._usual(latent) or 0.0)
            elif prior.support.is_finite:
                low, high = prior.support.low, prior.support.high
                size = Size((high - low) * LOG_ODDS / USUAL_SLOPE, (low + high) / 2)
            else:
                size = self.size(latent) if latent.name in self.sizes else None
            if size is None:
                continue
            if location in parameters:
                terms = list(_terms(parameters[location]))
                fixed = [term for term in terms if isinstance(term.value, Constant)]
                shift = sum(term.factor * term.value.range.low for term in fixed)
                self._share(terms, size.scale, size.centre - shift)
            for node in _latents(parameters.get(scale, Constant(1.0))):
                self.sizes[node.name].append(Size(size.scale))

    def _share(self, terms: list[_Term], scale: float, centre: float) -> None:
        """Give the latents in a sum its size; the only one that is not about 0 has its centre."""
        bare = [(term.factor, _opened(term.value)) for term in terms]
        free = [node for _, node in bare if isinstance(node, Latent) and not _about_zero(node)]
        for factor, node in bare:
            middle = centre / factor if len(free) == 1 and node is free[0] else 0.0
            for inner in _latents(node):  # a latent itself, or those in a product
                self.sizes[inner.name].append(Size(scale / abs(factor), middle))


def _terms(expr: Expr, factor: float = 1.0, slope: Slope | None = None) -> Iterator[_Term]:
    """Open a sum into its terms, through derived nodes, constant factors and a slope."""
    node = _opened(expr)
    if isinstance(node, Operation) and factor:
        left, right = _opened(node.left), _opened(node.right)
        if node.symbol in ("+", "-"):
            yield from _terms(left, factor, slope)
            yield from _terms(right, factor if node.symbol == "+" else -factor, slope)
            return
        if node.symbol == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Constant):
                    yield from _terms(other, factor * one.value, slope)
                    return
                if isinstance(one, Slope) and slope is None:
                    yield from _terms(other, factor, one)
                    return
        if node.symbol == "/" and isinstance(right, Constant):
            yield from _terms(left, factor / right.value, slope)
            return
    if factor:
        yield _Term(factor, slope, node)


def _demand(terms: list[_Term]) -> Interval | None:
    """Return the range of what a sum subtracts: its terms of items that hold no latent."""
    total, of_items = Interval(0.0, 0.0), False
    for factor, _, node in terms:
        value = node.mean if isinstance(node, Unseen) else node
        inner = list(ancestry(value))
        features = [part for part in inner if isinstance(part, MetaFeature) and part.per == ITEM]
        if any(map(_is_latent, inner)) or not (features or isinstance(value, Constant)):
            continue
        total += value.range * Interval(-factor, -factor)
        of_items |= bool(features)
    return total if of_items else None


def _opened(expr: Expr) -> Expr:
    return _opened(expr.expression) if isinstance(expr, Derived) else expr


def _is_latent(expr: Expr) -> bool:
    return isinstance(expr, Latent)


def _latents(expr: Expr) -> list[Latent]:
    """List the latents that an expression depends on directly."""
    return [node for node in ancestry(expr, stop_at=_is_latent) if isinstance(node, Latent)]


def _about_zero(latent: Latent) -> bool:
    """Whether the values of a latent are about 0, beside which another one has the location."""
    if latent.prior is None:
        return isinstance(latent, Bias) and bool(latent.plates)
    for prior in latent.priors:
        location, _ = _AROUND.get(prior.family, ("", ""))
        given = dict(prior.parameters).get(location, Constant(0.0))
        if not location or prior.family == "LogNormal" or given != Constant(0.0):
            return False
    return True
