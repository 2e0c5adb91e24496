"""Translation of a plan into LLVM code, and compilation of the code."""

import itertools
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from ...common.cache import Recent, cached
from .blocks import Group, collects, in_blocks, volume
from .inputs import Inputs
from .mathematics import DOUBLE, LONG, Mathematics, number
from .plan import Plan
from .stages import Entry, Key, Stage, Step, is_array, loop, reads, schedule
from .values import Space, Value

_NAMES = itertools.count()
_EXPORTS = ("density", "profile")
_X86 = platform.machine().lower() in ("x86_64", "amd64")
_ANYWHERE = (
    {"reloc": "static", "codemodel": "large"}
    if _X86
    else {"reloc": "default", "codemodel": "jitdefault"}
)
"""Addresses of 64 bits: in a process with much memory, parts of one object may be more than 2 GiB
apart, and linking them with distances of 32 bits would abort the process."""


@dataclass(frozen=True)
class Machine:
    """Compiled functions in memory.

    Attributes
    ----------
    density, profile : int
        Addresses of the functions.
    library : object
        Object that keeps the functions in memory.
    """

    density: int
    profile: int
    library: Any


_built = Recent[tuple[str, bool], Machine](64)  # one at a time, because LLVM is not thread-safe


def build(text: str, gathers: bool = True) -> Machine:
    """Compile a module for this processor, once, or read its machine code from the cache.

    Parameters
    ----------
    text : str
        An LLVM module.
    gathers : bool
        Whether instructions that read or write the numbers of a vector at several addresses may be
        used. Without them, most code is faster, and sums differ in their last digits.

    Returns
    -------
    Machine
        The functions of the module.
    """
    return _built.find((text, gathers), lambda: _link(text, gathers))


def _link(text: str, gathers: bool) -> Machine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    key = "\0".join([llvmlite.__version__, *_processor(gathers), *_ANYWHERE.values(), text])
    library = llvm.JITLibraryBuilder().add_current_process()
    library.add_object_img(cached(key, ".o", lambda: _compile(text, gathers)))
    for name in _EXPORTS:
        library.export_symbol(name)
    linked = library.link(_engine(), f"kernel{next(_NAMES)}")
    return Machine(linked["density"], linked["profile"], linked)


def optimise(text: str, target: Any) -> Any:
    """Parse a module and run LLVM's passes, including the vectorisation of loops."""
    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(module, passes)
    return module


def target(gathers: bool = True) -> Any:
    """Return LLVM's description of this machine's processor."""
    name, features = _processor(gathers)
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, **_ANYWHERE
    )


def _compile(text: str, gathers: bool = True) -> bytes:
    machine = target(gathers)
    return bytes(machine.emit_object(optimise(text, machine)))


@cache
def _processor(gathers: bool) -> tuple[str, str]:
    features = llvm.get_host_cpu_features().flatten()
    slow = ",+prefer-no-gather,+prefer-no-scatter" if _X86 and not gathers else ""
    return llvm.get_host_cpu_name(), features + slow


@cache
def _engine() -> Any:
    return llvm.create_lljit_compiler(target())


_NOWHERE = Space()
_REJECT_GRADIENT, _REJECT_DENSITY = 3, 4  # with these statuses, the sampler rejects a step
_POINTER = ir.PointerType()
_MANY = 16
"""Steps up to which LLVM joins all functions into one. For more steps that takes twice as long to
compile, and the code is not faster, except for products of other labels."""


