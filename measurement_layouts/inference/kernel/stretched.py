"""Machine code of a log-density whose coordinates are stretched."""

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
        are six integers: the addresses of the other module's density, of its profile and of its
        inputs; the number of directions, and the addresses of two arrays b and a of shape
        (directions, length).

    Notes
    -----
    For one direction after the other, a point u becomes ``u + a * (b @ u)``. The gradient is that
    by u. Jacobians are constant and are left out.
    """
    module = ir.Module("stretched")
    malloc = ir.Function(module, ir.FunctionType(_POINTER, [LONG]), "malloc")
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER]), "free")
    moved = _moved(module)
    for place, (name, whole) in enumerate([("density", 1), ("profile", 2)]):
        kind = ir.FunctionType(LONG, [*[LONG] * whole, *[_POINTER] * (5 - whole)])
        function = ir.Function(module, kind, name)
        length, point, inputs = function.args[0], function.args[whole], function.args[-1]
        b = ir.IRBuilder(function.append_basic_block("entry"))
        given = [_read(b, inputs, LONG(slot), LONG) for slot in range(6)]
        other = b.inttoptr(given[place], ir.PointerType(kind))
        known, into, out = (b.inttoptr(given[at], _POINTER) for at in (2, 4, 5))
        room = b.call(malloc, [b.mul(length, LONG(8))])
        with loop(b, length) as at:
            b.store(_read(b, point, at), _at(b, room, at))
        b.call(moved, [length, given[3], room, into, out])
        args = [room if arg is point else arg for arg in function.args[:-1]]
        status = b.call(other, [*args, known])
        if name == "density":
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


def _at(b: ir.IRBuilder, array: Any, at: Any) -> Any:
    return b.gep(array, [at], source_etype=DOUBLE)


def _read(b: ir.IRBuilder, array: Any, at: Any, kind: ir.Type = DOUBLE) -> Any:
    return b.load(b.gep(array, [at], source_etype=kind), typ=kind)
