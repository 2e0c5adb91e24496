"""The layout: the ancestry of its outcome as an immutable graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx

from ..linking import LinkingFunction
from ..linking.agreement import Dims, merge_dims
from ..linking.ancestry import ancestry
from ..linking.call import Call
from ..linking.subject_constant import SubjectConstant
from . import reading, render, serial, validate
from .latents import Latent
from .nodes import Derived, MetaFeature, Node
from .success import Success
from .unseen import Unseen


@dataclass(frozen=True)
class Layout:
    """Directed acyclic graph from meta-features and a cognitive profile to an outcome.

    Nothing is registered: the layout is whatever the outcome's expression reaches.

    Parameters
    ----------
    name : str
        Title of diagrams and tables.
    outcome : Success
        The observed leaf.
    profile : sequence of Latent, optional
        Latents that must be in it, for a reader who wants a forgotten one reported.

    Raises
    ------
    LayoutError
        When two nodes share a name, no latent reaches the outcome, a latent of `profile` does not,
        a meta-feature is opposed to nothing, labels disagree, or the outcome depends on a
        meta-feature where that is undefined.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> list(layout.nodes)
    ['sight', 'smallness', 'found']
    """

    name: str
    outcome: Success

    def __init__(self, name: str, outcome: Success, profile: Sequence[Latent] = ()) -> None:
        validate.check(name, outcome, tuple(profile))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "outcome", outcome)
        _ = self.dims

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "outcome": self.outcome}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Nodes by name, parents before children."""
        return {node.name: node for node in ancestry(self.outcome) if isinstance(node, Node)}

    @cached_property
    def meta_features(self) -> tuple[MetaFeature, ...]:
        """What must be known of an item."""
        return tuple(node for node in self.nodes.values() if isinstance(node, MetaFeature))

    @cached_property
    def latents(self) -> tuple[Latent, ...]:
        """The cognitive profile: what is inferred of a subject."""
        return tuple(node for node in self.nodes.values() if isinstance(node, Latent))

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """Intermediate nodes, without the outcome."""
        return tuple(
            node
            for node in self.nodes.values()
            if isinstance(node, Derived) and not isinstance(node, Success)
        )

    @cached_property
    def constants(self) -> tuple[SubjectConstant, ...]:
        """Numbers that each subject brings from its training outcomes."""
        found = [node for node in ancestry(self.outcome) if isinstance(node, SubjectConstant)]
        return tuple({constant.name: constant for constant in found}.values())

    @cached_property
    def functions(self) -> tuple[LinkingFunction, ...]:
        """Linking functions that it calls, ours and your own."""
        found = [node.function for node in ancestry(self.outcome) if isinstance(node, Call)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def dims(self) -> Dims:
        """Dimensions of all nodes, in order of appearance: labels, and places of the unseen."""
        return merge_dims(tuple(self.nodes.values()))

    @cached_property
    def labels(self) -> Dims:
        """Label dimensions of meta-features and latents."""
        return merge_dims((*self.meta_features, *self.latents))

    @cached_property
    def graph(self) -> "nx.DiGraph[str]":
        """The nodes' names as a `networkx.DiGraph`, each with its ``kind`` and ``per_item``."""
        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node in self.nodes.values():
            parents = _named_parents(node)
            own = isinstance(node, MetaFeature | Success | Unseen)
            per_item = own or any(graph.nodes[parent]["per_item"] for parent in parents)
            graph.add_node(node.name, kind=node.kind, per_item=per_item)
            graph.add_edges_from((parent, node.name) for parent in parents)
        return graph

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that changes what the layout computes; titles and remarks do not."""
        return serial.fingerprint(self)

    def to_dict(self) -> dict[str, Any]:
        """Write the layout as plain dictionaries, lists, texts and numbers (JSON holds it)."""
        return serial.to_dict(self)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], functions: Sequence[LinkingFunction] = ()
    ) -> "Layout":
        """Read what `to_dict` wrote.

        Parameters
        ----------
        data : mapping
            The written layout.
        functions : sequence of LinkingFunction, optional
            Your own linking functions in it; ours are known.

        Raises
        ------
        LayoutError
            When a node depends on itself or is missing or unused, a function is unknown or another
            one than was written, or any check of the layout fails.
        """
        name, outcome = reading.from_dict(data, functions)
        return cls(name, outcome)

    def to_graphviz(self) -> str:
        """Write the diagram in Graphviz's language."""
        return render.to_graphviz(self)

    def to_mermaid(self) -> str:
        """Write the diagram in Mermaid's language, for Markdown pages."""
        return render.to_mermaid(self)

    def to_latex(self) -> str:
        """Write the equations as a LaTeX ``aligned`` block."""
        return render.to_latex(self)

    def draw(self, path: str | Path) -> Path:
        """Draw the diagram into a file; its ending says the format (svg, png, pdf).

        Raises
        ------
        LayoutError
            When the ending is none of those.
        """
        return render.draw(self, Path(path))

    def _repr_svg_(self) -> str:
        return render.to_svg(self)

    def __repr__(self) -> str:
        return f"<Layout {self.name!r}: {', '.join(self.nodes)}>"

    def __str__(self) -> str:
        shown = Derived | Unseen
        lines = [_line(node) for node in self.nodes.values() if isinstance(node, shown)]
        return "\n".join([self.name, *(f"  {line}" for line in lines)])


def _line(node: Derived | Unseen) -> str:
    if isinstance(node, Derived):
        return f"{node.name} = {node.expression}"
    return ", ".join([f"{node.name} ~ Normal({node.mean}, {node.spread})", *node.clauses(str)])


def _named_parents(node: Node) -> list[str]:
    """Names of the nearest nodes that a node is computed from, in order."""
    found: dict[str, None] = {}
    formulas = (node.expression,) if isinstance(node, Derived) else node.parents
    for parent in formulas:
        for part in ancestry(parent, stop_at=lambda of: isinstance(of, Node)):
            if isinstance(part, Node):
                found[part.name] = None
    return list(found)