def emit(plan: Plan, blocks: bool = False, apart: bool = False) -> tuple[str, Inputs]:
    """Translate a plan into code.

    Parameters
    ----------
    plan : Plan
        The quantities to compute.
    blocks : bool
        Whether rows are computed in blocks, whose arrays fit into a cache.
    apart : bool
        Whether each of many steps stays a function, which is compiled faster. Otherwise, functions
        are joined into one, so that the last digits of separate fits do not change.

    Returns
    -------
    str
        An LLVM module with the functions ``density(length, point, gradient, log_density, inputs)``
        and ``profile(length, count, point, latents, inputs)``, which return a status as nuts-rs
        expects it. Without gradient in the plan, the density rejects each point.
    Inputs
        The inputs of the functions.
    """
    module = ir.Module("kernel")
    inputs = Inputs(plan.values.domains, plan.outcomes)
    maths = Mathematics(module)
    status = ir.FunctionType(LONG, [LONG, _POINTER, _POINTER, _POINTER, _POINTER])
    function = ir.Function(module, status, "density")
    if plan.gradient:
        density = _Main(module, maths, plan, inputs, function, blocks, apart)
        density.run([plan.total, *plan.gradient.values()])
        density.finish_density()
    else:
        ir.IRBuilder(function.append_basic_block("entry")).ret(LONG(_REJECT_DENSITY))
    status = ir.FunctionType(LONG, [LONG, LONG, _POINTER, _POINTER, _POINTER])
    profile = _Main(
        module, maths, plan, inputs, ir.Function(module, status, "profile"), blocks, apart
    )
    profile.run(plan.profile)
    profile.finish_profile()
    return str(module), inputs


