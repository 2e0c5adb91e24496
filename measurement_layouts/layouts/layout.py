"""Layout: a checked graph that can be drawn, written and read."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..linking import LinkingFunction
from . import checks, serial
from .defaults import with_default_priors
from .drawing import graphviz as render
from .drawing import mermaid
from .graph import Graph
from .outcomes.steps import Observed, Success


class Layout(Graph):
    """Directed acyclic graph from meta-features and a cognitive profile to an outcome.

    The layout consists of all nodes that the expressions of its outcomes use; nodes need not be
    registered.

    A layout may have several outcomes of an item, such as whether it was solved and how well. Given
    the profile, they are independent of each other, so that a property of an item that changes all
    of them must be a meta-feature. `Evaluation.of_outcomes` makes the data for several outcomes,
    graded outcomes and scores.

    A latent has one value for each subject, or for each of the plates that its ``per=`` names:
    items, the population, the levels of a `Category`, or several of these. When a latent has other
    plates than the subjects, or a meta-feature is a property of subjects, the layout is joint:
    subjects are fitted together, and the data of one subject inform the profiles of others. A prior
    may depend on latents with the same or coarser plates: an ability, for example, may depend on
    the mean of the population or of the subject's school.

    Parameters
    ----------
    name : str
        Title of diagrams and tables.
    outcome : Success, Graded or Score
        Observed outcome.
    *more : Success, Graded or Score
        Further outcomes, which may share meta-features and latents with the first.

    Attributes
    ----------
    outcomes : tuple of Success, Graded or Score
        All observed outcomes.

    Raises
    ------
    LayoutError
        When two nodes have the same name, an outcome depends on no latent, no latent opposes a
        demand, labels disagree, or an outcome depends on a meta-feature where this is undefined.
        With several outcomes, graded outcomes or scores, also when one uses an unseen property or
        noise that pulls towards the mean failure. A joint layout may have no measured demands.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> list(layout.nodes)
    ['sight', 'smallness', 'found']

    Subjects who are drawn from a population, on items that are harder or easier than they look:

    >>> from measurement_layouts import Effect, Prior, Spread
    >>> mean, spread = Effect("mean"), Spread("spread")
    >>> ability = Capability("ability", prior=Prior("Normal", mu=mean, sigma=spread))
    >>> by_item = Prior("ZeroSumNormal", sigma=Spread("easeSpread"))
    >>> ease = Effect("ease", per="item", prior=by_item)
    >>> rasch = Layout("exam", Success("solved", logistic(ability + ease)))
    >>> rasch.joint, rasch.plates
    (True, ('subject', 'item'))
    """

    def __init__(self, name: str, outcome: Observed, *more: Observed) -> None:
        checks.check_layout(name, (outcome, *more))
        super().__init__(str(name), with_default_priors((outcome, *more)))
        _ = self.dims

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "outcomes": self.outcomes}

    @cached_property
    def several(self) -> "Layout":
        """The same layout for items whose trials share the levels of measured demands."""
        return _Several(self.name, *self.outcomes) if self.measured else self

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that affects what the layout computes, without titles and remarks."""
        return serial.fingerprint(self)

    def to_dict(self) -> dict[str, Any]:
        """Write the layout as dictionaries, lists, texts and numbers, as JSON can save them."""
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
            Your own linking functions that the layout uses; those of the library are known.

        Raises
        ------
        LayoutError
            When a node depends on itself, is missing or is unused; when a function is unknown or
            differs from the one that was written; or when a check of the layout fails.
        """
        name, outcomes = serial.from_dict(data, functions)
        return cls(name, *outcomes)

    def to_graphviz(self) -> str:
        """Write the diagram in Graphviz's language."""
        return render.to_graphviz(self)

    def to_mermaid(self) -> str:
        """Write the diagram in Mermaid's language, for Markdown pages."""
        return mermaid.to_mermaid(self)

    def draw(self, path: str | Path) -> Path:
        """Draw the diagram into a file, in the format of its extension (svg, png or pdf).

        Raises
        ------
        LayoutError
            When the extension is none of these.
        """
        return render.draw(self, Path(path))

    def _repr_svg_(self) -> str:
        return render.to_svg(self)

    def __repr__(self) -> str:
        return f"<Layout {self.name!r}: {', '.join(self.nodes)}>"


class _Several(Layout):
    """A layout of one `Success` whose trials share the levels of measured demands."""

    @cached_property
    def outcome(self) -> Success:
        return super().outcome if self.shared is None else self.shared

    @property
    def several(self) -> Layout:
        return self

    @cached_property
    def fingerprint(self) -> str:
        return f"{super().fingerprint}, several trials"
