"""Complements 1 - p of probabilities, as sums and products without cancellation."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .values import Value, Values

_ROUNDING = 1e-15  # rounding error of weights that add up to 1


class Complements:
    """Maker of complements 1 - p, computed from the complements of the parts of p.

    The rounding error of the difference itself is up to 2**-53, which is large relative to the
    result if p is close to 1.

    Parameters
    ----------
    values : Values
        Quantities of the log-density, to which new ones are added.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self._known: dict[int, Value | None] = {}

    def of(self, p: Value) -> Value:
        """Make 1 - p, whose derivative is minus that of p; without a rule, it is the difference.

        Parameters
        ----------
        p : Value
            A quantity; the result is exact only if it is in [0, 1].
        """
        lacks = self._nearly(p)
        known = self._lacks(p) is not None and p.moving
        return self.values("complement", p, lacks) if known else lacks

    def compute(self, op: str, *args: Value) -> Value:
        """Make an elementwise operation, in which differences from 1 are made by `of`."""
        if op == "sub":
            return self._difference(*args)
        if op == "log":
            return self._logarithm(*args)
        if op == "log1p" and args[0].op == "neg":
            return self._logarithm(self.of(args[0].args[0]))
        return self.values(op, *args)

    def reduce(self, kind: str, arg: Value, dim: str) -> Value:
        """Reduce a label dimension; a product of logistics is the exponential of a sum."""
        make = self.values
        if kind != "prod" or arg.op != "sigmoid" or not arg.moving:
            return make.reduce(kind, arg, dim)
        logarithms = make("neg", make("softplus", make("neg", arg.args[0])))
        return make("exp", make.reduce("sum", logarithms, dim))

    def _difference(self, one: Value, other: Value) -> Value:
        """Make a - b; (1 + a) - b, into which PyTensor rewrites (1 - b) + a, is rewritten back."""
        make = self.values
        if one is make.one:
            return self.of(other)
        if one.op == "add" and make.one in one.args:
            (rest,) = (arg for arg in one.args if arg is not make.one)
            return make("add", self.of(other), rest)
        return make("sub", one, other)

    def _logarithm(self, p: Value) -> Value:
        """Make the logarithm, which is also exact for p close to 1."""
        lacks = self._lacks(p) if p.moving else None
        return self.values("log", p) if lacks is None else self.values("log_chance", p, lacks)

    def _lacks(self, p: Value) -> Value | None:
        if p.number not in self._known:
            self._known[p.number] = self._find(p)
        return self._known[p.number]

    def _nearly(self, p: Value) -> Value:
        """Make 1 - p; without a rule, it is the difference, which is exact for p below a half."""
        lacks = self._lacks(p)
        return self.values("sub", self.values.one, p) if lacks is None else lacks

    def _all(self, parts: Sequence[Value]) -> list[Value] | None:
        found = [lacks for part in parts if (lacks := self._lacks(part)) is not None]
        return found if len(found) == len(parts) else None

    def _find(self, p: Value) -> Value | None:
        make = self.values
        if not p.moving:
            return make("sub", make.one, p) if _is_chance(p) else None
        if p.op == "complement":
            return p.args[0]
        if p.op == "sigmoid":
            return make("sigmoid_lack", p.args[0], p)
        if p.op == "sub" and p.args[0] is make.one:
            return p.args[1]
        if p.op == "exp":
            return make("neg", make("expm1", p.args[0]))
        if p.op == "where":
            condition, *branches = p.args
            if not any(self._lacks(branch) for branch in branches):
                return None
            return make("where", condition, *map(self._nearly, branches))
        if p.op == "div":
            parts = self._all(p.args)
            return None if parts is None else make("div", make("sub", *parts), p.args[1])
        if p.op == "mul":
            return self._product(list(_factors(p)))
        if p.op == "add":
            return self._sum(*p.args)
        if p.op in ("maximum", "minimum"):
            parts = self._all(p.args)
            other = "minimum" if p.op == "maximum" else "maximum"
            return None if parts is None else make(other, *parts)
        return self._folded(p) if p.op == "fold" else None

    def _product(self, factors: list[Value]) -> Value | None:
        """Make 1 - ab = (1 - a) + a (1 - b), factors of the smallest space first."""
        lacks = self._all(factors)
        return self._joined(list(factors), lacks) if lacks else None

    def _joined(
        self, factors: list[Value], lacks: list[Value], weight: Value | None = None
    ) -> Value:
        """Join factors in pairs; with a weight w among them, the result is w - wab."""
        make = self.values
        while len(factors) > 1:
            i, j = make.cheapest(factors)
            one, other = (j, i) if factors[j] is weight else (i, j)
            product = make("mul", factors[i], factors[j])
            lack = make("add", lacks[one], make("mul", factors[one], lacks[other]))
            weight = product if factors[one] is weight else weight
            factors[i], lacks[i] = product, lack
            del factors[j], lacks[j]
        return lacks[0]

    def _sum(self, one: Value, other: Value) -> Value | None:
        """Make the complement of a mixture, of a sum with a constant, or of a mean."""
        for part, floor in ((one, other), (other, one)):
            if not floor.moving:
                return self._above(part, floor)
            found = self._mixture(part, floor)
            if found is not None:
                return found
        return self._mean(list(_terms(one)) + list(_terms(other)))

    def _above(self, part: Value, floor: Value) -> Value | None:
        """Make 1 - (c + ua) = (1 - c - u) + u (1 - a) for constants c and u."""
        make = self.values
        fixed = [factor for factor in _factors(part) if not factor.moving]
        lacks = self._product([factor for factor in _factors(part) if factor.moving])
        if lacks is None or len(fixed) > 1:
            return None
        share = fixed[0] if fixed else make.one
        gap = make("sub", make("sub", make.one, floor), share)
        if gap.op in ("constant", "data"):
            rounded = make("le", make("abs", gap), make.constant(_ROUNDING))
            gap = make("where", rounded, make.zero, gap)
        return make("add", gap, make("mul", share, lacks))

    def _mixture(self, one: Value, other: Value) -> Value | None:
        """Make 1 - ((1 - w) a + w b) = (1 - w)(1 - a) + w (1 - b), where b may be 1."""
        for part, counterpart in itertools.product(_weighted(one), _weighted(other)):
            for weight in part.factors:
                counter = self._lacks(weight)
                if counter is None:
                    continue
                mine = _without(part.factors, weight)
                theirs = _without(counterpart.factors, counter)
                if mine is not None and theirs is not None:
                    each = (weight, mine, part.nothing), (counter, theirs, counterpart.nothing)
                    return self._beside(*sorted(each, key=lambda part: len(part[1])))
        return None

    def _beside(self, *weighted: tuple[Value, list[Value], Value | None]) -> Value | None:
        """Add up w - wab for each weight w with factors a, b: (w - wa) + wa (1 - b)."""
        make, found = self.values, self.values.zero
        for weight, rest, nothing in weighted:
            lacks = self._all(rest)
            if lacks is None:
                return None
            joined = self._joined([weight, *rest], [found, *lacks], weight)
            if nothing is not None:
                joined = make("where", nothing, make("add", found, weight), joined)
            found = joined
        return found

    def _mean(self, parts: list[Value]) -> Value | None:
        """Make the weighted mean of complements, for constant weights that add up to 1."""
        make, terms, shares = self.values, list[Value](), list[Value]()
        for part in parts:
            factors = list(_factors(part))
            fixed = [factor for factor in factors if factor.op == "constant"]
            fixed = fixed or [factor for factor in factors if not factor.moving]
            lacks = self._product([factor for factor in factors if factor not in fixed])
            if lacks is None or len(fixed) != 1:
                return None
            terms.append(make("mul", fixed[0], lacks))
            shares.append(fixed[0])
        total = make("add", *shares)
        if total.op not in ("constant", "data"):
            return None
        rounded = np.max(np.abs(np.subtract(total.payload, 1))) <= _ROUNDING  # type: ignore[call-overload]
        return make("add", *terms) if rounded else None

    def _folded(self, p: Value) -> Value | None:
        """Make the complement of a product, a mean, a maximum or a minimum over labels."""
        make, (part,), (kind, through) = self.values, p.args, p.folded
        if kind == "sum":
            return self._mean_of_labels(p, part)
        lacks = self._lacks(part)
        if lacks is None:
            return None
        if kind == "prod":
            return make.fold("lack", part, through, p.space, p.features, lacks)
        other = "min" if kind == "max" else "max"
        return make.fold(other, lacks, through, p.space, p.features)

    def _mean_of_labels(self, p: Value, part: Value) -> Value | None:
        """Make the weighted mean of labels' complements, for weights that add up to 1."""
        make, (_, through) = self.values, p.folded
        fixed = [factor for factor in _factors(part) if not factor.moving]
        rest = [factor for factor in _factors(part) if factor.moving]
        dims = set(through.labels) - set(p.space.labels)
        if len(fixed) != 1 or fixed[0].space.domain is not None or len(dims) != 1:
            return None
        (share,), (dim,) = fixed, dims
        numbers = np.asarray(share.payload)
        alike = make.sizes[dim] if dim not in share.space.labels else 1
        total = alike * numbers.sum() if numbers.size in (1, make.sizes[dim]) else np.nan
        lacks = self._product(rest)
        if lacks is None or not abs(total - 1) <= _ROUNDING:
            return None
        return make.fold("sum", make("mul", share, lacks), through, p.space, p.features)