class _Main:
    """Builder of one function, which allocates memory, calls the steps and writes the results."""

    def __init__(
        self,
        module: ir.Module,
        maths: Mathematics,
        plan: Plan,
        inputs: Inputs,
        function: Any,
        blocks: bool,
        apart: bool,
    ) -> None:
        self.module, self.maths, self.plan = module, maths, plan
        self.inputs, self.function = inputs, function
        self.blocks, self.apart = blocks, apart
        self.point = function.args[1] if function.name == "density" else function.args[2]
        self.user = function.args[-1]
        self.b = ir.IRBuilder(function.append_basic_block("entry"))
        self.known: dict[Key, Any] = {}
        self.room: Any = None

    # --- reading -----------------------------------------------------------------------------

    def resolve(self, key: Key) -> Any:
        """Return a number or an address in the main function."""
        if key not in self.known:
            self.known[key] = self._resolve(key)
        return self.known[key]

    def _resolve(self, key: Key) -> Any:
        kind, what = key[0], key[1]
        if kind == "size":
            return self._input(self.inputs.size(str(what)))
        if kind == "index":
            slot, bits = self.inputs.index(str(what), str(key[2]))
            return self.b.inttoptr(self._input(slot), _POINTER), ir.IntType(bits)
        value = self.plan.values.listed[what]  # type: ignore[call-overload]
        if value.op == "point":
            offset = LONG(value.payload)
            address = self.b.gep(self.point, [offset], source_etype=DOUBLE)
            return address if kind == "array" else self.b.load(address, typ=DOUBLE)
        if value.op == "own":
            own = self.b.inttoptr(self._input(self.inputs.own), _POINTER)
            place = LONG(self.inputs.number(str(value.payload)))
            return self.b.load(self.b.gep(own, [place], source_etype=DOUBLE), typ=DOUBLE)
        return self.b.inttoptr(self._input(self.inputs.array(value)), _POINTER)

    def _input(self, slot: int) -> Any:
        return self.b.load(self.b.gep(self.user, [LONG(slot)], source_etype=LONG), typ=LONG)

    # --- steps -------------------------------------------------------------------------------

    def run(self, outputs: Sequence[Value]) -> None:
        """Compute the outputs."""
        steps, values = schedule(outputs), self.plan.values
        self.apart = self.apart and len(steps) > _MANY
        groups = [Group([step]) for step in steps]
        if self.blocks:
            groups = in_blocks(steps, outputs, values.domains.rows, values.sizes)
        self._make_room(groups)
        for group in groups:
            (step, *_) = group.steps
            if group.domain is not None:
                self._call_in_blocks(group)
            elif step.space == Space() and step.fold is None:
                self._here(step)
            else:
                self._call(step)

    def _make_room(self, groups: Sequence[Group]) -> None:
        """Allocate memory for all arrays."""
        offsets, total = dict[int, Any](), LONG(0)
        for group in groups:
            for value in (value for step in group.steps for value in step.arrays):
                offsets[value.number] = total
                size = self._volume(value.space)
                if value.number in group.local:
                    size = LONG(group.rows * volume(value.space, self.plan.values.sizes))
                total = self.b.add(total, size)
        if not offsets:
            return
        words = self.b.mul(total, LONG(8))
        self.room = self.b.call(self._library("malloc", _POINTER, [LONG]), [words])
        for at, offset in offsets.items():
            self.known["array", at] = self.b.gep(self.room, [offset], source_etype=DOUBLE)

    def _volume(self, space: Space) -> Any:
        labels = volume(space, self.plan.values.sizes)
        if space.domain is None:
            return LONG(labels)
        return self.b.mul(self.resolve(("size", space.domain.name)), LONG(labels))

    def _library(self, name: str, result: ir.Type, args: list[ir.Type]) -> Any:
        if name in self.module.globals:
            return self.module.globals[name]
        return ir.Function(self.module, ir.FunctionType(result, args), name)

    def _here(self, step: Step) -> None:
        body = Entry(self.b, self.plan, self.resolve, Space(), {})
        for value in step.values:
            found = body.compute(self.maths, value)
            self.known["scalar", value.number] = found

    def _call(self, step: Step) -> None:
        """Build a function for a step, and call it."""
        keys = [*reads(step), *self._slots(step)]
        given = [self._given(key) for key in keys]
        self.b.call(self._function(step, keys, lambda stage: stage.write(step)), given)
        self._read_totals(step)

    def _call_in_blocks(self, group: Group) -> None:
        """Call the steps of a group for one block of rows after another."""
        assert group.domain is not None  # noqa: S101
        calls = []
        for step in group.steps:
            slots = self._slots(step)
            for key in slots:
                self.b.store(number(0), self.known[key])
            keys = [*reads(step), *slots]
            for key in keys:
                self.resolve(key)  # outside of the loop
            begun = collects(step, group.domain)
            if begun and step.fold is not None:
                first = partial(Stage.begin, fold=step.fold)
                self.b.call(self._function(step, keys, first), [self._given(key) for key in keys])
            write = partial(Stage.write, step=step, begin=not (begun or step.totals))
            calls.append((self._function(step, keys, write), keys))
        size, most = self.resolve(("size", group.domain.name)), LONG(group.rows)
        blocks = self.b.sdiv(self.b.add(size, LONG(group.rows - 1)), most)
        with loop(self.b, blocks) as block:
            start = self.b.mul(block, most)
            left = self.b.sub(size, start)
            count = self.b.select(self.b.icmp_signed("<", left, most), left, most)
            for function, keys in calls:
                given = [self._of_block(key, group, start, count) for key in keys]
                self.b.call(function, given)
        for step in group.steps:
            self._read_totals(step)

    def _of_block(self, key: Key, group: Group, start: Any, count: Any) -> Any:
        """Return a number or the address of a block's first entry."""
        kind, what, found = key[0], key[1], self._given(key)
        here, sizes = group.domain, self.plan.values.sizes
        assert here is not None  # noqa: S101
        if kind == "size":
            return count if what == here.name else found
        if kind == "index":
            dim = self.inputs.domains.named(str(key[2])).dim
            first = self.b.mul(start, LONG(1 if dim is None else sizes[dim]))
            return self.b.gep(found, [first], source_etype=self.resolve(key)[1])
        if kind != "array" or what in group.local:
            return found
        space = self.plan.values.listed[what].space  # type: ignore[call-overload]
        if space.domain is not here:
            return found
        first = self.b.mul(start, LONG(volume(space, sizes)))
        return self.b.gep(found, [first], source_etype=DOUBLE)

    def _given(self, key: Key) -> Any:
        """Return the argument of a step's function."""
        found = self.resolve(key)
        return found[0] if key[0] == "index" else found

    def _slots(self, step: Step) -> list[Key]:
        """Make places for a step's totals; returns their keys."""
        slots: list[Key] = [("slot", total.number) for total in step.totals]
        with self.b.goto_entry_block():
            self.known |= {slot: self.b.alloca(DOUBLE) for slot in slots}
        return slots

    def _function(self, step: Step, keys: Sequence[Key], write: Callable[[Stage], None]) -> Any:
        """Build a separate function, whose arrays do not overlap."""
        kind = ir.FunctionType(ir.VoidType(), [self._given(key).type for key in keys])
        name = self.module.get_unique_name("step")
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        if self.apart and (step.fold is None or step.fold.op != "others"):
            function.attributes.add("noinline")
        for arg in function.args:
            if isinstance(arg.type, ir.PointerType):
                arg.add_attribute("noalias")
        passed = dict(zip(keys, function.args, strict=True))

        def resolve(key: Key) -> Any:
            return (passed[key], self.resolve(key)[1]) if key[0] == "index" else passed[key]

        b = ir.IRBuilder(function.append_basic_block("entry"))
        work = b.append_basic_block("work")
        b.position_at_end(work)
        write(Stage(self.maths, self.plan, b, resolve))
        b.ret_void()
        b.position_at_end(function.entry_basic_block)
        b.branch(work)
        return function

    def _read_totals(self, step: Step) -> None:
        """Read the sums that a step has stored."""
        for total in step.totals:
            found = self.b.load(self.known["slot", total.number], typ=DOUBLE)
            self.known["scalar", total.number] = found

    # --- results -----------------------------------------------------------------------------

    def _write(self, value: Value, space: Space, target: Any, offset: Any) -> None:
        """Write a value with one entry per level and label."""
        with ExitStack() as nest:
            position: dict[str | None, Any] = {}
            if space.domain is not None:
                size = self.resolve(("size", space.domain.name))
                position[None] = nest.enter_context(loop(self.b, size))
            for label in space.labels:
                position[label] = nest.enter_context(
                    loop(self.b, LONG(self.plan.values.sizes[label]))
                )
            body = Entry(self.b, self.plan, self.resolve, space, position)
            place = self.b.add(offset, body.offset(space))
            address = self.b.gep(target, [place], source_etype=DOUBLE)
            self.b.store(body.read(value), address)

    def finish_density(self) -> None:
        """Write the log-density and its gradient, and return whether they are finite."""
        _, _, gradient, density, _ = self.function.args
        zero = self.plan.values.zero
        for offset, space in self.plan.points.items():
            self._resolve_all([self.plan.gradient.get(offset, zero)], space)
        self._resolve_all([self.plan.total])
        for offset, space in self.plan.points.items():
            self._write(self.plan.gradient.get(offset, zero), space, gradient, LONG(offset))
        self._write(self.plan.total, Space(), density, LONG(0))
        self._free()
        finite = self.b.alloca(DOUBLE)
        self.b.store(number(0), finite)
        with loop(self.b, LONG(self.plan.length)) as at:
            part = self.b.load(self.b.gep(gradient, [at], source_etype=DOUBLE), typ=DOUBLE)
            vanished = self.b.fmul(part, number(0))
            self.b.store(self.b.fadd(self.b.load(finite, typ=DOUBLE), vanished), finite)
        slopes = self.b.fcmp_ordered("==", self.b.load(finite, typ=DOUBLE), number(0))
        level = self.b.fmul(self.b.load(density, typ=DOUBLE), number(0))
        levels = self.b.fcmp_ordered("==", level, number(0))
        status = self.b.select(levels, LONG(0), LONG(_REJECT_DENSITY))
        self.b.ret(self.b.select(slopes, status, LONG(_REJECT_GRADIENT)))

    def finish_profile(self) -> None:
        """Write the latents' values consecutively."""
        for value in self.plan.profile:
            self._resolve_all([value], value.space)
        offset = 0
        for value in self.plan.profile:
            self._write(value, value.space, self.function.args[3], LONG(offset))
            offset += self.plan.values.volume(value.space)
        self._free()
        self.b.ret(LONG(0))

    def _resolve_all(self, values: Sequence[Value], space: Space = _NOWHERE) -> None:
        """Read addresses outside of loops, so that they can be used within any loop."""
        here = space.domain
        if here is not None:
            self.resolve(("size", here.name))
        for value in values:
            if value.op != "constant":
                self.resolve(("array" if is_array(value) else "scalar", value.number))
                there = value.space.domain
                if here is not None and there is not None and there is not here:
                    self.resolve(("index", here.name, there.name))

    def _free(self) -> None:
        if self.room is not None:
            self.b.call(self._library("free", ir.VoidType(), [_POINTER]), [self.room])
