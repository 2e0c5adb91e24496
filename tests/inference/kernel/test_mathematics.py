"""Elementary functions in machine code, held against NumPy's in extended precision."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

from measurement_layouts.inference.kernel import machine
from measurement_layouts.inference.kernel.mathematics import DOUBLE, Mathematics

RNG = np.random.default_rng(7)
LINE = np.concatenate(
    [RNG.normal(0, scale, 4000) for scale in (1e-8, 1, 30, 300)] + [np.linspace(-745, 709, 3001)]
)
POSITIVE = np.concatenate([np.exp(RNG.uniform(-740, 709, 9000)), 1 + RNG.normal(0, 1e-3, 3000)])


def compiled(name):
    """Compile one function of one number, as kernels do."""
    module = ir.Module("test")
    maths, kind = Mathematics(module), ir.FunctionType(DOUBLE, [DOUBLE])
    for export in ("density", "profile"):
        function = ir.Function(module, kind, export)
        builder = ir.IRBuilder(function.append_basic_block())
        builder.ret(maths.call(builder, name, function.args[0]))
    built = machine.build(str(module))
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(built.density)
    return lambda values: np.array([call(value) for value in values]), built


def exact(name, x):
    """The same in extended precision."""
    x = np.asarray(x, dtype=np.longdouble)
    with np.errstate(all="ignore"):
        if name == "sigmoid":
            return 1 / (1 + np.exp(-x))
        if name == "softplus":
            return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))
        return getattr(np, name)(x)


@pytest.mark.parametrize(
    ("name", "where", "units"),
    [
        ("exp", LINE, 1.5),
        ("sigmoid", LINE, 2.5),
        ("softplus", LINE, 3),
        ("expm1", LINE, 2.5),
        ("log", POSITIVE, 1),
        ("log1p", POSITIVE, 3),
        ("log1p", -RNG.uniform(0, 1, 4000), 3),
    ],
)
def test_within_a_few_units_in_the_last_place(name, where, units):
    call, _built = compiled(name)
    found, wanted = call(where), exact(name, where)
    normal = np.isfinite(found) & (abs(wanted) > 1e-300)
    assert normal.mean() > 0.7
    error = abs(found - wanted)[normal] / np.spacing(abs(found))[normal]
    assert error.max() < units


def test_loops_of_them_become_vector_code():
    """The reason for their being written here: libm's are called one number at a time."""
    module = ir.Module("test")
    pointer = ir.PointerType()
    long = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [long, pointer]), "density")
    function.args[1].add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block())
    counter = builder.alloca(long)
    builder.store(long(0), counter)
    loop, end = builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.load(counter, typ=long)
    place = builder.gep(function.args[1], [at], source_etype=DOUBLE)
    value = Mathematics(module).call(builder, "log", builder.load(place, typ=DOUBLE))
    builder.store(value, place)
    following = builder.add(at, long(1))
    builder.store(following, counter)
    builder.cbranch(builder.icmp_signed("<", following, function.args[0]), loop, end)
    builder.position_at_end(end)
    builder.ret_void()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    optimised = machine.optimise(str(module), machine.target())
    assert "x double>" in str(optimised)
