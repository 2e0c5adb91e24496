"""Writing of layouts as dictionaries that can be saved as JSON, and reading of these."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import linking
from ..linking import Expr, LayoutError, LinkingFunction, mean_failure, units
from ..linking.evaluation import ancestry
from ..linking.expression import Constant, Operation, SubjectConstant, as_expr
from ..linking.function import Call
from ..linking.functions.elementary import ELEMENTARY
from . import latents, nodes, plates
from .graph import Graph
from .outcomes.measured import Measured
from .outcomes.ordered import Graded, OrderedOutcome, Score
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
        *(latents.Capability, latents.Propensity, latents.Bias, latents.Slope, latents.Noise),
        *(latents.Effect, latents.Spread, plates.Category),
    )
}
_FORMULAS = (
    *("expression", "mean", "spread", "positive", "negative", "noise"),
    *("performance", "gap", "precision"),
)
_CONSTANTS = {mean_failure.name: mean_failure}
_SYMBOLS = ("+", "-", "*", "/", "**")
FORMAT = 5  # of written layouts; other versions' formats are not read


def from_dict(
    data: Mapping[str, Any], functions: Sequence[LinkingFunction] = ()
) -> tuple[str, tuple[Observed, ...]]:
    """Read a layout's name and outcomes; see `Layout.from_dict`."""
    for function in functions:
        if not isinstance(function, LinkingFunction):
            raise LayoutError(
                f"functions= contains {function!r}; list functions that were made by "
                "@linking_function"
            )
    try:
        _refuse_other_formats(data.get("format"), data.get("name"))
        written = {node["name"]: node for node in data["nodes"]}
        name, names = data["name"], list(data["outcomes"])
        _names_differ([node["name"] for node in data["nodes"]])
        reader = _Reader(written, {own.name: own for own in functions})
        for written_name in written:  # parents come first: no node is far from what is made
            reader.node(written_name)
        outcomes = tuple(reader.node(outcome) for outcome in names)
    except LayoutError:
        raise
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise LayoutError(
            f"this is not a written layout ({type(error).__name__}: {error}); give the dictionary "
            "that Layout.to_dict() made"
        ) from error
    parts = [part for outcome in outcomes for part in ancestry(outcome)]
    reached = {part.name for part in (*parts, *latents.categories_of(parts))}
    unused = sorted(set(written) - reached)
    if unused:
        raise LayoutError(
            f"written layout: no outcome uses {', '.join(unused)}; use it in the ancestry of "
            f"{' or '.join(names)}, or remove it"
        )
    return name, tuple(map(_observed, outcomes))


def _observed(node: nodes.Node) -> Observed:
    """Take a node for an outcome, which it must be."""
    if not isinstance(node, Success | OrderedOutcome):
        raise LayoutError(
            f"written layout: its outcome {node.name} is not a Success, Graded or Score node"
        )
    return node


def _refuse_other_formats(written: object, name: object) -> None:
    """Refuse a layout that another version wrote."""
    if isinstance(written, bool) or not isinstance(written, int):
        raise LayoutError(
            f"this is not a written layout (its format is {written!r}); give the dictionary that "
            "Layout.to_dict() made"
        )
    if written != FORMAT:
        raise LayoutError(
            f"the layout {name!r} is written in format {written}, and this version of "
            f"measurement-layouts reads format {FORMAT}; declare it again, or read it with the "
            "version that wrote it"
        )


