"""Layouts as plain data: dictionaries that JSON can hold, and back."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import linking
from ..linking import MEAN_FAILURE, Expr, LayoutError, LinkingFunction, units
from ..linking.expression import Constant, Operation
from ..linking.function import Call
from ..linking.subject_constant import SubjectConstant
from . import latents, nodes
from .priors import Prior

if TYPE_CHECKING:
    from .layout import Layout

_OURS = {
    value.name: value for value in vars(linking).values() if isinstance(value, LinkingFunction)
}
_KINDS: dict[str, type[nodes.Node]] = {
    kind.__name__: kind
    for kind in (
        *(nodes.MetaFeature, nodes.Derived, nodes.Success),
        *(latents.Capability, latents.Propensity, latents.Bias, latents.Slope, latents.Noise),
    )
}
_CONSTANTS = {MEAN_FAILURE.name: MEAN_FAILURE}


def to_dict(layout: "Layout") -> dict[str, Any]:
    """Write a layout; see `Layout.to_dict`."""
    return {
        "name": layout.name,
        "outcome": layout.outcome.name,
        "nodes": [_write_node(node) for node in layout.nodes.values()],
    }


def fingerprint(layout: "Layout") -> str:
    """Hash what a layout computes; see `Layout.fingerprint`."""
    written = [
        {key: value for key, value in node.items() if key != "about"}
        for node in to_dict(layout)["nodes"]
    ]
    canonical = json.dumps(sorted(written, key=lambda node: node["name"]), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def from_dict(
    data: Mapping[str, Any], functions: Sequence[LinkingFunction] = ()
) -> tuple[str, nodes.Success]:
    """Read a layout's name and outcome; see `Layout.from_dict`."""
    try:
        written = {node["name"]: node for node in data["nodes"]}
        name, outcome_name = data["name"], data["outcome"]
        if len(written) < len(data["nodes"]):
            names = [node["name"] for node in data["nodes"]]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise LayoutError(f"written layout: the names {twice} occur twice; rename one of each")
        reader = _Reader(written, {**_OURS, **{own.name: own for own in functions}})
        outcome = reader.node(outcome_name)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise LayoutError(
            f"this is no written layout ({type(error).__name__}: {error}); give the dictionary that "
            "Layout.to_dict() made"
        ) from error
    unused = sorted(set(written) - set(reader.made))
    if unused:
        raise LayoutError(
            f"written layout: {', '.join(unused)} reach{'es' if len(unused) == 1 else ''} no "
            f"outcome; use it in the ancestry of {outcome_name}, or take it out"
        )
    if not isinstance(outcome, nodes.Success):
        raise LayoutError(f"written layout: its outcome {outcome_name} is no Success node")
    return name, outcome


def _write_node(node: nodes.Node) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in vars(node).items()
        if name in type(node).__dataclass_fields__ and value not in (None, "")
    }
    if isinstance(node, nodes.MetaFeature) and node.levels is not None:
        del fields["low"], fields["high"]
    if not node.dims:
        fields.pop("dim", None)
    return {"kind": type(node).__name__, **{key: _write(value) for key, value in fields.items()}}


def _write(value: Any) -> Any:
    match value:
        case float() | int():
            return float(value) if math.isfinite(value) else str(float(value))
        case str():
            return value
        case tuple():
            return [_write(part) for part in value]
        case Prior():
            support = value.declared_support
            return {
                "family": value.family,
                "parameters": {name: _write(part) for name, part in value.parameters},
                **({"support": [_write(support.low), _write(support.high)]} if support else {}),
            }
        case Constant():
            return _write(value.value)
        case nodes.Node():
            return {"node": value.name}
        case SubjectConstant():
            return {"constant": value.name}
        case Operation():
            return {"op": value.symbol, "of": [_write(value.left), _write(value.right)]}
        case Call():
            function = value.function
            own = {} if _OURS.get(function.name) is function else {"digest": function.digest}
            return {
                "call": function.name,
                "of": [_write(argument) for argument in value.arguments],
                "names": list(value.names),
                "options": {name: _write(option) for name, option in value.options},
                **own,
            }
    return "" if value == units.dimensionless() else str(value)  # a unit


class _Reader:
    """Builds nodes from their written form, each once."""

    def __init__(
        self, written: Mapping[str, Mapping[str, Any]], functions: Mapping[str, LinkingFunction]
    ) -> None:
        self.written = written
        self.functions = functions
        self.made: dict[str, nodes.Node] = {}
        self.path: list[str] = []

    def node(self, name: str) -> nodes.Node:
        if name in self.made:
            return self.made[name]
        if name in self.path:
            cycle = " -> ".join([*self.path[self.path.index(name) :], name])
            raise LayoutError(
                f"cycle: {cycle}; a node cannot depend on itself, cut one of the links"
            )
        if name not in self.written:
            raise LayoutError(f"the node {name!r} is used but not declared; add it to the nodes")
        fields = dict(self.written[name])
        kind = fields.pop("kind")
        if kind not in _KINDS:
            raise LayoutError(f"{name}: unknown kind {kind!r}; know {', '.join(sorted(_KINDS))}")
        self.path.append(name)
        if "expression" in fields:
            fields["expression"] = self.expression(fields["expression"])
        if "prior" in fields:
            fields["prior"] = self.prior(fields["prior"])
        for key in ("low", "high"):
            if key in fields:
                fields[key] = float(fields[key])
        try:
            self.made[name] = _KINDS[kind](**fields)
        except TypeError as error:
            raise LayoutError(f"{name}: {error}") from error
        self.path.pop()
        return self.made[name]

    def expression(self, written: Any) -> Expr:
        if not isinstance(written, Mapping):
            return Constant(float(written))
        if "node" in written:
            return self.node(written["node"])
        if "constant" in written:
            return _CONSTANTS[written["constant"]]
        operands = [self.expression(part) for part in written["of"]]
        if "op" in written:
            return Operation(written["op"], *operands)
        function = self.function(written["call"], written.get("digest"))
        options = {name: _read_option(value) for name, value in written["options"].items()}
        return function.rebuild(written["names"], operands, options)

    def function(self, name: str, digest: str | None) -> LinkingFunction:
        if name not in self.functions:
            raise LayoutError(
                f"the linking function {name!r} is not known here; pass it as functions=[{name}] "
                f"(know {', '.join(sorted(self.functions))})"
            )
        function = self.functions[name]
        if digest is not None and function.digest != digest:
            raise LayoutError(
                f"the linking function {name!r} differs from the one the layout was written with "
                f"(source hash {function.digest}, written {digest}); pass the same formula"
            )
        return function

    def prior(self, written: Mapping[str, Any]) -> Prior:
        parameters = {name: self.expression(part) for name, part in written["parameters"].items()}
        support = written.get("support")
        ends = None if support is None else (float(support[0]), float(support[1]))
        return Prior(written["family"], support=ends, **parameters)


def _read_option(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return float(value) if value in ("inf", "-inf") else value
