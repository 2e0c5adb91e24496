"""Code at one entry of a space, and loops over entries."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from .domains import Domain
from .mathematics import DOUBLE, LONG, Mathematics, number
from .plan import Plan
from .schedule import is_array
from .values import Space, Value

type Key = tuple[object, ...]
"""Names a number, an array, a list of entries or a size."""

type Resolve = Callable[[Key], Any]
"""Finds what a key names in the function that is being built."""


@contextmanager
def loop(b: ir.IRBuilder, count: Any, down: bool = False) -> Iterator[Any]:
    """Repeat what is built inside; gives the index."""
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


class Entry:
    """Code at one entry of a space: reads what it needs, wherever that lies."""

    def __init__(
        self,
        b: ir.IRBuilder,
        plan: Plan,
        resolve: Resolve,
        space: Space,
        position: dict[str | None, Any],
    ) -> None:
        self.b, self.plan, self.resolve = b, plan, resolve
        self.space, self.position = space, position
        self.known: dict[int, Any] = {}

    def read(self, value: Value) -> Any:
        """Load or find a value at this entry."""
        if value.number not in self.known:
            self.known[value.number] = self._read(value)
        return self.known[value.number]

    def compute(self, maths: Mathematics, value: Value) -> Any:
        """Build an elementwise operation at this entry."""
        args = [self.read(arg) for arg in value.args]
        if value.op in ("and", "or", "not", "where"):
            logical = args if value.op != "where" else args[:1]
            asked = [
                arg if arg.type == ir.IntType(1) else self.b.fcmp_unordered("!=", arg, number(0))
                for arg in logical
            ]
            args = asked + args[len(asked) :]
        elif value.op not in ("isnan", "isinf"):
            args = [
                self.b.uitofp(arg, DOUBLE) if arg.type == ir.IntType(1) else arg for arg in args
            ]
        found = maths.call(self.b, value.op, *args)
        self.known[value.number] = found
        return found

    def _read(self, value: Value) -> Any:
        if value.op == "constant":
            return number(value.payload)  # type: ignore[arg-type]
        if not is_array(value):
            return self.resolve(("scalar", value.number))
        found = self.b.load(self.place(value, value.space), typ=DOUBLE)
        return self.b.fcmp_unordered("!=", found, number(0)) if value.is_truth else found

    def place(self, value: Value, space: Space) -> Any:
        """Find the address of the entry of an array that belongs to this entry."""
        return self._at(self.resolve(("array", value.number)), self.offset(space))

    def offset(self, space: Space) -> Any:
        """Find the place of the entry of a coarser space in its arrays."""
        found: Any = LONG(0)
        if space.domain is not None:
            found = self._row(space.domain)
        for label in space.labels:
            size = self.plan.values.sizes[label]
            found = self.b.add(self.b.mul(found, LONG(size)), self.position[label])
        return found

    def _row(self, domain: Domain) -> Any:
        here = self.space.domain
        assert here is not None  # noqa: S101
        if domain is here:
            return self.position[None]
        index, kind = self.resolve(("index", here.name, domain.name))
        at = self.position[None]
        dim = domain.dim or here.dim
        if dim is not None:
            at = self.b.add(self.b.mul(at, LONG(self.plan.values.sizes[dim])), self.position[dim])
        entry = self.b.load(self._at(index, at, kind), typ=kind)
        return self.b.zext(entry, LONG)

    def _at(self, array: Any, place: Any, kind: ir.Type = DOUBLE) -> Any:
        return self.b.gep(array, [place], source_etype=kind)
