"""The layout: a checked graph that can be drawn, written and read."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..linking import LinkingFunction
from . import checks, serial
from .drawing import equations, mermaid
from .drawing import graphviz as render
from .graph import Graph
from .latents import Latent
from .outcomes.steps import Observed, Success


class Layout(Graph):
    """Directed acyclic graph from meta-features and a cognitive profile to an outcome.

    Nothing is registered: the layout is whatever the outcomes' expressions reach.

    Several outcomes of an item are seen together, such as whether it was solved and how well. Given
    the profile they are independent of each other: what they have in common is the profile, and
    what an item does to all of them at once must be a meta-feature. Data for outcomes that are
    several, graded or scores are made by `Evaluation.of_outcomes`.

    A latent has one value for each subject, or for whatever its ``per=`` names: items, the
    population, the levels of a `Category`, or several of these plates. Where one has other plates
    than the subjects, or a meta-feature is a property of subjects, the layout is joint: subjects
    are fitted together and learn from each other. A prior may depend on what has the same plates
    or coarser ones, as an ability does on the mean of the population or of its school.

    Parameters
    ----------
    name : str
        Title of diagrams and tables.
    outcome : Success, Graded or Score
        The observed outcome.
    *more : Success, Graded or Score
        Others, which share meta-features and latents with it.
    profile : sequence of Latent, optional
        Latents that must be in it, for a reader who wants a forgotten one reported.

    Attributes
    ----------
    outcomes : tuple of Success, Graded or Score
        All observed outcomes.

    Raises
    ------
    LayoutError
        When two nodes share a name, no latent reaches an outcome, a latent of `profile` reaches
        none, a meta-feature is opposed to nothing, labels disagree, or an outcome depends on a
        meta-feature where that is undefined. Where outcomes are several, graded or scores, also
        when one uses something unseen, or noise that pulls towards the mean failure; where the
        layout is joint, when it has any of these.

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

    >>> from measurement_layouts import Bias, Prior, Spread
    >>> mean, spread = Bias("mean", per="population"), Spread("spread")
    >>> ability = Capability("ability", prior=Prior("Normal", mu=mean, sigma=spread))
    >>> by_item = Prior("ZeroSumNormal", sigma=Spread("easeSpread"))
    >>> ease = Bias("ease", per="item", prior=by_item)
    >>> rasch = Layout("exam", Success("solved", logistic(ability + ease)))
    >>> rasch.joint, rasch.plates
    (True, ('subject', 'item'))
    """

    def __init__(
        self,
        name: str,
        outcome: Observed,
        *more: Observed,
        profile: Sequence[Latent] = (),
    ) -> None:
        checks.check(name, (outcome, *more), profile)
        super().__init__(str(name), (outcome, *more))
        _ = self.dims

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "outcomes": self.outcomes}

    @cached_property
    def several(self) -> "Layout":
        """The same for items with several trials, which share the levels of measured demands."""
        return _Several(self.name, *self.outcomes) if self.measured else self

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
        name, outcomes = serial.from_dict(data, functions)
        return cls(name, *outcomes)

    def to_graphviz(self) -> str:
        """Write the diagram in Graphviz's language."""
        return render.to_graphviz(self)

    def to_mermaid(self) -> str:
        """Write the diagram in Mermaid's language, for Markdown pages."""
        return mermaid.to_mermaid(self)

    def to_latex(self) -> str:
        """Write the equations as a LaTeX ``aligned`` block."""
        return equations.to_latex(self)

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
