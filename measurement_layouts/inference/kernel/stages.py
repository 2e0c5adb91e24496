"""Code of the steps: loops over a space, and reductions from one space into another."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llvmlite import ir

from .domains import Domain
from .mathematics import DOUBLE, LONG, Mathematics, number
from .plan import Plan
from .values import Space, Value

LEAVES = ("constant", "data", "point", "own", "outcome")


@dataclass
class Step:
    """Computation in one loop over a space.

    Attributes
    ----------
    space : Space
        Space of the loop.
    values : list of Value
        Elementwise operations in that space, in order.
    totals : list of Value
        Sums over the whole space, computed in the same loop.
    fold : Value or None
        A fold into another space, or the products of other labels. A step with a fold computes
        nothing else.
    stored : list of Value
        Those of `values` that are read by other steps.
    """

    space: Space
    values: list[Value] = field(default_factory=list)
    totals: list[Value] = field(default_factory=list)
    fold: Value | None = None
    stored: list[Value] = field(default_factory=list)

    @property
    def computed(self) -> list[Value]:
        """All quantities that the step computes."""
        return [*self.values, *self.totals, *([] if self.fold is None else [self.fold])]

    @property
    def arrays(self) -> list[Value]:
        """Quantities that the step writes into memory, without its totals."""
        return [*self.stored, *([] if self.fold is None else [self.fold])]


def schedule(outputs: Iterable[Value]) -> list[Step]:
    """Arrange the computation of outputs in steps.

    Parameters
    ----------
    outputs : iterable of Value
        The quantities to compute.

    Returns
    -------
    list of Step
        Steps, each after those whose results it reads.
    """
    outputs = list(outputs)
    needed = _needed(outputs)
    stage: dict[int, int] = {}
    steps: dict[tuple[int, int, Space | int], Step] = {}
    for value in needed:
        if value.op in LEAVES:
            continue
        alone = value.op in ("fold", "others") and not _is_total(value)
        space = value.space if value.op not in ("fold", "others") else _through(value)
        at = 0
        for arg in value.args:
            if arg.op in LEAVES:
                continue
            together = not alone and arg.space == space and arg.op not in ("fold", "others")
            at = max(at, stage[arg.number] + (not together))
        stage[value.number] = at
        key = (at, 1, value.number) if alone else (at, 0, space)
        step = steps.setdefault(key, Step(space))
        if alone:
            step.fold = value
        elif value.op == "fold":
            step.totals.append(value)
        else:
            step.values.append(value)
    found = [steps[key] for key in sorted(steps, key=lambda key: key[0])]
    keep(found, outputs)
    return found


def keep(steps: Iterable[Step], outputs: Iterable[Value]) -> None:
    """Find the values of each step that are outputs or are read by other steps."""
    wanted = {value.number for value in outputs}
    steps = list(steps)
    for step in steps:
        own = {value.number for value in step.values}
        read = {arg.number for value in step.computed for arg in value.args}
        wanted |= read - own
    for step in steps:
        step.stored = [
            value for value in step.values if value.number in wanted and value.space != Space()
        ]


def is_array(value: Value) -> bool:
    """Return whether a value is an array in memory rather than a single number."""
    return value.space != Space() or (value.op == "fold" and not _is_total(value))


def _through(value: Value) -> Space:
    return value.folded[1] if value.op == "fold" else value.space


def _is_total(value: Value) -> bool:
    """Return whether a value is a sum over a whole space, which another loop can compute."""
    return value.op == "fold" and value.space == Space() and value.folded[0] == "sum"


def _needed(outputs: Iterable[Value]) -> list[Value]:
    met: dict[int, Value] = {}
    pending = list(outputs)
    while pending:
        value = pending.pop()
        if value.number not in met:
            met[value.number] = value
            pending += value.args
    return [met[number] for number in sorted(met)]


type Key = tuple[object, ...]
"""Key of a number, an array, a list of entries or a size."""

type Resolve = Callable[[Key], Any]
"""Function that returns the object of a key in the function that is being built."""


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


class Entry:
    """Builder of code at one entry of a space, which reads values of this and coarser spaces."""

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
        """Return a value at this entry; it is loaded once."""
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
        """Return the address in an array of the entry that corresponds to this entry."""
        return self._at(self.resolve(("array", value.number)), self.offset(space))

    def offset(self, space: Space) -> Any:
        """Return the position, in arrays of a coarser space, of the corresponding entry."""
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


_POINTER = ir.PointerType()
_START = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_JOIN = {"prod": "mul", "max": "maximum", "min": "minimum"}


class Stage:
    """Builder of the code of one step."""

    def __init__(self, maths: Mathematics, plan: Plan, b: ir.IRBuilder, resolve: Resolve) -> None:
        self.maths, self.plan, self.b, self.resolve = maths, plan, b, resolve

    def write(self, step: Step, begin: bool = True) -> None:
        """Build a step; without `begin`, reductions continue from the results that are stored."""
        if step.fold is None:
            self._loop(step, begin)
        elif step.fold.op == "fold":
            if begin:
                self.begin(step.fold)
            self._fold(step)
        else:
            self._others(step)

    def begin(self, fold: Value) -> None:
        """Store the result of a reduction of nothing."""
        with self._through(fold.space) as body:
            self.b.store(number(_START[fold.folded[0]]), body.place(fold, fold.space))

    @contextmanager
    def _through(self, space: Space, last: str | None = None) -> Iterator[Entry]:
        """Build loops over a space, optionally without one label dimension."""
        with ExitStack() as nest:
            position: dict[str | None, Any] = {}
            if space.domain is not None:
                count = self.resolve(("size", space.domain.name))
                position[None] = nest.enter_context(loop(self.b, count))
            for label in space.labels:
                if label != last:
                    count = LONG(self.plan.values.sizes[label])
                    position[label] = nest.enter_context(loop(self.b, count))
            yield Entry(self.b, self.plan, self.resolve, space, position)

    def _loop(self, step: Step, begin: bool) -> None:
        sums = []
        with self.b.goto_entry_block():
            for _total in step.totals:
                sums.append(self.b.alloca(DOUBLE))
        for total, value in zip(sums, step.totals, strict=True):
            before = number(0)
            if not begin:
                before = self.b.load(self.resolve(("slot", value.number)), typ=DOUBLE)
            self.b.store(before, total)
        with self._through(step.space) as body:
            for value in step.values:
                found = body.known[value.number] = body.compute(self.maths, value)
                if value in step.stored:
                    kept = self.b.uitofp(found, DOUBLE) if value.is_truth else found
                    self.b.store(kept, body.place(value, step.space))
            for total, value in zip(sums, step.totals, strict=True):
                self._accumulate(total, body.read(value.args[0]))
        for total, value in zip(sums, step.totals, strict=True):
            self.b.store(self.b.load(total, typ=DOUBLE), self.resolve(("slot", value.number)))

    def _accumulate(self, total: Any, part: Any) -> None:
        joined = self.b.fadd(self.b.load(total, typ=DOUBLE), part)
        joined.flags = ["reassoc", "nsz"]  # sums may be computed in any order, in vectors
        self.b.store(joined, total)

    def _fold(self, step: Step) -> None:
        value = step.fold
        assert value is not None  # noqa: S101
        kind = value.folded[0]
        if kind == "sum" and self._in_runs(step.space, value.space):
            self._fold_runs(step)
            return
        with self._through(step.space) as body:
            target, part = body.place(value, value.space), body.read(value.args[0])
            if kind == "sum":
                self._accumulate(target, part)
                return
            before = self.b.load(target, typ=DOUBLE)
            self.b.store(self.maths.call(self.b, _JOIN[kind], before, part), target)

    def _in_runs(self, space: Space, target: Space) -> bool:
        """Return whether neighbouring entries of a space mostly belong to one entry of a target."""
        here, there = space.domain, target.domain
        if space.labels or here is None or there is None or here is there:
            return False
        return self.plan.values.domains.in_runs(here, there)

    def _fold_runs(self, step: Step) -> None:
        """Build a sum that is kept in a register as long as the entry of the target is the same."""
        value = step.fold
        assert value is not None  # noqa: S101
        first = Entry(self.b, self.plan, self.resolve, step.space, {None: LONG(0)})
        with self.b.goto_entry_block():
            total, place = self.b.alloca(DOUBLE), self.b.alloca(_POINTER)
        target = first.place(value, value.space)
        self.b.store(target, place)
        self.b.store(self.b.load(target, typ=DOUBLE), total)
        with self._through(step.space) as body:
            target, before = body.place(value, value.space), self.b.load(place, typ=_POINTER)
            with self.b.if_then(self.b.icmp_unsigned("!=", target, before), likely=False):
                self.b.store(self.b.load(total, typ=DOUBLE), before)
                self.b.store(self.b.load(target, typ=DOUBLE), total)
                self.b.store(target, place)
            self._accumulate(total, body.read(value.args[0]))
        self.b.store(self.b.load(total, typ=DOUBLE), self.b.load(place, typ=_POINTER))

    def _others(self, step: Step) -> None:
        """Build the products of all other labels by two loops, forwards and backwards."""
        value = step.fold
        assert value is not None  # noqa: S101
        kept: Space = value.payload  # type: ignore[assignment]
        (dim,) = set(step.space.labels) - set(kept.labels)
        size = LONG(self.plan.values.sizes[dim])
        with self.b.goto_entry_block():
            running = self.b.alloca(DOUBLE)
        with self._through(step.space, last=dim) as outer:
            for down in (False, True):
                self.b.store(number(1), running)
                with loop(self.b, size, down) as at:
                    body = Entry(
                        self.b, self.plan, self.resolve, step.space, {**outer.position, dim: at}
                    )
                    target, before = body.place(value, step.space), self.b.load(running, typ=DOUBLE)
                    other = self.b.load(target, typ=DOUBLE) if down else number(1)
                    self.b.store(self.b.fmul(before, other), target)
                    self.b.store(self.b.fmul(before, body.read(value.args[0])), running)


def reads(step: Step) -> list[Key]:
    """List the keys that a step reads and writes, without its totals."""
    keys: dict[Key, None] = {}

    def touch(value: Value, space: Space) -> None:
        if value.op == "constant":
            return
        keys["array" if is_array(value) else "scalar", value.number] = None
        here, there = step.space.domain, space.domain
        if here is not None and there is not None and here is not there:
            keys["index", here.name, there.name] = None

    own = {value.number for value in step.values}
    for value in [*step.values, *step.totals, *([step.fold] if step.fold else [])]:
        if value.op in ("fold", "others") and value is step.fold:
            touch(value, value.space)
            if value.space.domain is not None:
                keys["size", value.space.domain.name] = None
        for arg in value.args:
            if arg.number not in own:
                touch(arg, arg.space)
    for value in step.stored:
        touch(value, value.space)
    if step.space.domain is not None:
        keys["size", step.space.domain.name] = None
    return list(keys)
