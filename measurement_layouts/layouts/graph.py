"""Graph of a layout: its outcomes and everything that they are computed from."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..linking import Expr, LinkingFunction
from ..linking.evaluation import ancestry
from ..linking.expression import Dims, SubjectConstant, merge_dims
from ..linking.function import Call
from .latents import Latent, categories_of
from .nodes import Derived, MetaFeature, Node
from .outcomes.averaging import AtLevels, at_levels, averaged, measured_of
from .outcomes.measured import Chance, Measured
from .outcomes.ordered import OrderedOutcome
from .outcomes.steps import Observed, Steps, Success
from .outcomes.unseen import Numbers, Unseen
from .plates import ITEM, SUBJECT, Category, Plate, finest, plate_name, root

if TYPE_CHECKING:  # slow to import, and a layout is declared without it
    import networkx as nx


@dataclass(frozen=True, repr=False)
class Graph:
    """Name of a layout, and its outcomes with everything that they are computed from.

    Nothing is checked here; `Layout` is a graph whose parts have been checked.

    Attributes
    ----------
    name : str
        Title of diagrams and tables.
    outcomes : tuple of Success, Graded or Score
        All observed outcomes.
    """

    name: str
    outcomes: tuple[Observed, ...]

    @cached_property
    def outcome(self) -> Success:
        """The outcome that is fitted: a single `Success`, or else all outcomes as rows of steps.

        With measured demands, it is the mean over their levels.
        """
        (first, *more) = self.outcomes
        if more or not isinstance(first, Success):
            return Steps.of(self.outcomes)
        if self.shared is None:
            return first
        return Success(first.name, averaged(first.expression), first.about)

    @cached_property
    def shared(self) -> AtLevels | None:
        """The outcome given the levels of measured demands, which the trials of an item share."""
        (first, *more) = self.outcomes
        if more or not isinstance(first, Success) or not measured_of(first):
            return None
        return at_levels(first)

    def mean_of(self, node: Node) -> Expr:
        """Return the expression that is computed for a node: its mean over measured levels."""
        return self.outcome if node.name == self.outcome.name else averaged(node)

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Demands of which the items have a probability for each level."""
        return _of_kind(Measured, self.nodes.values())

    @property
    def steps(self) -> Steps | None:
        """The outcomes as steps; None where a single `Success` is all."""
        return self.outcome if isinstance(self.outcome, Steps) else None

    @cached_property
    def parts(self) -> tuple[Expr, ...]:
        """The outcomes and everything that they are computed from, each once, parents first."""
        return tuple({id(x): x for outcome in self.outcomes for x in ancestry(outcome)}.values())

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Nodes by name, parents before children."""
        named = {part.name: part for part in self.parts if isinstance(part, Node)}
        return {name: node for name, node in named.items() if not isinstance(node, Chance)}

    @cached_property
    def meta_features(self) -> tuple[MetaFeature, ...]:
        """Meta-features of items; for a measured demand, the probability of each of its levels."""
        features = _of_kind(MetaFeature, self.parts)
        return tuple(feature for feature in features if feature.per != SUBJECT)

    @property
    def properties(self) -> tuple[MetaFeature | Measured, ...]:
        """Properties of an item: its meta-features, and each measured demand as one property."""
        nodes = (node for node in self.nodes.values() if isinstance(node, MetaFeature | Measured))
        return tuple(node for node in nodes if isinstance(node, Measured) or node.per != SUBJECT)

    @cached_property
    def covariates(self) -> tuple[MetaFeature, ...]:
        """Meta-features of subjects."""
        features = _of_kind(MetaFeature, self.parts)
        return tuple(feature for feature in features if feature.per == SUBJECT)

    @cached_property
    def plates(self) -> tuple[Plate, ...]:
        """Plates of the latents, each once, in order of appearance."""
        by_name = {plate_name(plate): plate for latent in self.latents for plate in latent.plates}
        return tuple(by_name.values())

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """Categories among the plates, and the categories that contain them."""
        return tuple({category.name: category for category in categories_of(self.latents)}.values())

    @cached_property
    def plates_of_nodes(self) -> dict[str, tuple[Plate, ...]]:
        """Plates along which each node varies, by name, without those that another determines."""
        plates_of: dict[str, tuple[Plate, ...]] = {}
        for node in self.nodes.values():
            if isinstance(node, Latent):
                plates_of[node.name] = node.plates
                continue
            above = [plate for name in _named_parents(node) for plate in plates_of[name]]
            first: list[Plate] = [node.per] if isinstance(node, MetaFeature) else []
            first += [SUBJECT, ITEM] if isinstance(node, Success | OrderedOutcome) else []
            last = [ITEM] if isinstance(node, Unseen | Measured) else []
            plates = finest([*first, *above, *last])
            plates_of[node.name] = tuple(sorted(plates, key=lambda plate: root(plate) == ITEM))
        return plates_of

    @cached_property
    def joint(self) -> bool:
        """Whether subjects are fitted together: a latent is shared, or there are covariates."""
        return bool(self.covariates) or any(not latent.is_profile for latent in self.latents)

    @cached_property
    def row_features(self) -> tuple[MetaFeature, ...]:
        """Meta-features of a row that is fitted: those of its item and those of its step."""
        hidden = () if self.steps is None else self.steps.features
        return (*self.meta_features, *hidden)

    @cached_property
    def latents(self) -> tuple[Latent, ...]:
        """All latents that are inferred: the cognitive profile and the shared latents."""
        return _of_kind(Latent, self.nodes.values())

    @cached_property
    def profile(self) -> tuple[Latent, ...]:
        """The cognitive profile: values of a subject, of each label and level of a category."""
        of_subjects = (latent for latent in self.latents if SUBJECT in latent.plates)
        return tuple(latent for latent in of_subjects if ITEM not in latent.plates)

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """Intermediate nodes, without the outcomes."""
        nodes = _of_kind(Derived, self.nodes.values())
        return tuple(node for node in nodes if not isinstance(node, Success))

    @cached_property
    def constants(self) -> tuple[SubjectConstant, ...]:
        """Constants that are computed from the training outcomes of each subject."""
        return _of_kind(SubjectConstant, self.parts)

    @cached_property
    def functions(self) -> tuple[LinkingFunction, ...]:
        """Linking functions that it calls, of the library and of the user."""
        return tuple(dict.fromkeys(x.function for x in self.parts if isinstance(x, Call)))

    @cached_property
    def dims(self) -> Dims:
        """Dimensions of all nodes, in order of appearance: labels, and places of the unseen."""
        nodes = () if self.shared is None else ancestry(self.shared)
        points = [node for node in nodes if isinstance(node, Numbers)]
        return merge_dims((*self.nodes.values(), *points))

    @cached_property
    def labels(self) -> Dims:
        """Label dimensions of meta-features and latents."""
        return merge_dims((*self.meta_features, *self.covariates, *self.latents))

    @cached_property
    def graph(self) -> "nx.DiGraph[str]":
        """The nodes' names as a `networkx.DiGraph`, with ``kind``, ``plates`` and ``per_item``.

        The attribute ``plates`` has the names of the plates along which a node varies. A category
        is a plate and not a node of the graph.
        """
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node in self.nodes.values():
            parents = _named_parents(node)
            plates = self.plates_of_nodes[node.name]
            graph.add_node(
                node.name,
                kind=node.kind,
                plates=tuple(map(plate_name, plates)),
                per_item=any(root(plate) == ITEM for plate in plates),
            )
            graph.add_edges_from((parent, node.name) for parent in parents)
        return graph

    def __str__(self) -> str:
        lines = [(node.name, node.statement()) for node in self.nodes.values()]
        shown = [f"  {name} {', '.join(statement)}" for name, statement in lines if statement]
        return "\n".join([self.name, *shown])


def _of_kind[Part: Expr](kind: type[Part], parts: Iterable[Any]) -> tuple[Part, ...]:
    """List the parts of a kind, each name once."""
    return tuple({part.name: part for part in parts if isinstance(part, kind)}.values())


def _named_parents(node: Node) -> list[str]:
    """Names of the nearest nodes that a node is computed from, in order."""
    names: dict[str, None] = {}
    formulas = (node.expression,) if isinstance(node, Derived) else node.parents
    formulas = () if isinstance(node, Measured) else formulas
    for parent in formulas:
        for ancestor in ancestry(parent, stop_at=lambda of: isinstance(of, Node)):
            if isinstance(ancestor, Node):
                names[ancestor.name] = None
    return list(names)