def _names_differ(names: list[Any]) -> None:
    """Refuse a name that is used twice."""
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise LayoutError(
            f"written layout: the names {', '.join(twice)} occur twice; rename one of each"
        )


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
        """Read a node and those that it depends on."""
        if name in self.made:
            return self.made[name]
        if name in self.path:
            cycle = " -> ".join([*self.path[self.path.index(name) :], name])
            raise LayoutError(
                f"cycle: {cycle}; a node cannot depend on itself, so remove one of the links"
            )
        if name not in self.written:
            raise LayoutError(f"the node {name!r} is used but not declared; add it to the nodes")
        fields = dict(self.written[name])
        kind = fields.pop("kind")
        if kind not in _KINDS:
            raise LayoutError(f"{name}: unknown kind {kind!r}; known: {', '.join(sorted(_KINDS))}")
        self.path.append(name)
        for key in _FORMULAS:
            if key in fields:
                fields[key] = self.expression(fields[key])
        if "prior" in fields:
            own = fields["prior"]
            fields["prior"] = (
                tuple(map(self.prior, own)) if isinstance(own, list) else self.prior(own)
            )
        if "given" in fields:
            fields["given"] = self.node(fields["given"]["node"])
        if "per" in fields:
            fields["per"] = self.plates(fields["per"])
        for key in ("low", "high"):
            if key in fields:
                fields[key] = _number(fields[key])
        try:
            self.made[name] = _KINDS[kind](**fields)
        except TypeError as error:
            raise LayoutError(f"{name}: {error}") from error
        self.path.pop()
        return self.made[name]

    def plates(self, written: Any) -> Any:
        """Read plates: a text, a category or several."""
        if isinstance(written, list):
            return tuple(map(self.plates, written))
        return self.node(written["node"]) if isinstance(written, Mapping) else written

    def expression(self, written: Any) -> Expr:
        """Read an expression: a number, a node, a constant, an operation or a call."""
        if not isinstance(written, Mapping):
            return as_expr(_number(written))
        if "node" in written:
            return self.node(written["node"])
        if "constant" in written:
            return _CONSTANTS[written["constant"]]
        operands = [self.expression(part) for part in written["of"]]
        if "op" not in written:
            return self.call(written, operands)
        if written["op"] not in _SYMBOLS:
            raise LayoutError(f"unknown operation {written['op']!r}; known: {' '.join(_SYMBOLS)}")
        return Operation(written["op"], *operands)

    def call(self, written: Mapping[str, Any], operands: list[Expr]) -> Expr:
        """Read a call of a linking function."""
        options = {name: _read_option(value) for name, value in written["options"].items()}
        function = self.function(written["call"], written.get("digest"))
        return function.build(written["names"], operands, options)

    def function(self, name: str, digest: str | None) -> LinkingFunction:
        """Find a linking function by its name, and by its digest where it is the user's own."""
        known = OURS if digest is None else self.functions
        if name not in known:
            raise LayoutError(
                f"the linking function {name!r} is not known here; pass it as functions=[{name}] "
                f"(know {', '.join(sorted({**OURS, **self.functions}))})"
            )
        function = known[name]
        if digest is not None and function.digest != digest:
            raise LayoutError(
                f"the linking function {name!r} differs from the one the layout was written with "
                f"(source hash {function.digest}, written {digest}); pass the same formula"
            )
        return function

    def prior(self, written: Mapping[str, Any]) -> Prior:
        """Read a prior distribution."""
        parameters = {name: self.expression(part) for name, part in written["parameters"].items()}
        support = written.get("support")
        ends = None if support is None else (_number(support[0]), _number(support[1]))
        return Prior(written["family"], support=ends, **parameters)


def _number(written: Any) -> float:
    """Read a number, or an infinite one, which JSON has no sign for and which is a text there."""
    if type(written) in (int, float) or written in ("inf", "-inf"):
        return float(written)
    raise LayoutError(f"{written!r} is not a number; write a number, 'inf' or '-inf'")


def _read_option(value: Any) -> Any:
    """Read an option; JSON has lists for tuples and texts for infinite numbers."""
    if isinstance(value, list):
        return tuple(_read_option(part) for part in value)
    if isinstance(value, Mapping):
        return _number(value["number"])
    return value


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
        {key: _canonical(value) for key, value in node.items() if key != "about"}
        for node in to_dict(layout)["nodes"]
    ]
    canonical = json.dumps(sorted(written, key=lambda node: str(node["name"])), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """Write 2 and 2.0 alike, for they are equal."""
    match value:
        case dict():
            return {key: _canonical(part) for key, part in value.items()}
        case list():
            return [_canonical(part) for part in value]
        case int() | float():
            return float(value)
    return value


def _write_node(node: nodes.Node) -> dict[str, Any]:
    """Write the fields of a node that are set."""
    written: dict[str, Any] = {"kind": type(node).__name__}
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if value is None or (field.name == "about" and not value):
            continue
        written[field.name] = units.spelled(value) if field.name == "unit" else _write(value)
    if isinstance(node, nodes.MetaFeature) and node.levels is not None:
        del written["low"], written["high"]
    if not node.dims:
        written.pop("dim", None)
    if written.get("per") == plates.ITEM:
        del written["per"]
    return written


def _write(value: Any) -> Any:
    """Write the value of a field."""
    match value:
        case int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
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
            own = {} if OURS.get(function.name) is function else {"digest": function.digest}
            return {
                "call": function.name,
                "of": [_write(argument) for argument in value.arguments],
                "names": list(value.names),
                "options": {name: _write_option(option) for name, option in value.options},
                **own,
            }
    raise LayoutError(f"{value!r} ({type(value).__name__}) cannot be written into a dictionary")


def _write_option(value: Any) -> Any:
    """Write the value of an option."""
    if isinstance(value, tuple):
        return [_write_option(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}  # a text option may say "inf" too
    return value
