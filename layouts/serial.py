"""Layouts as plain data: dictionaries that JSON can hold."""

import dataclasses
import hashlib
import json
import math
from typing import Any

from ..linking import LayoutError, units
from ..linking.expression import Constant, Operation, SubjectConstant
from ..linking.function import Call
from . import nodes
from .graph import Graph
from .priors import Prior
from .reading import FORMAT, OURS


def to_dict(layout: Graph) -> dict[str, Any]:
    """Write a layout; see `Layout.to_dict`."""
    outcomes = [outcome.name for outcome in layout.outcomes]
    return {
        "format": FORMAT,
        "name": layout.name,
        **({"outcome": outcomes[0]} if len(outcomes) == 1 else {"outcomes": outcomes}),
        "nodes": [_write_node(node) for node in layout.nodes.values()],
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
