"""Elementary functions as LLVM code without branches, so that loops over them are vectorised.

The error of each function is a few units in the last place, for all numbers; infinities and NaN are
treated as in NumPy.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir

DOUBLE = ir.DoubleType()
LONG = ir.IntType(64)

_SHIFTER = float(3 * 2**51)  # adding it rounds to an integer, which is then in the low bits
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EXP = [1 / math.factorial(power) for power in range(13, 1, -1)]
_LOG = [  # coefficients of log(1 + f) as an odd series in f / (2 + f), from fdlibm (W. J. Cody)
    1.479819860511658591e-01,
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
]
_HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_ONE = 0x3FF0000000000000


def number(value: float) -> ir.Constant:
    """Return a number as an LLVM constant."""
    return ir.Constant(DOUBLE, value)


class Mathematics:
    """Functions that a module calls, each of which is defined at its first call.

    Parameters
    ----------
    module : llvmlite.ir.Module
        Module in which they are defined.
    """

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._defined: dict[str, ir.Function] = {}

    def call(self, builder: ir.IRBuilder, name: str, *args: Any) -> Any:
        """Call a function of doubles by name, such as ``exp``."""
        if name in _SIMPLE:
            return _SIMPLE[name](builder, *args)
        if name not in self._defined:
            self._define(name, len(args))
        return builder.call(self._defined[name], args)

    def intrinsic(self, builder: ir.IRBuilder, name: str, *args: Any) -> Any:
        """Call an intrinsic function of LLVM."""
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(args))
        function = self.module.declare_intrinsic(f"llvm.{name}", [DOUBLE], kind)
        return builder.call(function, args)

    def _define(self, name: str, count: int) -> None:
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * count)
        function = ir.Function(self.module, kind, f"ml_{name}")
        function.linkage = "internal"
        function.attributes.add("alwaysinline")
        self._defined[name] = function
        builder = ir.IRBuilder(function.append_basic_block())
        builder.ret(_COMPOSED[name](self, builder, *function.args))


def _polynomial(
    maths: Mathematics, builder: ir.IRBuilder, x: Any, coefficients: list[float]
) -> Any:
    total: Any = number(coefficients[0])
    for coefficient in coefficients[1:]:
        total = maths.intrinsic(builder, "fmuladd", total, x, number(coefficient))
    return total


def _exp(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    """Compute exp(x) as 2**k times exp(r), with |r| <= log(2) / 2."""
    grown, half, rest = _reduced(maths, b, x)
    grown = b.fmul(b.fadd(number(1), grown), _power_of_two(b, half))
    return _beyond(b, x, number(0), b.fmul(grown, _power_of_two(b, rest)))


def _expm1(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    """Compute exp(x) - 1 as 2**k times (exp(r) - 1), plus 2**k - 1, without cancellation."""
    grown, half, rest = _reduced(maths, b, x)
    first, less = _power_of_two(b, half), _power_of_two(b, b.neg(rest))
    result = b.fadd(b.fmul(grown, first), b.fsub(first, less))
    return _beyond(b, x, number(-1), b.fmul(result, _power_of_two(b, rest)))


def _reduced(maths: Mathematics, b: ir.IRBuilder, x: Any) -> tuple[Any, Any, Any]:
    """Compute exp(r) - 1 with r = x - k log(2), and 2**k as two factors.

    There are two factors because 2**k may not be a normal number although the result is.
    """
    shifted = b.fadd(b.fmul(x, number(1 / math.log(2))), number(_SHIFTER))
    k = b.fsub(shifted, number(_SHIFTER))
    exponent = b.sub(b.bitcast(shifted, LONG), b.bitcast(number(_SHIFTER), LONG))
    r = b.fsub(x, b.fmul(k, number(_LN2_HIGH)))
    r = b.fsub(r, b.fmul(k, number(_LN2_LOW)))
    series = _polynomial(maths, b, r, _EXP)
    # 2048 makes the number positive, because vector units have a shift of positive numbers
    half = b.sub(b.lshr(b.add(exponent, LONG(4096)), LONG(1)), LONG(2048))
    return b.fadd(r, b.fmul(b.fmul(r, r), series)), half, b.sub(exponent, half)


def _power_of_two(b: ir.IRBuilder, exponent: Any) -> Any:
    return b.bitcast(b.shl(b.add(exponent, LONG(1023)), LONG(52)), DOUBLE)


def _beyond(b: ir.IRBuilder, x: Any, least: Any, result: Any) -> Any:
    """Insert the limits for which the exponential is not a normal number."""
    result = b.select(b.fcmp_ordered("<", x, number(-745.5)), least, result)
    return b.select(b.fcmp_ordered(">", x, number(709.79)), number(math.inf), result)


def _log(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    """Compute log(x) as k log(2) + log(m), with m between sqrt(1/2) and sqrt(2)."""
    tiny = b.fcmp_ordered("<", x, number(2.0**-1022))
    normal = b.select(tiny, b.fmul(x, number(2.0**54)), x)
    shifted = b.add(b.bitcast(normal, LONG), LONG(_ONE - _HALF_ROOT))
    exponent = b.lshr(shifted, LONG(52))
    exponent_bits = b.or_(exponent, LONG(0x4330000000000000))
    k = b.fsub(b.bitcast(exponent_bits, DOUBLE), number(2.0**52 + 1023))
    k = b.select(tiny, b.fsub(k, number(54)), k)
    mantissa = b.add(b.and_(shifted, LONG(0x000FFFFFFFFFFFFF)), LONG(_HALF_ROOT))
    f = b.fsub(b.bitcast(mantissa, DOUBLE), number(1))
    s = b.fdiv(f, b.fadd(f, number(2)))
    z = b.fmul(s, s)
    series = b.fmul(z, _polynomial(maths, b, z, _LOG))
    half = b.fmul(number(0.5), b.fmul(f, f))
    low = b.fadd(b.fmul(s, b.fadd(half, series)), b.fmul(k, number(_LN2_LOW)))
    result = b.fsub(b.fmul(k, number(_LN2_HIGH)), b.fsub(b.fsub(half, low), f))
    result = b.select(b.fcmp_ordered("==", x, number(math.inf)), x, result)
    result = b.select(b.fcmp_ordered("==", x, number(0)), number(-math.inf), result)
    unknown = b.fcmp_unordered("<", x, number(0))
    return b.select(unknown, number(math.nan), result)


def _log1p(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    """Compute log(u) with u = 1 + x, corrected for the rounding error of u."""
    u = b.fadd(number(1), x)
    plain = maths.call(b, "log", u)
    lost = b.fdiv(b.fsub(b.fsub(u, number(1)), x), u)
    usual = b.and_(b.fcmp_ordered(">", u, number(0)), b.fcmp_ordered("<", u, number(math.inf)))
    return b.select(usual, b.fsub(plain, lost), plain)


def _sigmoid(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    return b.fdiv(number(1), b.fadd(number(1), maths.call(b, "exp", b.fneg(x))))


def _softplus(maths: Mathematics, b: ir.IRBuilder, x: Any) -> Any:
    small = maths.call(b, "exp", b.fneg(maths.intrinsic(b, "fabs", x)))
    return b.fadd(maths.call(b, "maximum", x, number(0)), maths.call(b, "log1p", small))


def _through(name: str) -> Callable[..., Any]:
    return lambda maths, b, *args: maths.intrinsic(b, name, *args)


_COMPOSED: dict[str, Callable[..., Any]] = {
    "exp": _exp,
    "log": _log,
    "log1p": _log1p,
    "expm1": _expm1,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "pow": _through("pow"),
    "sqrt": _through("sqrt"),
    "abs": _through("fabs"),
}


def _compare(sign: str, b: ir.IRBuilder, x: Any, y: Any) -> Any:
    compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
    return compare(sign, x, y)


def _extreme(sign: str, b: ir.IRBuilder, x: Any, y: Any) -> Any:
    """Return the larger or smaller of two numbers; NaN if one is NaN."""
    extreme = b.select(b.fcmp_unordered(sign, x, y), x, y)
    return b.select(b.fcmp_unordered("uno", y, y), y, extreme)


_SIMPLE: dict[str, Callable[..., Any]] = {
    "add": lambda b, x, y: b.fadd(x, y),
    "sub": lambda b, x, y: b.fsub(x, y),
    "mul": lambda b, x, y: b.fmul(x, y),
    "div": lambda b, x, y: b.fdiv(x, y),
    "neg": lambda b, x: b.fneg(x),
    "sqr": lambda b, x: b.fmul(x, x),
    "maximum": partial(_extreme, ">"),
    "minimum": partial(_extreme, "<"),
    "where": lambda b, condition, yes, no: b.select(condition, yes, no),
    "lt": partial(_compare, "<"),
    "gt": partial(_compare, ">"),
    "le": partial(_compare, "<="),
    "ge": partial(_compare, ">="),
    "eq": partial(_compare, "=="),
    "ne": partial(_compare, "!="),
    "and": lambda b, x, y: b.and_(x, y),
    "or": lambda b, x, y: b.or_(x, y),
    "not": lambda b, x: b.not_(x),
    "isnan": lambda b, x: b.fcmp_unordered("uno", x, x),
    "isinf": lambda b, x: b.or_(
        b.fcmp_ordered("==", x, number(math.inf)), b.fcmp_ordered("==", x, number(-math.inf))
    ),
}
