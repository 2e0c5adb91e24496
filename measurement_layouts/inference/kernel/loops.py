"""LLVM code of one step: loops over a space, and reductions from one space into another."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from .domains import Domain
from .mathematics import DOUBLE, LONG, Mathematics, number
from .stages import Step
from .values import Space, Value, Values

INDEX = ir.IntType(32)
_POINTER = ir.PointerType()
_TRUTH = ir.IntType(1)
_START = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_JOIN = {"prod": "mul", "max": "maximum", "min": "minimum"}

type Key = tuple[Any, ...]
"""Key of an argument of a step: of the array of a quantity, of the map from a domain to a coarser
one, of the size of a domain, or of the first row of a block."""


def keys(step: Step) -> list[Key]:
    """List what a step reads and writes."""
    listed: dict[Key, None] = {}
    here = step.space.domain
    if here is not None:
        listed["size", here] = None
    if step.turn % 2:
        listed["start",] = None
    for value in [*step.arrays, *step.inputs]:
        listed["array", value] = None
        there = value.space.domain
        if here is not None and there is not None and here is not there:
            listed["index", here, there] = None
    return list(listed)


@contextmanager
def loop(b: ir.IRBuilder, count: Any, down: bool = False) -> Iterator[Any]:
    """Build a loop around the code of the ``with`` block; yields the index."""
    with b.goto_entry_block():
        counter = b.alloca(LONG)
    b.store(LONG(0), counter)
    check, body, after = (b.append_basic_block() for _ in range(3))
    b.branch(check)
    b.position_at_end(check)
    step = b.load(counter, typ=LONG)
    b.cbranch(b.icmp_signed("<", step, count), body, after)
    b.position_at_end(body)
    yield b.sub(b.sub(count, LONG(1)), step) if down else step
    b.store(b.add(step, LONG(1)), counter)
    b.branch(check)
    b.position_at_end(after)


class Loops:
    """Builder of the loops in one function.

    Parameters
    ----------
    b : llvmlite.ir.IRBuilder
        Builder of the function.
    maths : Mathematics
        Elementary functions.
    values : Values
        Quantities of the plan.
    resolve : callable
        Function that returns the argument of a key.
    local : set of int
        Numbers of the quantities of which only a block of rows is stored.
    start : object
        First row of the block; None if all rows are computed at once.
    """

    def __init__(
        self,
        b: ir.IRBuilder,
        maths: Mathematics,
        values: Values,
        resolve: Callable[[Key], Any],
        local: set[int],
        start: Any = None,
    ) -> None:
        self.b, self.maths, self.values, self.resolve = b, maths, values, resolve
        self.local, self.start = local, start

    @contextmanager
    def through(self, space: Space, last: str | None = None) -> Iterator["Entry"]:
        """Build loops over a space, optionally without one label dimension."""
        with ExitStack() as nest:
            position: dict[str | None, Any] = {}
            if space.domain is not None:
                count = self.resolve(("size", space.domain))
                position[None] = nest.enter_context(loop(self.b, count))
            for label in space.labels:
                if label != last:
                    count = LONG(self.values.sizes[label])
                    position[label] = nest.enter_context(loop(self.b, count))
            yield Entry(self, space, position)

    def begin(self, reduction: Value) -> None:
        """Store the result of a reduction of nothing."""
        with self.through(reduction.space) as entry:
            self.b.store(number(_START[reduction.folded[0]]), entry.address(reduction))

    def write(self, step: Step) -> None:
        """Build a step; its reductions continue from the results that are stored."""
        if step.fold is None:
            self._elementwise(step)
        elif step.fold.op == "others":
            self._others(step.space, step.fold)
        elif self._in_runs(step):
            self._fold_runs(step.space, step.fold)
        else:
            self._fold(step.space, step.fold)

    def _elementwise(self, step: Step) -> None:
        with self.through(step.space) as entry:
            for value in step.values:
                result = entry.compute(value)
                if value in step.stored:
                    self.b.store(_as_double(self.b, result), entry.address(value))
            for total in step.totals:
                self._accumulate(entry.address(total), entry.read(total.args[0]))

    def _accumulate(self, address: Any, term: Any) -> None:
        total = self.b.fadd(self.b.load(address, typ=DOUBLE), term)
        total.flags = ["reassoc", "nsz"]  # sums may be computed in any order, in vectors
        self.b.store(total, address)

    def _fold(self, space: Space, value: Value) -> None:
        kind = value.folded[0]
        with self.through(space) as entry:
            address, term = entry.address(value), entry.read(value.args[0])
            if kind == "sum":
                self._accumulate(address, term)
            else:
                before = self.b.load(address, typ=DOUBLE)
                self.b.store(self.maths.call(self.b, _JOIN[kind], before, term), address)

    def _in_runs(self, step: Step) -> bool:
        """Return whether neighbouring entries of a space mostly belong to one entry of a sum."""
        value, here = step.fold, step.space.domain
        assert value is not None  # noqa: S101
        there = value.space.domain
        if value.folded[0] != "sum" or step.space.labels or here is there:
            return False
        return here is not None and there is not None and self.values.domains.in_runs(here, there)

    def _fold_runs(self, space: Space, value: Value) -> None:
        """Build a sum that is kept in a register as long as the entry of the target is the same."""
        with self.b.goto_entry_block():
            total, address = self.b.alloca(DOUBLE), self.b.alloca(_POINTER)
        target = Entry(self, space, {None: LONG(0)}).address(value)
        self.b.store(target, address)
        self.b.store(self.b.load(target, typ=DOUBLE), total)
        with self.through(space) as entry:
            target, before = entry.address(value), self.b.load(address, typ=_POINTER)
            with self.b.if_then(self.b.icmp_unsigned("!=", target, before), likely=False):
                self.b.store(self.b.load(total, typ=DOUBLE), before)
                self.b.store(self.b.load(target, typ=DOUBLE), total)
                self.b.store(target, address)
            self._accumulate(total, entry.read(value.args[0]))
        self.b.store(self.b.load(total, typ=DOUBLE), self.b.load(address, typ=_POINTER))

    def _others(self, space: Space, value: Value) -> None:
        """Build the products of all other labels by two loops, forwards and backwards."""
        kept: Space = value.payload  # type: ignore[assignment]
        (dim,) = set(space.labels) - set(kept.labels)
        with self.b.goto_entry_block():
            running = self.b.alloca(DOUBLE)
        with self.through(space, last=dim) as outer:
            for down in (False, True):
                self.b.store(number(1), running)
                with loop(self.b, LONG(self.values.sizes[dim]), down) as at:
                    entry = Entry(self, space, {**outer.position, dim: at})
                    address, before = entry.address(value), self.b.load(running, typ=DOUBLE)
                    product = self.b.load(address, typ=DOUBLE) if down else number(1)
                    self.b.store(self.b.fmul(before, product), address)
                    self.b.store(self.b.fmul(before, entry.read(value.args[0])), running)


class Entry:
    """Builder of code at one entry of a space, which reads values of this and coarser spaces.

    Parameters
    ----------
    loops : Loops
        Builder of the function.
    space : Space
        The space.
    position : dict of str or None to object
        Indices by label dimension; None is the index in the domain.
    """

    def __init__(self, loops: Loops, space: Space, position: dict[str | None, Any]) -> None:
        self.loops, self.b, self.space, self.position = loops, loops.b, space, position
        self._read: dict[int, Any] = {}

    def read(self, value: Value) -> Any:
        """Return a value at this entry; it is loaded once."""
        if value.op == "constant":
            return number(value.payload)  # type: ignore[arg-type]
        if value.number not in self._read:
            loaded = self.b.load(self.address(value), typ=DOUBLE)
            if value.is_truth:
                loaded = self.b.fcmp_unordered("!=", loaded, number(0))
            self._read[value.number] = loaded
        return self._read[value.number]

    def compute(self, value: Value) -> Any:
        """Build an elementwise operation at this entry."""
        args = [self.read(arg) for arg in value.args]
        logical = {"and": 2, "or": 2, "not": 1, "where": 1}.get(value.op, 0)
        args = [_as_truth(self.b, arg) for arg in args[:logical]] + [
            _as_double(self.b, arg) for arg in args[logical:]
        ]
        result = self.loops.maths.call(self.b, value.op, *args)
        self._read[value.number] = result
        return result

    def address(self, value: Value) -> Any:
        """Return the address in an array of the entry that corresponds to this entry."""
        array = self.loops.resolve(("array", value))
        offset = self.offset(value.space, value.number in self.loops.local)
        return self.b.gep(array, [offset], source_etype=DOUBLE)

    def offset(self, space: Space, local: bool = False) -> Any:
        """Return the position, in arrays of a coarser space, of the corresponding entry."""
        offset: Any = LONG(0) if space.domain is None else self._row(space.domain, local)
        for label in space.labels:
            size = LONG(self.loops.values.sizes[label])
            offset = self.b.add(self.b.mul(offset, size), self.position[label])
        return offset

    def _row(self, domain: Domain, local: bool) -> Any:
        here, row = self.space.domain, self.position[None]
        assert here is not None  # noqa: S101
        if self.loops.start is not None and not local:
            row = self.b.add(self.loops.start, row)
        if domain is here:
            return row
        dim = domain.dim or here.dim
        if dim is not None:
            size = LONG(self.loops.values.sizes[dim])
            row = self.b.add(self.b.mul(row, size), self.position[dim])
        index = self.loops.resolve(("index", here, domain))
        address = self.b.gep(index, [row], source_etype=INDEX)
        return self.b.zext(self.b.load(address, typ=INDEX), LONG)


def _as_truth(b: ir.IRBuilder, operand: Any) -> Any:
    return operand if operand.type == _TRUTH else b.fcmp_unordered("!=", operand, number(0))


def _as_double(b: ir.IRBuilder, operand: Any) -> Any:
    return b.uitofp(operand, DOUBLE) if operand.type == _TRUTH else operand
