"""Translation of the PyTensor graph of a log-density into terms: operations on named axes.

Each axis of a variable has a role: `ROW` for the rows of a cohort, the name of a plate for the
levels of latents, a label dimension, `STACK` for values that a linking function joins, or None for
an axis of length one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph import rewrite_graph
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from ...layouts.outcomes.steps import MARK
from ..kernel.terms import MOVING, SUBJECT, Term, Terms, UnsupportedError
from ..kernel.values import NUMPY

ROW, STACK = f"{MARK}row", f"{MARK}stack"
_REWRITES = ("canonicalize", "stabilize", "local_remove_check_parameter")

# other operations of PyTensor have the kernel's names, apart from capital letters
_RENAMED = {"TrueDiv": "div", "Switch": "where", "NEQ": "ne", "Invert": "not"}
_REDUCTIONS = {"Add": "sum", "Mul": "prod", "Maximum": "max", "Minimum": "min"}
_PAIRWISE = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True)
class _Axes:
    """Roles of a variable's axes, and its term, one per entry of a stack, or its numbers."""

    roles: tuple[str | None, ...]
    content: int | tuple[int, ...] | np.ndarray

    def entry(self, index: int) -> int:
        if isinstance(self.content, tuple):
            return self.content[index]
        assert isinstance(self.content, int)  # noqa: S101
        return self.content


