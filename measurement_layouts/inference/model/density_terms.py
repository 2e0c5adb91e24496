"""Translation of a layout's log-density from its PyTensor graph into terms."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph import rewrite_graph
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from ...layouts import Layout, Success
from ...layouts.outcomes.unseen import Numbers
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ..kernel.terms import MOVING, SUBJECT, LogDensity, Term, Terms, UnsupportedError
from ..kernel.values import NUMPY
from .alignment import align
from .prior import PLACES, profile_variables

_ITEM, _STACK = "item", "stack"  # roles of axes; the role of other axes is their label dimension

# other operations of PyTensor have the kernel's names, apart from capital letters
_RENAMED = {"TrueDiv": "div", "Switch": "where", "NEQ": "ne", "Invert": "not"}
_REDUCTIONS = {"Add": "sum", "Mul": "prod", "Maximum": "max", "Minimum": "min"}
_PAIRWISE = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True)
class _Laid:
    """A variable's term, or one per entry of its stacked axis, and the roles of its axes."""

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
        self,
        sizes: dict[str, int],
        plates: Mapping[str, str] | None = None,
        single: Collection[str] = (),
    ) -> None:
        self.terms = Terms(sizes)
        self.single = frozenset(single)
        self.plates = {name: own for name, own in (plates or {}).items() if name not in single}
        self.laid: dict[Any, _Laid] = {}
        self.unsupported: dict[Any, UnsupportedError] = {}
        self.length = 0

    def feature(self, variable: Any, name: str, labels: tuple[str, ...]) -> None:
        """Add the variable of a meta-feature."""
        self.lay(variable, (_ITEM, *labels), self.feature_term(name, labels))

    def feature_term(self, name: str, labels: tuple[str, ...]) -> int:
        """Add the term of a meta-feature; returns its place."""
        term = Term("feature", value=name, labels=labels, features=frozenset({name}))
        return self.terms.add(term)

    def lay(self, variable: Any, roles: Sequence[str | None], term: int) -> None:
        """Assign a term to a variable, with the roles of its axes."""
        self.laid[variable] = _Laid(self._varying(roles), term)

    def _varying(self, roles: Sequence[str | None]) -> tuple[str | None, ...]:
        return tuple(None if role in self.single else role for role in roles)

    def numbers(self, variable: Any, values: np.ndarray, labels: tuple[str, ...]) -> None:
        """Add the variable of constants, one per label or combination of labels."""
        self.laid[variable] = _Laid(labels, self.terms.constant(values, labels))

    def own(self, variable: Any, name: str) -> None:
        """Add the variable of a number that each subject has."""
        self.laid[variable] = _Laid((), self.terms.add(Term("own", value=name, changes=SUBJECT)))

    def point(self, variable: Any, labels: tuple[str, ...], plates: tuple[str, ...] = ()) -> None:
        """Add the variable of the next part of the sampler's point; its shape is static."""
        features = frozenset(self.plates[plate] for plate in plates if plate not in self.single)
        term = Term("point", value=self.length, labels=labels, features=features, changes=MOVING)
        self.laid[variable] = _Laid(self._varying((*plates, *labels)), self.terms.add(term))
        counts = [self.terms.sizes[label] for label in labels]
        self.length += int(np.prod([*variable.type.shape[: len(plates)], *counts], dtype=int))

    def run(self, outputs: Sequence[Any]) -> list[int]:
        """Translate the graph; returns the places of the outputs' terms."""
        for node in toposort(outputs, blockers=list(self.laid)):
            try:
                self.laid[node.outputs[0]] = self._node(node)
            except UnsupportedError as error:  # raised only if the result is used; shapes are not
                self.unsupported[node.outputs[0]] = error
        found = []
        for output in outputs:
            laid = self._input(output)
            if not isinstance(laid.content, int):
                laid = _Laid(laid.roles, self._constant(laid, ()))
            found.append(laid.entry(0))
        return found

    def _node(self, node: Any) -> _Laid:
        op, name = node.op, type(node.op).__name__
        if name in (
            "Alloc",
            "BroadcastTo",
        ):  # broadcasting is done by the operations that use the result
            spread = self._input(node.inputs[0])
            missing, content = node.outputs[0].type.ndim - len(spread.roles), spread.content
            if isinstance(content, np.ndarray):
                content = content[(None,) * missing]
            return _Laid((None,) * missing + spread.roles, content)
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

    def _input(self, variable: Any) -> _Laid:
        if variable in self.laid:
            return self.laid[variable]
        if variable in self.unsupported:
            raise self.unsupported[variable]
        if not isinstance(variable, Constant):
            raise UnsupportedError(f"the variable {variable}")
        numbers = np.asarray(variable.data)
        return _Laid((None,) * numbers.ndim, numbers)

    def _elemwise(self, scalar_op: Any, inputs: list[_Laid]) -> _Laid:
        ndim = max((len(laid.roles) for laid in inputs), default=0)
        roles: list[str | None] = [None] * ndim
        for laid in inputs:
            for axis, role in enumerate(laid.roles, start=ndim - len(laid.roles)):
                if role is not None:
                    if roles[axis] not in (None, role):
                        raise UnsupportedError(f"{role} against {roles[axis]} on one axis")
                    roles[axis] = role
        for laid in inputs:
            if isinstance(laid.content, np.ndarray):
                for behind, size in enumerate(reversed(laid.content.shape), start=1):
                    if size > 1 and roles[-behind] is None:
                        roles[-behind] = self._meant(size, behind)
        merged = tuple(roles)
        compute = self._operation(scalar_op)
        if _STACK not in merged:
            return _Laid(merged, compute(*(self._term(laid, merged, 0) for laid in inputs)))
        stacked = {len(laid.content) for laid in inputs if isinstance(laid.content, tuple)}
        if len(stacked) != 1:
            raise UnsupportedError("stacks of different heights")
        entries = range(stacked.pop())
        return _Laid(
            merged,
            tuple(compute(*(self._term(laid, merged, at) for laid in inputs)) for at in entries),
        )

    def _meant(self, size: int, behind: int) -> str | None:
        """Guess the label dimension of constants without a labelled operand, by place or size."""
        dims = list(self.terms.sizes)
        fitting = [dim for dim in dims if self.terms.sizes[dim] == size]
        if behind <= len(dims) and dims[-behind] in fitting:
            return dims[-behind]
        return fitting[0] if len(fitting) == 1 else None

    def _term(self, laid: _Laid, roles: tuple[str | None, ...], entry: int) -> int:
        if isinstance(laid.content, np.ndarray):
            return self._constant(laid, roles, entry)
        return laid.entry(entry)

    def _constant(self, laid: _Laid, roles: tuple[str | None, ...], entry: int = 0) -> int:
        """Add constants whose axes have the given roles."""
        numbers = np.asarray(laid.content)
        missing, labels = len(roles) - numbers.ndim, list[str]()
        for axis in reversed(range(numbers.ndim)):
            role = roles[missing + axis] if roles else None
            if numbers.shape[axis] == 1:
                numbers = numbers.squeeze(axis)
            elif role == _STACK:
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
            return lambda arg: self.terms.compute("log", self._lost(arg))
        op = _RENAMED.get(name, name.lower())
        if op not in NUMPY:
            raise UnsupportedError(f"the operation {scalar_op}")
        return lambda *args: self.terms.compute(op, *args)

    def _lost(self, arg: int) -> int:
        """Add 1 - exp(x)."""
        return self.terms.compute("neg", self.terms.compute("expm1", arg))

    def _dimshuffle(self, op: Any, laid: _Laid) -> _Laid:
        if isinstance(laid.content, np.ndarray):
            axes = [axis for axis in op.new_order if axis != "x"]
            numbers = laid.content.squeeze(
                tuple(axis for axis in range(laid.content.ndim) if axis not in axes)
            )
            kept = sorted(axes)
            numbers = numbers.transpose([kept.index(axis) for axis in axes])
            for axis, source in enumerate(op.new_order):
                if source == "x":
                    numbers = np.expand_dims(numbers, axis)
            return _Laid((None,) * numbers.ndim, numbers)
        roles = tuple(None if axis == "x" else laid.roles[axis] for axis in op.new_order)
        if {role for role in laid.roles if role} - set(roles):
            raise UnsupportedError("an axis dropped")
        return _Laid(roles, laid.content)

    def _reduce(self, op: Any, variable: Any, laid: _Laid) -> _Laid:
        kind = _REDUCTIONS.get(type(op.scalar_op).__name__)
        if kind is None or isinstance(laid.content, np.ndarray):
            raise UnsupportedError(f"the reduction {op}")
        axes = range(variable.type.ndim) if op.axis is None else op.axis
        content = laid.content
        plates = [axis for axis in axes if laid.roles[axis] in self.plates]
        if plates:
            content, axes = self._total(kind, laid, plates), [a for a in axes if a not in plates]
        parts = content if isinstance(content, tuple) else (content,)
        smallest = kind == "max" and all(self.terms[part].op == "neg" for part in parts)
        if smallest:  # PyTensor writes a minimum as minus the maximum of the negated values
            kind, content = "min", self._negated(content)
        for axis in sorted(axes, reverse=True):
            role = laid.roles[axis]
            if role is None:
                if not variable.type.broadcastable[axis]:
                    raise UnsupportedError("a reduction of an axis without meaning")
            elif role == _STACK:
                assert isinstance(content, tuple)  # noqa: S101
                content = self._combine(kind, content)
            elif role == _ITEM:
                raise UnsupportedError("a reduction over the items")
            elif isinstance(content, tuple):
                content = tuple(self.terms.reduce(kind, part, role) for part in content)
            else:
                content = self.terms.reduce(kind, content, role)
        gone = {*axes, *plates}
        roles = tuple(role for axis, role in enumerate(laid.roles) if axis not in gone)
        return _Laid(roles, self._negated(content) if smallest else content)

    def _total(self, kind: str, laid: _Laid, axes: Sequence[int]) -> int:
        """Add a sum over the levels of plates."""
        if kind != "sum" or not isinstance(laid.content, int):
            raise UnsupportedError(f"the reduction {kind} over plates")
        through = [self.plates[role] for role in laid.roles if role in self.plates]
        summed = {self.plates[str(laid.roles[axis])] for axis in axes}
        kept = [plate for plate in through if plate not in summed]
        return self.terms.total(laid.content, through, kept)

    def _negated(self, content: int | tuple[int, ...]) -> int | tuple[int, ...]:
        if isinstance(content, tuple):
            return tuple(self.terms.compute("neg", part) for part in content)
        return self.terms.compute("neg", content)

    def _softmax(self, op: Any, laid: _Laid) -> _Laid:
        """Translate exponentials divided by their sum, which PyTensor rewrites as Softmax."""
        axes = range(len(laid.roles)) if op.axis is None else op.axis
        dims = [role for axis in axes if (role := laid.roles[axis]) is not None]
        if len(dims) != 1 or dims[0] not in self.terms.sizes or not isinstance(laid.content, int):
            raise UnsupportedError(f"the operation {op} over {dims}")
        terms, (dim,) = self.terms, dims
        most = terms.reduce("max", laid.content, dim)
        parts = terms.compute("exp", terms.compute("sub", laid.content, most))
        return _Laid(laid.roles, terms.compute("div", parts, terms.reduce("sum", parts, dim)))

    def _combine(self, kind: str, parts: tuple[int, ...]) -> int:
        op = _PAIRWISE[kind]
        if op in ("add", "mul"):
            return self.terms.compute(op, *parts)
        found = parts[0]
        for part in parts[1:]:
            found = self.terms.compute(op, found, part)
        return found

    def _join(self, node: Any) -> _Laid:
        """Translate a stack: arrays of length one are joined along the first axis."""
        parts = node.inputs
        if node.op.axis != 0:
            raise UnsupportedError("a concatenation")
        laid = [self._input(part) for part in parts]
        roles: list[str | None] = [None] * len(laid[0].roles)
        for part, variable in zip(laid, parts, strict=True):
            if not variable.type.broadcastable[0] or part.roles[0] is not None:
                raise UnsupportedError("a concatenation")
            for place, role in enumerate(part.roles):
                if role is not None:
                    if roles[place] not in (None, role):
                        raise UnsupportedError("a stack of different axes")
                    roles[place] = role
        merged = (_STACK, *roles[1:])
        entries = [self._term(part, (None, *roles[1:]), 0) for part in laid]
        return _Laid(merged, tuple(entries))


