"""Machine code of a log-density whose coordinates are stretched, and bent in pairs."""

from functools import cache
from typing import Any

from llvmlite import ir

from .mathematics import DOUBLE, LONG, number
from .stages import loop

_POINTER = ir.PointerType()
_SUM = ("reassoc", "contract")  # so that sums are vectorised


@cache
def emit_stretched() -> str:
    """Write code that calls the functions of another module at a point that is moved first.

    Returns
    -------
    str
        An LLVM module with the functions ``density`` and ``profile`` of `emit.emit`. Their inputs
        are nine integers: the addresses of the other module's density, of its profile and of its
        inputs; the number of directions, and the addresses of two arrays b and a of shape
        (directions, length); the number of pairs, and the addresses of their coordinates, integers
        of shape (pairs, 2), and of numbers c, w, C and W, shape (pairs, 4).

    Notes
    -----
    For one direction after the other, a point u becomes ``u + a * (b @ u)``. Then coordinates d and
    m of a pair become ``c + w * (m + r + d) / 2`` and ``C + W * (m + r - d) / 2``, where r is the
    root of ``d**2 + 4``. The gradient is that by u. Jacobians are constant and are left out.
    """
    module = ir.Module("stretched")
    malloc = ir.Function(module, ir.FunctionType(_POINTER, [LONG]), "malloc")
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER]), "free")
    moved, bent, unbent = _moved(module), _bent(module), _unbent(module)
    for place, (name, whole) in enumerate([("density", 1), ("profile", 2)]):
        kind = ir.FunctionType(LONG, [*[LONG] * whole, *[_POINTER] * (5 - whole)])
        function = ir.Function(module, kind, name)
        length, point, inputs = function.args[0], function.args[whole], function.args[-1]
        b = ir.IRBuilder(function.append_basic_block("entry"))
        given = [_read(b, inputs, LONG(slot), LONG) for slot in range(9)]
        other = b.inttoptr(given[place], ir.PointerType(kind))
        known, into, out, *pairs = (b.inttoptr(given[at], _POINTER) for at in (2, 4, 5, 7, 8))
        room = b.call(malloc, [b.mul(length, LONG(8))])
        with loop(b, length) as at:
            b.store(_read(b, point, at), _at(b, room, at))
        b.call(moved, [length, given[3], room, into, out])
        b.call(bent, [given[6], *pairs, room])
        args = [room if arg is point else arg for arg in function.args[:-1]]
        status = b.call(other, [*args, known])
        if name == "density":
            b.call(unbent, [given[6], *pairs, room, function.args[2]])
            b.call(moved, [length, given[3], function.args[2], out, into])
        b.call(free, [room])
        b.ret(status)
    return str(module)


def _moved(module: ir.Module) -> ir.Function:
    """Build the function that moves a point along all directions."""
    kind = ir.FunctionType(ir.VoidType(), [LONG, LONG, *[_POINTER] * 3])
    function = ir.Function(module, kind, "moved")
    function.linkage = "internal"
    for arg in function.args[2:]:
        arg.add_attribute("noalias")
    length, directions, point, into, out = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    total = b.alloca(DOUBLE)
    with loop(b, directions) as direction:
        first = b.mul(direction, length)
        b.store(number(0), total)
        with loop(b, length) as at:
            part = b.fmul(_read(b, into, b.add(first, at)), _read(b, point, at), flags=_SUM)
            b.store(b.fadd(b.load(total, typ=DOUBLE), part, flags=_SUM), total)
        with loop(b, length) as at:
            part = b.fmul(_read(b, out, b.add(first, at)), b.load(total, typ=DOUBLE))
            b.store(b.fadd(_read(b, point, at), part), _at(b, point, at))
    b.ret_void()
    return function


def _bent(module: ir.Module) -> ir.Function:
    """Build the function that bends the pairs of a point."""
    kind = ir.FunctionType(ir.VoidType(), [LONG, *[_POINTER] * 3])
    function = ir.Function(module, kind, "bent")
    count, pairs, numbers, point = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    with loop(b, count) as pair:
        (first, second), (c, w, other_c, other_w) = _of_pair(b, pair, pairs, numbers)
        apart, middle = _read(b, point, first), _read(b, point, second)
        middle = b.fadd(middle, _root(b, apart))
        for place, start, width, sign in (
            (first, c, w, b.fadd),
            (second, other_c, other_w, b.fsub),
        ):
            half = b.fmul(sign(middle, apart), number(0.5))
            b.store(b.fadd(start, b.fmul(width, half)), _at(b, point, place))
    b.ret_void()
    return function


def _unbent(module: ir.Module) -> ir.Function:
    """Build the function that turns the gradient by a bent point into that by the straight one."""
    kind = ir.FunctionType(ir.VoidType(), [LONG, *[_POINTER] * 4])
    function = ir.Function(module, kind, "unbent")
    count, pairs, numbers, point, gradient = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    with loop(b, count) as pair:
        (first, second), (c, w, other_c, other_w) = _of_pair(b, pair, pairs, numbers)
        one = b.fdiv(b.fsub(_read(b, point, first), c), w)
        other = b.fdiv(b.fsub(_read(b, point, second), other_c), other_w)
        apart = b.fsub(one, other)
        slope = b.fdiv(apart, _root(b, apart))
        one = b.fmul(b.fmul(_read(b, gradient, first), w), number(0.5))
        other = b.fmul(b.fmul(_read(b, gradient, second), other_w), number(0.5))
        along = b.fadd(one, other)
        b.store(b.fadd(b.fmul(along, slope), b.fsub(one, other)), _at(b, gradient, first))
        b.store(along, _at(b, gradient, second))
    b.ret_void()
    return function


def _of_pair(b: ir.IRBuilder, pair: Any, pairs: Any, numbers: Any) -> tuple[list[Any], list[Any]]:
    """Read the coordinates and the numbers of a pair."""
    at, of = b.mul(pair, LONG(2)), b.mul(pair, LONG(4))
    coordinates = [_read(b, pairs, b.add(at, LONG(part)), LONG) for part in range(2)]
    return coordinates, [_read(b, numbers, b.add(of, LONG(part))) for part in range(4)]


def _root(b: ir.IRBuilder, apart: Any) -> Any:
    root = b.module.declare_intrinsic("llvm.sqrt", [DOUBLE])
    return b.call(root, [b.fadd(b.fmul(apart, apart), number(4))])


def _at(b: ir.IRBuilder, array: Any, at: Any) -> Any:
    return b.gep(array, [at], source_etype=DOUBLE)


def _read(b: ir.IRBuilder, array: Any, at: Any, kind: ir.Type = DOUBLE) -> Any:
    return b.load(b.gep(array, [at], source_etype=kind), typ=kind)
