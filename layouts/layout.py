"""The layout: the ancestry of its outcomes as an immutable graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx

from ..linking import Expr, LinkingFunction
from ..linking.evaluation import ancestry
from ..linking.expression import Dims, SubjectConstant, merge_dims
from ..linking.function import Call
from . import reading, render, serial, validate
from .ladder import Ladder
from .latents import Latent
from .nodes import Derived, MetaFeature, Node
from .steps import Leaf, Steps
from .success import Success
from .unseen import Unseen


@dataclass(frozen=True)
class Layout:
    """Directed acyclic graph from meta-features and a cognitive profile to an outcome.

    Nothing is registered: the layout is whatever the outcomes' expressions reach.

    Several outcomes of an item are seen together, such as whether it was solved and how well. Given
    the profile they are independent of each other: what they have in common is the profile, and
    what an item does to all of them at once must be a meta-feature. Data for outcomes that are
    several, graded or scores are made by `Evaluation.of_outcomes`.

    Parameters
    ----------
    name : str
        Title of diagrams and tables.
    outcome : Success, Graded or Score
        The observed leaf.
    *more : Success, Graded or Score
        Others, which share meta-features and latents with it.
    profile : sequence of Latent, optional
        Latents that must be in it, for a reader who wants a forgotten one reported.

    Attributes
    ----------
    outcomes : tuple of Success, Graded or Score
        All observed leaves.

    Raises
    ------
    LayoutError
        When two nodes share a name, no latent reaches an outcome, a latent of `profile` reaches
        none, a meta-feature is opposed to nothing, labels disagree, or an outcome depends on a
        meta-feature where that is undefined. Where outcomes are several, graded or scores, also
        when one uses something unseen, or noise that pulls towards the mean failure.

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
    outcomes: tuple[Leaf, ...]

    def __init__(
        self, name: str, outcome: Leaf, *more: Leaf, profile: Sequence[Latent] = ()
    ) -> None:
        validate.check(name, (outcome, *more), profile)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "outcomes", (outcome, *more))
        _ = self.dims

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "outcomes": self.outcomes}

    @cached_property
    def outcome(self) -> Success:
        """What is fitted: the only `Success`, or else all outcomes as steps, a row for each."""
        if len(self.outcomes) == 1 and isinstance(self.outcomes[0], Success):
            return self.outcomes[0]
        return Steps.of(self.outcomes)

    @property
    def steps(self) -> Steps | None:
        """The outcomes as steps; None where a single `Success` is all."""
        return self.outcome if isinstance(self.outcome, Steps) else None

    @cached_property
    def _parts(self) -> tuple[Expr, ...]:
        """Everything that the outcomes are computed from, and they, each once."""
        found = {id(part): part for leaf in self.outcomes for part in ancestry(leaf)}
        return tuple(found.values())

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Nodes by name, parents before children."""
        return {node.name: node for node in self._parts if isinstance(node, Node)}

    @cached_property
    def meta_features(self) -> tuple[MetaFeature, ...]:
        """What must be known of an item."""
        return tuple(node for node in self.nodes.values() if isinstance(node, MetaFeature))

    @cached_property
    def row_features(self) -> tuple[MetaFeature, ...]:
        """What must be known of a row that is fitted: of its item, and which step it is."""
        hidden = () if self.steps is None else self.steps.features
        return (*self.meta_features, *hidden)

    @cached_property
    def latents(self) -> tuple[Latent, ...]:
        """The cognitive profile: what is inferred of a subject."""
        return tuple(node for node in self.nodes.values() if isinstance(node, Latent))

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """Intermediate nodes, without the outcomes."""
        return tuple(
            node
            for node in self.nodes.values()
            if isinstance(node, Derived) and not isinstance(node, Success)
        )

    @cached_property
    def constants(self) -> tuple[SubjectConstant, ...]:
        """Numbers that each subject brings from its training outcomes."""
        found = [node for node in self._parts if isinstance(node, SubjectConstant)]
        return tuple({constant.name: constant for constant in found}.values())

    @cached_property
    def functions(self) -> tuple[LinkingFunction, ...]:
        """Linking functions that it calls, ours and your own."""
        found = [node.function for node in self._parts if isinstance(node, Call)]
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
            own = isinstance(node, MetaFeature | Success | Ladder | Unseen)
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
        name, outcomes = reading.from_dict(data, functions)
        return cls(name, *outcomes)

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
        shown = Derived | Unseen | Ladder
        lines = [_line(node) for node in self.nodes.values() if isinstance(node, shown)]
        return "\n".join([self.name, *(f"  {line}" for line in lines)])


def _line(node: Derived | Unseen | Ladder) -> str:
    if isinstance(node, Derived):
        return f"{node.name} = {node.expression}"
    if isinstance(node, Ladder):
        return f"{node.name} ~ {node.written(str)}"
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
