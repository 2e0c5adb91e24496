"""What a chance lacks to 1, as sums and products in which nothing cancels."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .values import Value, Values

_ROUNDING = 1e-15  # of shares that add up to 1


class Complements:
    """Computes 1 - p from what the parts of p lack.

    The difference itself is rounded by up to 2**-53 beside 1, which is much where p is next to 1.

    Parameters
    ----------
    values : Values
        Makes quantities.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self._known: dict[int, Value | None] = {}

    def of(self, p: Value) -> Value:
        """Make 1 - p, whose derivative is minus that of p; the difference where no rule is known.

        Parameters
        ----------
        p : Value
            A quantity, in [0, 1] if the result is to be exact.
        """
        lacks = self._nearly(p)
        known = self._lacks(p) is not None and p.moving
        return self.values("complement", p, lacks) if known else lacks

    def compute(self, op: str, *args: Value) -> Value:
        """Make an elementwise operation; none that takes the difference of a chance to 1."""
        if op == "sub":
            return self._difference(*args)
        if op == "log":
            return self._logarithm(*args)
        if op == "log1p" and args[0].op == "neg":
            return self._logarithm(self.of(args[0].args[0]))
        return self.values(op, *args)

    def reduce(self, kind: str, arg: Value, dim: str) -> Value:
        """Fold a label dimension; a product of logistics as the exponential of a sum."""
        make = self.values
        if kind != "prod" or arg.op != "sigmoid" or not arg.moving:
            return make.reduce(kind, arg, dim)
        logarithms = make("neg", make("softplus", make("neg", arg.args[0])))
        return make("exp", make.reduce("sum", logarithms, dim))

    def _difference(self, one: Value, other: Value) -> Value:
        """Make a - b; (1 + a) - b, which PyTensor makes of (1 - b) + a, as that."""
        make = self.values
        if one is make.one:
            return self.of(other)
        if one.op == "add" and make.one in one.args:
            (rest,) = (arg for arg in one.args if arg is not make.one)
            return make("add", self.of(other), rest)
        return make("sub", one, other)

    def _logarithm(self, p: Value) -> Value:
        """Make the logarithm, exact also where p is next to 1."""
        lacks = self._lacks(p) if p.moving else None
        return self.values("log", p) if lacks is None else self.values("log_chance", p, lacks)

    def _lacks(self, p: Value) -> Value | None:
        if p.number not in self._known:
            self._known[p.number] = self._find(p)
        return self._known[p.number]

    def _nearly(self, p: Value) -> Value:
        """Make 1 - p at the worst as a difference, which is exact enough below a half."""
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
        """Take 1 - ab = (1 - a) + a (1 - b), those of the smallest space first."""
        lacks = self._all(factors)
        return self._joined(list(factors), lacks) if lacks else None

    def _joined(
        self, factors: list[Value], lacks: list[Value], weight: Value | None = None
    ) -> Value:
        """Join factors two by two; a weight w among them lacks what is beside w - wab."""
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
        """Take the complement of a mixture, of a fixed floor, or of a mean."""
        for part, floor in ((one, other), (other, one)):
            if not floor.moving:
                return self._above(part, floor)
            found = self._mixture(part, floor)
            if found is not None:
                return found
        return self._mean(list(_terms(one)) + list(_terms(other)))

    def _above(self, part: Value, floor: Value) -> Value | None:
        """Take 1 - (c + ua) = (1 - c - u) + u (1 - a) of fixed numbers c and u."""
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
        """Take 1 - ((1 - w) a + w b) = (1 - w)(1 - a) + w (1 - b), where b may be 1 alone."""
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
        """Add up w (1 - a), each beside those before: (w - wa) + wa (1 - b) is w - wab."""
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
        """Weigh what parts lack, where the weights add up to 1: numbers, or numbers of items."""
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
        """Take the complement of a product, a mean, or the largest or smallest of some labels."""
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
        """Weigh what labels lack, where the weights add up to 1."""
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
    """Tell whether all are in [0, 1]; of a subject's own it is taken for granted."""
    if numbers.op not in ("constant", "data"):
        return True
    return bool(np.min(numbers.payload) >= 0 and np.max(numbers.payload) <= 1)  # type: ignore[call-overload]


class _Part(NamedTuple):
    """Factors of a product, which is 0 on some condition."""

    factors: tuple[Value, ...]
    nothing: Value | None = None


def _weighted(value: Value) -> Iterator[_Part]:
    """Read a part of a mixture: a weight alone, or one among factors."""
    yield _Part((value,))
    if value.op == "mul":
        yield _Part(tuple(_factors(value)))
    if value.op == "where" and value.args[1].is_zero:
        yield _Part(tuple(_factors(value.args[2])), value.args[0])


def _without(factors: Sequence[Value], weight: Value) -> list[Value] | None:
    """Take a weight out of factors, itself or all of its own; None where it is not among them."""
    left = list(factors)
    for factor in [weight] if weight in left else _factors(weight):
        if factor not in left:
            return None
        left.remove(factor)
    return left


def _terms(value: Value) -> Iterator[Value]:
    """Take a sum apart."""
    if value.op != "add":
        yield value
    else:
        for arg in value.args:
            yield from _terms(arg)


def _factors(value: Value) -> Iterator[Value]:
    """Take a product apart."""
    if value.op != "mul":
        yield value
    else:
        for arg in value.args:
            yield from _factors(arg)
