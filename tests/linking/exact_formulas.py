"""The published formulas in decimal arithmetic of 60 digits, written as the papers write them.

Decimals neither overflow nor cancel at the sizes that the tests reach, so the literal formula is an
oracle also where the same formula in floating point would fail.
"""

import decimal
import functools
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


def _sigmoid(x):
    return 1 / (1 + (-x).exp())


@elementwise
def sigmoid(margin, slope=Decimal(1)):
    return _sigmoid(slope * margin)


@elementwise
def spanning(margin, low, high):
    """Logistic that is 0.001 at `low` and 0.999 at `high`."""
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
def generalised_mean(*parts, power, weights=None):
    weights = [Decimal(float(w)) for w in weights or [1] * len(parts)]
    shares = [w / sum(weights) for w in weights]
    if math.isinf(power):
        return max(parts) if power > 0 else min(parts)
    if power <= 0 and min(parts) == 0:
        return Decimal(0)
    if power == 0:
        return sum(w * p.ln() for w, p in zip(shares, parts, strict=True)).exp()
    k = Decimal(float(power))
    return sum(w * p**k for w, p in zip(shares, parts, strict=True)) ** (1 / k)


@elementwise
def product(*parts):
    return math.prod(parts)