def _is_chance(numbers: Value) -> bool:
    """Return whether all numbers are in [0, 1]; this is assumed for a subject's constants."""
    if numbers.op not in ("constant", "data"):
        return True
    return bool(np.min(numbers.payload) >= 0 and np.max(numbers.payload) <= 1)  # type: ignore[call-overload]


class _Part(NamedTuple):
    """Factors of a product, with the condition on which it is 0."""

    factors: tuple[Value, ...]
    nothing: Value | None = None


def _weighted(value: Value) -> Iterator[_Part]:
    """Yield the ways to read a part of a mixture as a weight with other factors, if any."""
    yield _Part((value,))
    if value.op == "mul":
        yield _Part(tuple(_factors(value)))
    if value.op == "where" and value.args[1].is_zero:
        yield _Part(tuple(_factors(value.args[2])), value.args[0])


def _without(factors: Sequence[Value], weight: Value) -> list[Value] | None:
    """Remove a weight, or all of its factors, from factors; None if it is not among them."""
    left = list(factors)
    for factor in [weight] if weight in left else _factors(weight):
        if factor not in left:
            return None
        left.remove(factor)
    return left


def _terms(value: Value) -> Iterator[Value]:
    """Yield the terms of a sum."""
    if value.op != "add":
        yield value
    else:
        for arg in value.args:
            yield from _terms(arg)


def _factors(value: Value) -> Iterator[Value]:
    """Yield the factors of a product."""
    if value.op != "mul":
        yield value
    else:
        for arg in value.args:
            yield from _factors(arg)
