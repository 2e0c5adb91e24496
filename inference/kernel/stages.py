"""The code of one step: a loop over a space, or a sum from one space into another."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from .entries import Entry, Key, Resolve, loop
from .mathematics import DOUBLE, LONG, Mathematics, number
from .plan import Plan
from .schedule import Step, is_array
from .values import Space, Value

_START = {"sum": 0.0, "lack": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_JOIN = {"prod": "mul", "max": "maximum", "min": "minimum"}


class Stage:
    """Writes the code of one step."""

    def __init__(self, maths: Mathematics, plan: Plan, b: ir.IRBuilder, resolve: Resolve) -> None:
        self.maths, self.plan, self.b, self.resolve = maths, plan, b, resolve

    def write(self, step: Step) -> None:
        if step.fold is None:
            self._loop(step)
        elif step.fold.op == "fold":
            self._fold(step)
        else:
            self._others(step)

    @contextmanager
    def _through(self, space: Space, last: str | None = None) -> Iterator[Entry]:
        """Go through a space; of the labels, one may be left out."""
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

    def _loop(self, step: Step) -> None:
        sums = []
        with self.b.goto_entry_block():
            for _total in step.totals:
                sums.append(self.b.alloca(DOUBLE))
        for total in sums:
            self.b.store(number(0), total)
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
        joined.flags = ["reassoc", "nsz"]  # sums in any order, several at a time
        self.b.store(joined, total)

    def _fold(self, step: Step) -> None:
        value = step.fold
        assert value is not None  # noqa: S101
        kind = value.folded[0]
        with self._through(value.space) as body:
            self.b.store(number(_START[kind]), body.place(value, value.space))
        with self._through(step.space) as body:
            target, part = body.place(value, value.space), body.read(value.args[0])
            if kind == "sum":
                self._accumulate(target, part)
                return
            before = self.b.load(target, typ=DOUBLE)
            if kind == "lack":  # 1 - pa = (1 - p) a + (1 - a)
                joined = self.b.fadd(self.b.fmul(before, part), body.read(value.args[1]))
            else:
                joined = self.maths.call(self.b, _JOIN[kind], before, part)
            self.b.store(joined, target)

    def _others(self, step: Step) -> None:
        """Products of all but one, without a division: from the left, then from the right."""
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
    """List what a step reads and writes, apart from its totals."""
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
