"""The published formulas in decimal arithmetic of 60 digits, written as the papers write them.

Decimals neither overflow nor cancel at the sizes that the tests reach, so the literal formula is an
oracle also where the same formula in floating point would fail.
"""

import decimal
import functools
import itertools
import math
from decimal import Decimal

import numpy as np

_CONTEXT = decimal.Context(
    prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation]
)


def elementwise(formula):
    """Apply a formula of decimals to arrays of floats."""

    @functools.wraps(formula)
    def apply(*arrays, **options):
        with decimal.localcontext(_CONTEXT):
            rows = np.broadcast(*arrays)
            values = [float(formula(*map(Decimal, map(float, row)), **options)) for row in rows]
        return np.array(values).reshape(rows.shape)

    return apply


def slopes(formula, *arrays, **options):
    """Differentiate an elementwise formula by each operand; 0 by an infinite one.

    Central differences over a part of 1e-20 err by about its square, and by 1e-40 from rounding.
    """
    found = np.zeros((len(arrays), len(arrays[0])))
    with decimal.localcontext(_CONTEXT):
        for at, row in enumerate(zip(*arrays, strict=True)):
            exact = [Decimal(float(x)) for x in row]
            for operand, x in enumerate(exact):
                if not x.is_infinite():
                    h = (abs(x) or 1) * Decimal("1e-20")
                    above, below = (
                        formula.__wrapped__(*exact[:operand], y, *exact[operand + 1 :], **options)
                        for y in (x + h, x - h)
                    )
                    found[operand, at] = (Decimal(above) - Decimal(below)) / (2 * h)
    return found


def _sigmoid(x):
    return 1 / (1 + (-x).exp())


@elementwise
def sigmoid(margin, slope=Decimal(1)):
    return _sigmoid(slope * margin)


@elementwise
def logit(p):
    """Log-odds of a probability that is kept 1e-12 from 0 and 1."""
    inside = min(max(p, Decimal("1e-12")), Decimal(1 - 1e-12))
    return (inside / (1 - inside)).ln()


@elementwise
def spanning(margin, low, high):
    """Logistic that is 0.001 at `low` and 0.999 at `high`."""
    low, high = Decimal(low), Decimal(high)
    slope = 2 * (Decimal("0.999") / Decimal("0.001")).ln() / (high - low)
    return _sigmoid(slope * (margin - (low + high) / 2))


@elementwise
def band(theta, low, high, slope=Decimal(1), min_width=0.1):
    """Equation 5 of the propensities paper, and its limits where an end is infinite."""
    if low.is_infinite() and high.is_infinite():
        return Decimal(1)
    if high.is_infinite():
        return _sigmoid(slope * (theta - low))
    if low.is_infinite():
        return _sigmoid(slope * (high - theta))
    width = max(high - low, Decimal(min_width))
    low, high, r = (low + high - width) / 2, (low + high + width) / 2, width / 2
    steep = slope + (1 / r).exp() - 1
    return (
        _sigmoid(steep * r) ** -2
        * _sigmoid(steep * (theta - low))
        * _sigmoid(steep * (high - theta))
    )


@elementwise
def bilogistic(theta, low, high, low_slope=Decimal(1), high_slope=Decimal(1)):
    """Equation 2 of the propensities paper with A = 1."""
    above = 1 if low.is_infinite() else _sigmoid(low_slope * (theta - low))
    return above * (1 if high.is_infinite() else _sigmoid(high_slope * (high - theta)))


@elementwise
def uncertain_band(theta, low, high, spread, slope=Decimal(1), min_width=0.1):
    """Equation 5 with either logistic replaced by its mean over uniform errors of its end."""
    width = max(high - low, Decimal(min_width))
    finite = not (low.is_infinite() or high.is_infinite())
    steep = slope + ((2 / width).exp() - 1 if finite else 0)
    if finite:
        low, high = (low + high - width) / 2, (low + high + width) / 2
    peak = _sigmoid(steep * width / 2) ** 2 if finite else 1
    above = 1 if low.is_infinite() else _mean_sigmoid(steep * (theta - low), steep * spread)
    below = 1 if high.is_infinite() else _mean_sigmoid(steep * (high - theta), steep * spread)
    return above * below / peak


def _mean_sigmoid(x, half):
    if half == 0:
        return _sigmoid(x)
    return (_softplus(x + half) - _softplus(x - half)) / (2 * half)


def _softplus(x):
    """For large x the rest, exp(-x), is below the 60th digit beside x."""
    return x if x > 300 else (1 + x.exp()).ln()


@elementwise
def generalised_mean(*parts, power, weights=None):
    weights = [Decimal(float(w)) for w in weights or [1] * len(parts)]
    shares = [w / sum(weights) for w in weights]
    if math.isinf(power):
        return max(parts) if power > 0 else min(parts)
    if power <= 0 and min(parts) == 0:
        return Decimal(0)
    if power == 0:
        return sum(w * p.ln() for w, p in zip(shares, parts, strict=True)).exp()
    k = Decimal(power)
    return sum(w * p**k for w, p in zip(shares, parts, strict=True)) ** (1 / k)


@elementwise
def power_mean(*columns):
    """The generalised mean, its power in the last column."""
    *parts, power = columns
    return generalised_mean.__wrapped__(*parts, power=power)


@elementwise
def total(*parts):
    return sum(parts)


@elementwise
def walk(at, *steps, knots):
    widths = [Decimal(end) - Decimal(begin) for begin, end in itertools.pairwise(knots)]
    gone = [max(at - Decimal(knot), Decimal(0)) for knot in knots[:-1]]
    parts = zip(steps, gone, widths, strict=True)
    return sum(step * min(far, width) / width.sqrt() for step, far, width in parts)


@elementwise
def mixture(p, by, toward):
    return (1 - by) * p + by * toward


@elementwise
def presence(ability, flag):
    return 1 - (1 - ability) * flag


@elementwise
def guessing(p, chance):
    return chance + (1 - chance) * p


@elementwise
def product(*parts):
    return math.prod(parts)