class Translator:
    """Translator of a PyTensor graph into terms, from the inputs to the outputs.

    Parameters
    ----------
    sizes : dict of str to int
        Number of labels per dimension, in the layout's order.
    plates : dict of str to str
        By plate, the hidden meta-feature whose values are its levels.
    single : set of str
        Plates with a single level, along which no value varies.
    """

    def __init__(
        self, sizes: dict[str, int], plates: Mapping[str, str], single: Collection[str]
    ) -> None:
        self.terms = Terms(sizes)
        self.single = frozenset(single)
        self.plates = {name: levels for name, levels in plates.items() if name not in single}
        self.axes: dict[Any, _Axes] = {}
        self.unsupported: dict[Any, UnsupportedError] = {}
        self.length = 0

    def feature(self, name: str, labels: tuple[str, ...] = ()) -> int:
        """Add the term of a meta-feature; returns its place."""
        term = Term("feature", value=name, labels=labels, features=frozenset({name}))
        return self.terms.add(term)

    def place(self, variable: Any, roles: Sequence[str | None], term: int) -> None:
        """Assign a term to a variable, with the roles of its axes."""
        self.axes[variable] = _Axes(self._varying(roles), term)

    def _varying(self, roles: Sequence[str | None]) -> tuple[str | None, ...]:
        return tuple(None if role in self.single else role for role in roles)

    def numbers(self, variable: Any, values: np.ndarray, labels: tuple[str, ...]) -> None:
        """Add the variable of constants, one per label or combination of labels."""
        self.axes[variable] = _Axes(labels, self.terms.constant(values, labels))

    def number(self, variable: Any, name: str) -> None:
        """Add the variable of a number that a subject has, which is exchanged without compiling."""
        self.axes[variable] = _Axes((), self.terms.add(Term("own", value=name, changes=SUBJECT)))

    def point(self, variable: Any, labels: tuple[str, ...], plates: tuple[str, ...] = ()) -> None:
        """Add the variable of the next part of the sampler's point; its shape is static."""
        features = frozenset(self.plates[plate] for plate in plates if plate not in self.single)
        term = Term("point", value=self.length, labels=labels, features=features, changes=MOVING)
        self.axes[variable] = _Axes(self._varying((*plates, *labels)), self.terms.add(term))
        counts = [self.terms.sizes[label] for label in labels]
        self.length += int(np.prod([*variable.type.shape[: len(plates)], *counts], dtype=int))

    def run(self, outputs: Sequence[Any]) -> list[int]:
        """Translate the graph; returns the places of the outputs' terms."""
        outputs = rewrite_graph(outputs, include=_REWRITES)
        for node in toposort(outputs, blockers=list(self.axes)):
            try:
                self.axes[node.outputs[0]] = self._node(node)
            except UnsupportedError as error:  # raised only if the result is used; shapes are not
                self.unsupported[node.outputs[0]] = error
        found = []
        for output in outputs:
            array = self._input(output)
            if not isinstance(array.content, int):
                array = _Axes(array.roles, self._constant(array, ()))
            found.append(array.entry(0))
        return found

    def _node(self, node: Any) -> _Axes:
        op, name = node.op, type(node.op).__name__
        if name in (
            "Alloc",
            "BroadcastTo",
        ):  # broadcasting is done by the operations that use the result
            spread = self._input(node.inputs[0])
            missing, content = node.outputs[0].type.ndim - len(spread.roles), spread.content
            if isinstance(content, np.ndarray):
                content = content[(None,) * missing]
            return _Axes((None,) * missing + spread.roles, content)
        inputs = [self._input(variable) for variable in node.inputs]
        if isinstance(op, Elemwise):
            return self._elemwise(op.scalar_op, inputs)
        if isinstance(op, DimShuffle):
            return self._dimshuffle(op, inputs[0])
        if isinstance(op, CAReduce):
            return self._reduce(op, node.inputs[0], inputs[0])
        if name == "Softmax":
            return self._softmax(op, inputs[0])
        if name == "Join":
            return self._join(node)
        raise UnsupportedError(f"the operation {op}")

    def _input(self, variable: Any) -> _Axes:
        if variable in self.axes:
            return self.axes[variable]
        if variable in self.unsupported:
            raise self.unsupported[variable]
        if not isinstance(variable, Constant):
            raise UnsupportedError(f"the variable {variable}")
        numbers = np.asarray(variable.data)
        return _Axes((None,) * numbers.ndim, numbers)

    def _elemwise(self, scalar_op: Any, inputs: list[_Axes]) -> _Axes:
        ndim = max((len(array.roles) for array in inputs), default=0)
        roles: list[str | None] = [None] * ndim
        for array in inputs:
            for axis, role in enumerate(array.roles, start=ndim - len(array.roles)):
                if role is not None:
                    if roles[axis] not in (None, role):
                        raise UnsupportedError(f"{role} against {roles[axis]} on one axis")
                    roles[axis] = role
        for array in inputs:
            if isinstance(array.content, np.ndarray):
                for behind, size in enumerate(reversed(array.content.shape), start=1):
                    if size > 1 and roles[-behind] is None:
                        roles[-behind] = self._meant(size, behind)
        merged = tuple(roles)
        compute = self._operation(scalar_op)
        if STACK not in merged:
            return _Axes(merged, compute(*(self._term(array, merged, 0) for array in inputs)))
        stacked = {len(array.content) for array in inputs if isinstance(array.content, tuple)}
        if len(stacked) != 1:
            raise UnsupportedError("stacks of different heights")
        entries = range(stacked.pop())
        return _Axes(
            merged,
            tuple(compute(*(self._term(array, merged, at) for array in inputs)) for at in entries),
        )

    def _meant(self, size: int, behind: int) -> str | None:
        """Guess the label dimension of constants without a labelled operand, by place or size."""
        dims = list(self.terms.sizes)
        fitting = [dim for dim in dims if self.terms.sizes[dim] == size]
        if behind <= len(dims) and dims[-behind] in fitting:
            return dims[-behind]
        return fitting[0] if len(fitting) == 1 else None

    def _term(self, array: _Axes, roles: tuple[str | None, ...], entry: int) -> int:
        if isinstance(array.content, np.ndarray):
            return self._constant(array, roles, entry)
        return array.entry(entry)

    def _constant(self, array: _Axes, roles: tuple[str | None, ...], entry: int = 0) -> int:
        """Add constants whose axes have the given roles."""
        numbers = np.asarray(array.content)
        missing, labels = len(roles) - numbers.ndim, list[str]()
        for axis in reversed(range(numbers.ndim)):
            role = roles[missing + axis] if roles else None
            if numbers.shape[axis] == 1:
                numbers = numbers.squeeze(axis)
            elif role == STACK:
                numbers = numbers.take(entry, axis)
            elif role in self.terms.sizes and numbers.shape[axis] == self.terms.sizes[role]:
                labels.insert(0, role)
            else:
                raise UnsupportedError(f"numbers of shape {numbers.shape} on axes {roles}")
        ordered = [dim for dim in self.terms.sizes if dim in labels]
        numbers = numbers.transpose([labels.index(dim) for dim in ordered])
        return self.terms.constant(numbers, ordered)

    def _operation(self, scalar_op: Any) -> Callable[..., int]:
        name = type(scalar_op).__name__
        if name in ("Identity", "Cast"):
            target = getattr(getattr(scalar_op, "o_type", None), "dtype", "float64")
            if not str(target).startswith(("float", "bool")):
                raise UnsupportedError(f"a cast to {target}")
            return lambda arg: arg
        if name == "Second":
            return lambda _like, fill: fill
        if name == "Log1mexp":
            return lambda arg: self.terms.compute("log1p", self._negated_exp(arg))
        if name == "Sign":
            return self._sign
        op = _RENAMED.get(name, name.lower())
        if op not in NUMPY:
            raise UnsupportedError(f"the operation {scalar_op}")
        return lambda *args: self.terms.compute(op, *args)

    def _sign(self, arg: int) -> int:
        less, zero, more = (self.terms.constant(np.array(end)) for end in (-1.0, 0.0, 1.0))
        above = self.terms.compute("where", self.terms.compute("gt", arg, zero), more, zero)
        return self.terms.compute("where", self.terms.compute("lt", arg, zero), less, above)

    def _negated_exp(self, arg: int) -> int:
        return self.terms.compute("neg", self.terms.compute("exp", arg))

    def _dimshuffle(self, op: Any, array: _Axes) -> _Axes:
        if isinstance(array.content, np.ndarray):
            axes = [axis for axis in op.new_order if axis != "x"]
            numbers = array.content.squeeze(
                tuple(axis for axis in range(array.content.ndim) if axis not in axes)
            )
            kept = sorted(axes)
            numbers = numbers.transpose([kept.index(axis) for axis in axes])
            for axis, source in enumerate(op.new_order):
                if source == "x":
                    numbers = np.expand_dims(numbers, axis)
            return _Axes((None,) * numbers.ndim, numbers)
        roles = tuple(None if axis == "x" else array.roles[axis] for axis in op.new_order)
        if {role for role in array.roles if role} - set(roles):
            raise UnsupportedError("an axis dropped")
        return _Axes(roles, array.content)

    def _reduce(self, op: Any, variable: Any, array: _Axes) -> _Axes:
        kind = _REDUCTIONS.get(type(op.scalar_op).__name__)
        if kind is None or isinstance(array.content, np.ndarray):
            raise UnsupportedError(f"the reduction {op}")
        axes = range(variable.type.ndim) if op.axis is None else op.axis
        content = array.content
        plates = [axis for axis in axes if array.roles[axis] in self.plates]
        if plates:
            content, axes = self._total(kind, array, plates), [a for a in axes if a not in plates]
        parts = content if isinstance(content, tuple) else (content,)
        smallest = kind == "max" and all(self.terms[part].op == "neg" for part in parts)
        if smallest:  # PyTensor writes a minimum as minus the maximum of the negated values
            kind, content = "min", self._negated(content)
        for axis in sorted(axes, reverse=True):
            role = array.roles[axis]
            if role is None:
                if not variable.type.broadcastable[axis]:
                    raise UnsupportedError("a reduction of an axis without meaning")
            elif role == STACK:
                assert isinstance(content, tuple)  # noqa: S101
                content = self._combine(kind, content)
            elif role == ROW:
                raise UnsupportedError("a reduction over the rows")
            elif isinstance(content, tuple):
                content = tuple(self.terms.reduce(kind, part, role) for part in content)
            else:
                content = self.terms.reduce(kind, content, role)
        gone = {*axes, *plates}
        roles = tuple(role for axis, role in enumerate(array.roles) if axis not in gone)
        return _Axes(roles, self._negated(content) if smallest else content)

    def _total(self, kind: str, array: _Axes, axes: Sequence[int]) -> int:
        """Add a sum over the levels of plates."""
        if kind != "sum" or not isinstance(array.content, int):
            raise UnsupportedError(f"the reduction {kind} over plates")
        through = [self.plates[role] for role in array.roles if role in self.plates]
        summed = {self.plates[str(array.roles[axis])] for axis in axes}
        kept = [plate for plate in through if plate not in summed]
        return self.terms.total(array.content, through, kept)

    def _negated(self, content: int | tuple[int, ...]) -> int | tuple[int, ...]:
        if isinstance(content, tuple):
            return tuple(self.terms.compute("neg", part) for part in content)
        return self.terms.compute("neg", content)

    def _softmax(self, op: Any, array: _Axes) -> _Axes:
        """Translate exponentials divided by their sum, which PyTensor rewrites as Softmax."""
        axes = range(len(array.roles)) if op.axis is None else op.axis
        dims = [role for axis in axes if (role := array.roles[axis]) is not None]
        if len(dims) != 1 or dims[0] not in self.terms.sizes or not isinstance(array.content, int):
            raise UnsupportedError(f"the operation {op} over {dims}")
        terms, (dim,) = self.terms, dims
        most = terms.reduce("max", array.content, dim)
        parts = terms.compute("exp", terms.compute("sub", array.content, most))
        return _Axes(array.roles, terms.compute("div", parts, terms.reduce("sum", parts, dim)))

    def _combine(self, kind: str, parts: tuple[int, ...]) -> int:
        op = _PAIRWISE[kind]
        if op in ("add", "mul"):
            return self.terms.compute(op, *parts)
        found = parts[0]
        for part in parts[1:]:
            found = self.terms.compute(op, found, part)
        return found

    def _join(self, node: Any) -> _Axes:
        """Translate a stack: arrays of length one are joined along the first axis."""
        parts = node.inputs
        if node.op.axis != 0:
            raise UnsupportedError("a concatenation")
        array = [self._input(part) for part in parts]
        roles: list[str | None] = [None] * len(array[0].roles)
        for part, variable in zip(array, parts, strict=True):
            if not variable.type.broadcastable[0] or part.roles[0] is not None:
                raise UnsupportedError("a concatenation")
            for place, role in enumerate(part.roles):
                if role is not None:
                    if roles[place] not in (None, role):
                        raise UnsupportedError("a stack of different axes")
                    roles[place] = role
        merged = (STACK, *roles[1:])
        entries = [self._term(part, (None, *roles[1:]), 0) for part in array]
        return _Axes(merged, tuple(entries))