def numbers_of(outcome: Success, translator: Translator, dims: tuple[str, ...]) -> dict[str, Any]:
    """Add the numbers along dimensions that an outcome uses; returns their aligned variables."""
    found = dict[str, Any]()
    for part in ancestry(outcome):
        if isinstance(part, Numbers) and part.dims:
            shape = tuple(map(len, part.dims.values()))
            numbers = pt.tensor(part.name, dtype="float64", shape=shape)
            translator.numbers(numbers, np.reshape(part.values, shape), tuple(part.dims))
            at = tuple(slice(None) if dim in part.dims else None for dim in dims)
            found[part.name] = numbers[at]
    return found


REWRITES = ("canonicalize", "stabilize", "local_remove_check_parameter")


def log_density(
    layout: Layout, deviations: frozenset[str] = frozenset()
) -> tuple[LogDensity, np.ndarray]:
    """Translate the log-density of a layout for single subjects.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    deviations : frozenset of str
        Latents that are sampled as deviations from their location; see `noncentred`.

    Returns
    -------
    LogDensity
        The terms of the log-density.
    ndarray, shape (length,)
        The point at which PyMC would start the sampler.

    Raises
    ------
    UnsupportedError
        When an operation has no term; the model must then be compiled by PyMC.
    LayoutError
        When PyMC does not accept a prior.
    """
    dims = tuple(layout.dims)
    known: dict[str, Any] = {}
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
        translator = Translator({dim: len(labels) for dim, labels in layout.dims.items()})
        for feature in layout.row_features:
            shape = (None, *map(len, feature.dims.values()))
            variable = pt.tensor(feature.name, dtype="float64", shape=shape)
            translator.feature(variable, feature.name, feature.label_dims)
            known[feature.name] = align(variable, feature, dims, per_item=True)
        for constant in layout.constants:
            known[constant.name] = pt.dscalar(constant.name)
            translator.own(known[constant.name], constant.name)
        unseen = layout.outcome.unseen
        known |= numbers_of(layout.outcome, translator, dims)
        variables = profile_variables(layout, deviations)
        for dim, labels in layout.dims.items():
            if (own := f"{dim}{PLACES}") in model:
                translator.numbers(model[own], np.arange(float(len(labels))), (dim,))
        for latent in layout.latents:
            known[latent.name] = align(variables[latent.name], latent, dims, per_item=False)
        parts = [evaluate(layout.outcome.expression, known, dims)]
        if unseen is not None:
            parts.append(evaluate(unseen.weights, known, dims))
        prior = model.logp(vars=model.free_RVs, jacobian=True)
        latents = [variables[latent.name] for latent in layout.latents]
        values = [model.rvs_to_values[variable] for variable in model.free_RVs]
        for value, variable in zip(values, model.free_RVs, strict=True):
            translator.point(value, model.named_vars_to_dims.get(variable.name) or ())
        start = model.initial_point()
        parts = [pt.as_tensor(part) for part in parts]
        graphs = model.replace_rvs_by_values([*latents, *parts])
    outputs = rewrite_graph([prior, *graphs], include=REWRITES)
    found = translator.run(outputs)
    profile, (probability, *weights) = found[1 : 1 + len(latents)], found[1 + len(latents) :]
    density = LogDensity(
        translator.terms,
        found[0],
        probability,
        tuple(profile),
        translator.length,
        weights[0] if weights else None,
    )
    first = [np.ravel(start[value.name]) for value in values]
    return density, np.concatenate(first).astype(float)
