"""Translation of a plan into LLVM code: functions for the log-density and for the latents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from .inputs import DIRECTIONS, Inputs
from .loops import Key, Loops, keys, loop
from .mathematics import DOUBLE, LONG, Mathematics, number
from .outcomes import Outcomes
from .stages import Step, local_values, schedule
from .values import Space, Value, Values

_REJECT_GRADIENT, _REJECT_DENSITY = 3, 4  # with these statuses, the sampler rejects a step
_POINTER = ir.PointerType()
_MANY = 16
"""Steps up to which LLVM joins all functions into one. For more steps that takes twice as long to
compile, and the code is not faster."""


@dataclass(frozen=True)
class Plan:
    """Quantities to compute.

    Attributes
    ----------
    values : Values
        All quantities, with their domains.
    outcomes : Outcomes
        Form of a subject's outcomes.
    total : Value
        The log-density of the point given a subject's outcomes.
    gradient : dict of int to Value
        Derivatives of the log-density, by offset into the point.
    profile : tuple of Value
        The latents' values, in the layout's order.
    points : dict of int to Space
        Entries of the point's parts, by offset.
    """

    values: Values
    outcomes: Outcomes
    total: Value
    gradient: Mapping[int, Value]
    profile: tuple[Value, ...]
    points: Mapping[int, Space]


def emit(plan: Plan) -> tuple[str, Inputs]:
    """Translate a plan into code.

    Parameters
    ----------
    plan : Plan
        The quantities to compute.

    Returns
    -------
    str
        An LLVM module with the functions ``density(length, point, gradient, log_density, inputs)``
        and ``profile(length, count, point, latents, inputs)``, which return a status as nuts-rs
        expects it.
    Inputs
        The inputs of the functions.
    """
    module, inputs = ir.Module("kernel"), Inputs(plan.values, plan.outcomes)
    shared = plan, inputs, Mathematics(module), _stretch(module)
    status = ir.FunctionType(LONG, [LONG, *[_POINTER] * 4])
    density = ir.Function(module, status, "density")
    length, point, gradient, log_density, table = density.args
    body = _Body(density, length, point, table, *shared)
    body.compute([plan.total, *plan.gradient.values()])
    for offset, space in plan.points.items():
        body.copy(plan.gradient.get(offset, plan.values.zero), space, gradient, offset)
    body.stretch(gradient, *reversed(DIRECTIONS[1:]))
    body.copy(plan.total, Space(), log_density, 0)
    body.finish(_status(body.b, length, gradient, log_density))

    status = ir.FunctionType(LONG, [LONG, LONG, *[_POINTER] * 3])
    profile = ir.Function(module, status, "profile")
    length, _, point, latents, table = profile.args
    body = _Body(profile, length, point, table, *shared)
    body.compute(plan.profile)
    offset = 0
    for value in plan.profile:
        body.copy(value, value.space, latents, offset)
        offset += plan.values.volume(value.space)
    body.finish(LONG(0))
    return str(module), inputs


def _status(b: ir.IRBuilder, length: Any, gradient: Any, log_density: Any) -> Any:
    """Return whether the gradient and the log-density are finite."""
    with b.goto_entry_block():
        product = b.alloca(DOUBLE)
    b.store(number(0), product)
    with loop(b, length) as at:
        term = b.fmul(_load(b, gradient, at), number(0))
        b.store(b.fadd(b.load(product, typ=DOUBLE), term), product)
    finite = b.fcmp_ordered("==", b.load(product, typ=DOUBLE), number(0))
    status = b.select(finite, LONG(0), LONG(_REJECT_GRADIENT))
    level = b.fmul(b.load(log_density, typ=DOUBLE), number(0))
    rejected = b.and_(finite, b.fcmp_unordered("!=", level, number(0)))
    return b.select(rejected, LONG(_REJECT_DENSITY), status)


def _stretch(module: ir.Module) -> ir.Function:
    """Build the function that moves a point along all directions.

    For one direction after the other, a point u becomes ``u + a * (b @ u)``.
    """
    kind = ir.FunctionType(ir.VoidType(), [LONG, LONG, *[_POINTER] * 3])
    function = ir.Function(module, kind, "stretch")
    function.linkage = "internal"
    length, directions, into, out, point = function.args
    for argument in (into, out, point):
        argument.add_attribute("noalias")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    total = b.alloca(DOUBLE)
    with loop(b, directions) as direction:
        first = b.mul(direction, length)
        b.store(number(0), total)
        with loop(b, length) as at:
            weight, coordinate = _load(b, into, b.add(first, at)), _load(b, point, at)
            term = b.fmul(weight, coordinate, flags=["reassoc", "contract"])
            product = b.fadd(b.load(total, typ=DOUBLE), term, flags=["reassoc", "contract"])
            b.store(product, total)
        with loop(b, length) as at:
            step = b.fmul(_load(b, out, b.add(first, at)), b.load(total, typ=DOUBLE))
            b.store(b.fadd(_load(b, point, at), step), _address(b, point, at))
    b.ret_void()
    return function


def _address(b: ir.IRBuilder, array: Any, at: Any) -> Any:
    return b.gep(array, [at], source_etype=DOUBLE)


def _load(b: ir.IRBuilder, array: Any, at: Any) -> Any:
    return b.load(_address(b, array, at), typ=DOUBLE)


class _Body:
    """Builder of one function, which allocates memory, calls the steps and writes the results.

    Addresses and sizes are computed in a block of their own before everything else.
    """

    def __init__(
        self,
        function: ir.Function,
        length: Any,
        point: Any,
        table: Any,
        plan: Plan,
        inputs: Inputs,
        maths: Mathematics,
        stretch: ir.Function,
    ) -> None:
        self.function, self.length, self.point, self.table = function, length, point, table
        self.plan, self.inputs, self.maths, self._stretch = plan, inputs, maths, stretch
        self.b = ir.IRBuilder(function.append_basic_block("addresses"))
        self.work = function.append_basic_block("work")
        self.resolved: dict[Key, Any] = {}

    # --- addresses ---------------------------------------------------------------------------

    def resolve(self, key: Key) -> Any:
        """Return an address or a size."""
        if key not in self.resolved:
            with self.b.goto_entry_block():
                self.resolved[key] = self._resolve(key)
        return self.resolved[key]

    def _resolve(self, key: Key) -> Any:
        op = key[1].op if key[0] == "array" else None
        if op == "point":
            return _address(self.b, self.point, LONG(key[1].payload))
        address = self.b.gep(self.table, [LONG(self.inputs.slot(*key))], source_etype=LONG)
        if op == "own":
            return address
        entry = self.b.load(address, typ=LONG)
        is_number = key[0] in ("size", "block", "directions")
        return entry if is_number else self.b.inttoptr(entry, _POINTER)

    def _make_room(self, steps: Sequence[Step]) -> None:
        """Allocate memory for the moved point and all arrays."""
        offsets, total = dict[Value, Any](), self.length
        for value in (value for step in steps for value in step.arrays):
            offsets[value] = total
            size: Any = LONG(self.plan.values.volume(Space(None, value.space.labels)))
            if value.space.domain is not None:
                is_local = value.number in self.local
                key: Key = ("block",) if is_local else ("size", value.space.domain)
                size = self.b.mul(self.resolve(key), size)
            total = self.b.add(total, size)
        malloc = self._library("malloc", _POINTER, LONG)
        self.room = self.b.call(malloc, [self.b.mul(total, LONG(8))])
        for value, offset in offsets.items():
            self.resolved["array", value] = _address(self.b, self.room, offset)

    def _library(self, name: str, result: ir.Type, argument: ir.Type) -> Any:
        module = self.function.module
        if name in module.globals:
            return module.globals[name]
        return ir.Function(module, ir.FunctionType(result, [argument]), name)

    # --- steps -------------------------------------------------------------------------------

    def compute(self, outputs: Sequence[Value]) -> None:
        """Compute the outputs at the point that is moved along the directions."""
        values, rows = self.plan.values, self.plan.values.domains.rows
        steps = schedule(outputs, rows)
        self.local = local_values(steps, outputs, rows)
        self._make_room(steps)
        self.b.position_at_end(self.work)
        with loop(self.b, self.length) as at:
            self.b.store(_load(self.b, self.point, at), _address(self.b, self.room, at))
        self.point = self.room
        self.stretch(self.point, *DIRECTIONS[1:])
        self.loops = Loops(self.b, self.maths, values, self.resolve, self.local)
        functions = {id(step): self._build(step, len(steps) > _MANY) for step in steps}
        for turn in sorted({step.turn for step in steps}):
            in_turn = [step for step in steps if step.turn == turn]
            for step in in_turn:
                for reduction in step.reduced:
                    if reduction.op == "fold" and reduction.number not in self.local:
                        self.loops.begin(reduction)
                if turn % 2 == 0:
                    self.b.call(functions[id(step)], [self.resolve(key) for key in keys(step)])
            if turn % 2:
                self._call_in_blocks([(step, functions[id(step)]) for step in in_turn])

    def _call_in_blocks(self, calls: Sequence[tuple[Step, ir.Function]]) -> None:
        """Call the steps for one block of rows after another."""
        rows = self.plan.values.domains.rows
        size, most = self.resolve(("size", rows)), self.resolve(("block",))
        last = self.b.sub(self.b.add(size, most), LONG(1))
        with loop(self.b, self.b.sdiv(last, most)) as block:
            start = self.b.mul(block, most)
            rest = self.b.sub(size, start)
            count = self.b.select(self.b.icmp_signed("<", rest, most), rest, most)
            of_block: dict[Key, Any] = {("start",): start, ("size", rows): count}
            for step, function in calls:
                arguments = [of_block.get(key) or self.resolve(key) for key in keys(step)]
                self.b.call(function, arguments)

    def _build(self, step: Step, apart: bool) -> ir.Function:
        """Build a separate function for a step, whose arrays do not overlap."""
        types = [LONG if key[0] in ("size", "start") else _POINTER for key in keys(step)]
        module = self.function.module
        kind = ir.FunctionType(ir.VoidType(), types)
        function = ir.Function(module, kind, module.get_unique_name("step"))
        function.linkage = "internal"
        if apart:
            function.attributes.add("noinline")
        for argument in function.args:
            if argument.type == _POINTER:
                argument.add_attribute("noalias")
        arguments = dict(zip(keys(step), function.args, strict=True))
        entry, work = (function.append_basic_block(name) for name in ("entry", "work"))
        b = ir.IRBuilder(work)
        maths, values, start = self.maths, self.plan.values, arguments.get(("start",))
        loops = Loops(b, maths, values, arguments.__getitem__, self.local, start)
        if step.fold is not None and step.fold.op == "fold" and step.fold.number in self.local:
            loops.begin(step.fold)
        loops.write(step)
        b.ret_void()
        b.position_at_end(entry)
        b.branch(work)
        return function

    def stretch(self, point: Any, *arrays: str) -> None:
        """Move a point along the directions."""
        count, *addresses = (self.resolve((name,)) for name in (DIRECTIONS[0], *arrays))
        self.b.call(self._stretch, [self.length, count, *addresses, point])

    # --- results -----------------------------------------------------------------------------

    def copy(self, value: Value, space: Space, target: Any, offset: int) -> None:
        """Write a value with one entry per level and label."""
        with self.loops.through(space) as entry:
            at = self.b.add(LONG(offset), entry.offset(space))
            self.b.store(entry.read(value), _address(self.b, target, at))

    def finish(self, status: Any) -> None:
        """Free the memory, and return a status."""
        self.b.call(self._library("free", ir.VoidType(), _POINTER), [self.room])
        self.b.ret(status)
        self.b.position_at_end(self.function.entry_basic_block)
        self.b.branch(self.work)
