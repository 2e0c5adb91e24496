"""What a chance lacks to 1, as sums and products in which nothing cancels."""

import itertools
from collections.abc import Iterator
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

    def logarithm(self, p: Value) -> Value:
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

    def _find(self, p: Value) -> Value | None:
        make = self.values
        if not p.moving:
            return make("sub", make.one, p)
        if p.op == "complement":
            return p.args[0]
        if p.op == "sigmoid":
            return make("sigmoid", make("neg", p.args[0]))
        if p.op == "sub" and p.args[0] is make.one:
            return p.args[1]
        if p.op == "exp":
            return make("neg", make("expm1", p.args[0]))
        if p.op == "where":
            condition, *branches = p.args
            return make("where", condition, *map(self._nearly, branches))
        if p.op == "div":
            parts = [self._lacks(arg) for arg in p.args]
            return None if None in parts else make("div", make("sub", *parts), p.args[1])
        if p.op == "mul":
            return self._product(list(_factors(p)))
        if p.op == "add":
            return self._mixture(*p.args)
        if p.op in ("maximum", "minimum"):
            parts = [self._lacks(arg) for arg in p.args]
            other = "minimum" if p.op == "maximum" else "maximum"
            return None if None in parts else make(other, *parts)  # type: ignore[arg-type]
        return self._folded(p) if p.op == "fold" else None

    def _product(
        self, factors: list[Value], weight: Value | None = None, beside: Value | None = None
    ) -> Value | None:
        """Take 1 - ab = (1 - a) + a (1 - b), those of the smallest space first.

        With a weight w among the factors, w - wab and what is beside it: (w - wa) + wa (1 - b).
        """
        make = self.values
        lacks = [beside if factor is weight else self._lacks(factor) for factor in factors]
        while len(factors) > 1 and None not in lacks:
            i, j = make.cheapest(factors)
            one, other = (j, i) if factors[j] is weight else (i, j)
            product = make("mul", factors[i], factors[j])
            lack = make("add", lacks[one], make("mul", factors[one], lacks[other]))  # type: ignore[arg-type]
            weight = product if factors[one] is weight else weight
            factors[i], lacks[i] = product, lack
            del factors[j], lacks[j]
        return None if None in lacks else lacks[0]

    def _mixture(self, one: Value, other: Value) -> Value | None:
        """Take 1 - ((1 - w) a + w b) = (1 - w)(1 - a) + w (1 - b), where b may be 1 alone."""
        for parts in itertools.product(_weighted(one), _weighted(other)):
            for pair in itertools.product(parts[0].factors, parts[1].factors):
                if self._lacks(pair[0]) is pair[1] or self._lacks(pair[1]) is pair[0]:
                    return self._beside(*sorted(zip(pair, parts, strict=True), key=_length))
        return None

    def _beside(self, *weighted: tuple[Value, "_Part"]) -> Value | None:
        """Add up w (1 - a), each beside those before."""
        make, found = self.values, self.values.zero
        for weight, part in weighted:
            lacks = self._product(list(part.factors), weight, found)
            if lacks is None:
                return None
            if part.nothing is not None:
                lacks = make("where", part.nothing, make("add", found, weight), lacks)
            found = lacks
        return found

    def _folded(self, p: Value) -> Value | None:
        """Take the complement of a product, a mean, or the largest or smallest of some labels."""
        make, (part,), (kind, through) = self.values, p.args, p.folded
        if kind == "sum":
            return self._mean(p, part)
        lacks = self._lacks(part)
        if lacks is None:
            return None
        if kind == "prod":
            return make.fold("lack", part, through, p.space, p.features, lacks)
        other = "min" if kind == "max" else "max"
        return make.fold(other, lacks, through, p.space, p.features)

    def _mean(self, p: Value, part: Value) -> Value | None:
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


def _length(weighted: tuple[Value, _Part]) -> int:
    return len(weighted[1].factors)


def _factors(value: Value) -> Iterator[Value]:
    """Take a product apart."""
    if value.op != "mul":
        yield value
    else:
        for arg in value.args:
            yield from _factors(arg)

