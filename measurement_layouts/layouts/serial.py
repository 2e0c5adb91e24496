"""Writing of layouts as dictionaries that can be saved as JSON, and reading of these."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import linking
from ..linking import LayoutError, LinkingFunction, mean_failure, units
from ..linking.errors import check
from ..linking.expression import Constant, Operation, SubjectConstant, as_expr
from ..linking.function import Call
from ..linking.functions.elementary import ELEMENTARY
from . import latent_kinds as kinds
from . import nodes, plates
from .graph import Graph
from .outcomes.measured import Measured
from .outcomes.ordered import Graded, Score
from .outcomes.steps import Observed, Success
from .outcomes.unseen import Unseen
from .priors import Prior

OURS = ELEMENTARY | {
    value.name: value for value in vars(linking).values() if isinstance(value, LinkingFunction)
}
_KINDS: dict[str, type[nodes.Node]] = {
    kind.__name__: kind
    for kind in (
        *(nodes.MetaFeature, nodes.Derived, Unseen, Measured, Success, Graded, Score),
        *(kinds.Capability, kinds.Propensity, kinds.Bias, kinds.Slope, kinds.Noise),
        *(kinds.Effect, kinds.Spread, plates.Category),
    )
}
_CONSTANTS = {mean_failure.name: mean_failure}
FORMAT = 7  # of written layouts; other versions' formats are not read


def from_dict(
    data: Mapping[str, Any], functions: Sequence[LinkingFunction] = ()
) -> tuple[str, tuple[Observed, ...]]:
    """Read a layout's name and outcomes; see `Layout.from_dict`."""
    for function in functions:
        advice = "list functions that were made by @linking_function"
        problem = f"functions= contains {function!r}"
        check("from_dict", isinstance(function, LinkingFunction), problem, advice)
    try:
        problem = f"it is written in format {data['format']}, and this version reads {FORMAT}"
        advice = "declare it again, or use the version that wrote it"
        check(f"layout {data['name']!r}", data["format"] == FORMAT, problem, advice)
        reader = _Reader({node["name"]: node for node in data["nodes"]}, functions)
        for node in data["nodes"]:  # parents come first: no node is far from what is made
            reader.node(node["name"])
        outcomes = tuple(map(reader.node, data["outcomes"]))
        name = data["name"]
    except LayoutError:
        raise
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        problem = f"this is not a written layout ({type(error).__name__}: {error})"
        raise LayoutError(f"{problem}; give the dictionary that Layout.to_dict() made") from error
    return name, outcomes  # type: ignore[return-value]


class _Reader:
    """Builds nodes from their written form, each once."""

    def __init__(
        self, written: Mapping[str, Mapping[str, Any]], functions: Sequence[LinkingFunction]
    ) -> None:
        self.written = written
        self.functions = {function.name: function for function in functions}
        self.nodes: dict[str, nodes.Node] = {}
        self.reading = set[str]()

    def node(self, name: str) -> nodes.Node:
        """Read a node and those that it depends on."""
        if name not in self.nodes:
            check(name, name not in self.reading, "it depends on itself", "remove one of the links")
            self.reading.add(name)
            fields = {field: self.read(value) for field, value in self.written[name].items()}
            self.nodes[name] = _KINDS[fields.pop("kind")](**fields)
        return self.nodes[name]

    def read(self, written: Any) -> Any:
        """Read a number, a text, a sequence of these, an expression or a prior."""
        match written:
            case list():
                return tuple(map(self.read, written))
            case {"number": text}:
                return float(text)
            case {"node": name}:
                return self.node(name)
            case {"constant": name}:
                return _CONSTANTS[name]
            case {"op": symbol, "of": [left, right]}:
                return Operation(symbol, as_expr(self.read(left)), as_expr(self.read(right)))
            case {"call": name, "of": operands, "options": options}:
                function = self._function(name, written.get("digest"))
                values = {option: self.read(value) for option, value in options.items()}
                return function(*(as_expr(self.read(of)) for of in operands), **values)
            case {"family": family, "parameters": parameters}:
                return Prior(family, **{name: self.read(parameters[name]) for name in parameters})
            case dict():
                raise ValueError(f"{sorted(written)} are the keys of no expression")
        return written

    def _function(self, name: str, digest: str | None) -> LinkingFunction:
        """Find a linking function by its name, and by its digest where it is the user's own."""
        available = OURS if digest is None else self.functions
        known, title = ", ".join(sorted({**OURS, **self.functions})), f"linking function {name!r}"
        advice = f"pass it as functions=[{name}] (known are {known})"
        check(title, name in available, "it is not known here", advice)
        same = digest in (None, available[name].digest)
        problem = "its source differs from that of the function with which the layout was written"
        check(title, same, problem, "pass the same formula")
        return available[name]


def to_dict(layout: Graph) -> dict[str, Any]:
    """Write a layout; see `Layout.to_dict`."""
    return {
        "format": FORMAT,
        "name": layout.name,
        "outcomes": [outcome.name for outcome in layout.outcomes],
        "nodes": [_write_node(node) for node in (*layout.categories, *layout.nodes.values())],
    }


def fingerprint(layout: Graph) -> str:
    """Hash what a layout computes; see `Layout.fingerprint`."""
    written = [
        {key: value for key, value in node.items() if key != "about"}
        for node in to_dict(layout)["nodes"]
    ]
    numbers = json.loads(json.dumps(written), parse_int=float)  # 2 and 2.0 are equal
    canonical = json.dumps(sorted(numbers, key=lambda node: str(node["name"])), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _write_node(node: nodes.Node) -> dict[str, Any]:
    """Write the fields of a node that are set."""
    written: dict[str, Any] = {"kind": type(node).__name__}
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if value is not None and (field.name != "about" or value):
            written[field.name] = units.spelled(value) if field.name == "unit" else _write(value)
    if isinstance(node, nodes.MetaFeature) and node.levels is not None:
        del written["low"], written["high"]
    if not node.dims:
        written.pop("dim", None)
    if written.get("per") == plates.ITEM:
        del written["per"]
    return written


def _write(value: Any) -> Any:
    """Write the value of a field or an option."""
    match value:
        case float() if not math.isfinite(value):
            return {"number": str(value)}  # JSON has no sign for it
        case tuple():
            return [_write(element) for element in value]
        case Prior():
            parameters = {name: _write(element) for name, element in value.parameters}
            return {"family": value.family, "parameters": parameters}
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
            ours = OURS.get(function.name) is function
            operands, options = value.split(value.arguments)
            return {
                "call": function.name,
                "of": [_write(operand) for operand in operands],
                "options": {name: _write(option) for name, option in options.items()},
                **({} if ours else {"digest": function.digest}),
            }
    return value
